"""The reader of notes and lists that are JSON. Whatever the file holds, the answer is a value or a ValueError."""

from __future__ import annotations

import json
from typing import Any

from rocm_sdk.base.inside import Admit, read_inside

LIMIT = 1 << 26  # bytes: some 300,000 entries


def read_json(directory: str, name: str, admit: Admit | None = None) -> Any:
    """Return the content of a file inside a directory.

    Raise the errors of `read_inside`, and ValueError without JSON.
    """
    try:
        return json.loads(read_inside(directory, name, LIMIT, admit))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error

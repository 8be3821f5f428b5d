"""Files that get their names when they are complete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def complete_file(path: str) -> Iterator[str]:
    """A path to write to, which becomes `path` at the end of the block; nothing is left of a block that fails."""
    partial = f"{path}.partial"
    try:
        yield partial
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)

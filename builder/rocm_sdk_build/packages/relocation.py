"""Texts for pkg-config in the development tree, which name no directory of the machine of the build."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator

from rocm_sdk.base.files import read_beginning
from rocm_sdk_build.inputs.prefix.tree import rewritten
from rocm_sdk_build.inputs.rules import Rules

from .development import DevelEntry

_log = logging.getLogger(__name__)
_LIMIT = 1 << 20  # bytes of a text
_OF_BUILD = re.compile(rb"(?:[\s=\"']|-[IL])(/(?!(?:usr|lib\w*|etc)\b)[^\s\"']+)")


def relocated(entries: Iterable[DevelEntry], rules: Rules) -> Iterator[DevelEntry]:
    """Yield the entries with the texts that the rules have for the tree; the log names the paths that stay."""
    for entry in entries:
        is_text = entry.source is not None and entry.path.endswith(".pc")
        data = read_beginning(str(entry.source), _LIMIT) if is_text else b""
        text = (rewritten(rules.prefix, entry.path, False, data, "tree") or data) if len(data) < _LIMIT else b""
        for path in dict.fromkeys(_OF_BUILD.findall(text)):
            _log.warning("%s names a directory of another machine: %s", entry.path, path.decode(errors="replace"))
        yield entry._replace(text=text) if text else entry

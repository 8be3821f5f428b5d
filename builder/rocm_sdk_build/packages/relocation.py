"""Texts for pkg-config in the development tree, which name no directory of the machine of the build."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from rocm_sdk.base.files import read_beginning
from rocm_sdk_build.inputs.prefix.tree import rewritten
from rocm_sdk_build.inputs.rules import Rules

from .development import DevelEntry

_log = logging.getLogger(__name__)
_LIMIT = 1 << 20  # bytes of a text
_OF_BUILD = re.compile(rb"(?:[\s=\"']|-[IL])(/(?!(?:usr|lib|lib64|etc)/)[^\s\"']+)")


def relocated(entries: Iterable[DevelEntry], rules: Rules) -> list[DevelEntry]:
    """Return the entries with the texts that the rules have for the tree; the log names the paths that stay."""
    return [_relocated(each, rules) if each.source and each.path.endswith(".pc") else each for each in entries]


def _relocated(entry: DevelEntry, rules: Rules) -> DevelEntry:
    text = read_beginning(str(entry.source), _LIMIT)
    if len(text) < _LIMIT:
        text = rewritten(rules.prefix, entry.path, False, text, "tree") or text
        for path in dict.fromkeys(_OF_BUILD.findall(text)):
            _log.warning("%s names a directory of another machine: %s", entry.path, path.decode(errors="replace"))
        return entry._replace(text=text)
    return entry

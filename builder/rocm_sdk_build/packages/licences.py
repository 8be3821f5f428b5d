"""The finder of a package's licence files, which lie among its artifacts, mostly in `share/doc`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from rocm_sdk_build.inputs.catalog import Artifact

_NAME = re.compile(r"(?i)(licen[cs]es?|copying|copyright|notice)([-._].*)?")
_SUFFIXES = ("", ".txt", ".md", ".rst", ".html", ".lesser", ".lib", ".runtime")
_DIRECTORIES = ("licenses", "LICENSES")


def find_licences(artifacts: Iterable[Artifact]) -> dict[str, Path]:
    """Return the licence files by their paths below the SDK's root; the first artifact that has a path counts."""
    found: dict[str, Path] = {}
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry.kind == "file" and _is_licence(PurePosixPath(entry.path)):
                found.setdefault(entry.path, entry.source)
    return dict(sorted(found.items()))


def _is_licence(path: PurePosixPath) -> bool:
    name = _NAME.fullmatch(path.name)
    ending = path.suffix.lower() if name is not None and path.suffix.lower() in _SUFFIXES else None
    return ending is not None or path.parent.name in _DIRECTORIES

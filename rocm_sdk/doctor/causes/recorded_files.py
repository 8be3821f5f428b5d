"""The comparison of the files that a failed program has loaded with RECORD."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from rocm_sdk.doctor.file_faults import Fault, fault_of
from rocm_sdk.installed.record import RecordedFile
from rocm_sdk.installed.view import Installed

BYTES = 1 << 30  # bytes that are compared without --deep


class Files:
    """The files of an installation: what they need, and which are as RECORD says."""

    def __init__(self, installation: Installed, *, deep: bool) -> None:
        self._installation = installation
        self._left = None if deep else BYTES
        self._faults: dict[str, Fault | None] = {}  # the faults of the compared files, by path

    @cached_property
    def _recorded(self) -> dict[str, RecordedFile]:
        site = self._installation.site
        files = (file for each in self._installation.distributions for file in each.files)
        return {os.path.realpath(os.path.join(site, file.path)): file for file in files}

    def needed_by(self, roots: Iterable[str]) -> dict[str, None]:
        """Return programs and libraries with everything of the SDK that they need.

        The result has real paths, and names of missing files.
        """
        needed = self._installation.needed_libraries
        found: dict[str, None] = {}
        for root in roots:
            found.update(dict.fromkeys(os.path.realpath(each.path) for each in needed.of(root)))
            found.update(dict.fromkeys(needed.missing(root)))
        return found

    @cached_property
    def sources(self) -> list[str]:
        """The Python modules."""
        return [path for path in self._recorded if path.endswith(".py")]

    def compare(self, paths: Iterable[str]) -> tuple[dict[str, Fault], bool]:
        """Return the faults of files that are not as RECORD says, and whether each was compared.

        The smallest files are compared first.
        """
        paths = list(paths)
        recorded = [path for path in paths if path in self._recorded]
        is_known = all(self._has_digest(path) for path in paths if os.path.isfile(path))
        for path in sorted((path for path in recorded if path not in self._faults), key=_size):
            size = _size(path)
            if self._left is not None and size > self._left:
                break
            self._left = self._left - size if self._left is not None else None
            self._faults[path] = fault_of(path, self._recorded[path], deep=True)
        found = {path: self._faults.get(path) for path in recorded}
        is_complete = bool(recorded) and is_known and all(path in self._faults for path in recorded)
        return {path: fault for path, fault in found.items() if fault is not None}, is_complete

    def _has_digest(self, path: str) -> bool:
        """Return whether RECORD has the digest of a file."""
        return path in self._recorded and bool(self._recorded[path].digest)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0

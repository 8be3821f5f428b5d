"""The debug information of a package's libraries and programs, which goes into a package of its own (`--split-debug`).

Debuggers find it by build ID, below a directory of each package: `_rocm_debug_core/lib/debug/.build-id`. So two
packages may have the debug information of one file.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocm_sdk_build.code.debug_split import Debuggable, debuggable, split
from rocm_sdk_build.inputs.catalog import is_same_file
from rocm_sdk_build.inputs.file_kind import Kind

from .population import PlacedFile

DIRECTORY = "lib/debug"
DEBUG = "rocm-sdk-debug-"  # the start of these packages' names


class DebugFiles:
    """The files that lose their debug information, and the places to which it goes."""

    def __init__(self, files: Iterable[PlacedFile], scratch: Path) -> None:
        """Look at files; `scratch` is a directory for this object alone, which is made when a file is written."""
        self._scratch = scratch
        self._found: dict[Path, Debuggable] = {}  # by source
        self._first: dict[str, Path] = {}  # build ID -> source
        self.kept: dict[str, str] = {}  # path of a file that keeps its debug information -> reason
        for file in files:
            if not file.link and file.facts.kind is not Kind.DATA and file.source not in self._found:
                self._take(file)

    def _take(self, file: PlacedFile) -> None:
        found = debuggable(file.source)
        if found is None:
            return
        first = self._first.setdefault(found.build_id, file.source)
        if not found.build_id:
            self.kept[file.path] = "it has no build ID (cc -Wl,--build-id)"
        elif first != file.source and not is_same_file(first, file.source):
            self.kept[file.path] = f"it has the build ID of {first}"
        else:
            self._found[file.source] = found

    @property
    def sources(self) -> list[Path]:
        """The files that lose their debug information."""
        return list(self._found)

    def takes(self, source: Path) -> bool:
        """Return whether a file loses its debug information."""
        return source in self._found

    def strip(self, source: Path, target: Path) -> None:
        """Write the file without its debug information; the owner of the new file may write to it."""
        debug = self._debug_file(source)
        debug.parent.mkdir(parents=True, exist_ok=True)
        split(source, target, debug, debug.name)
        target.chmod(stat.S_IMODE(source.stat().st_mode) | stat.S_IWUSR)
        debug.chmod(0o644)

    def members(self, directory: str) -> Mapping[str, Path]:
        """Return the files of the package with the debug information, by their names below `directory`."""
        found = {}
        for source, facts in self._found.items():
            debug = self._debug_file(source)
            if not debug.exists():  # an earlier run has made the other package
                rest = self._scratch / "stripped"
                self.strip(source, rest)
                rest.unlink()
            found[f"{directory}/{DIRECTORY}/{facts.place}"] = debug
        return dict(sorted(found.items()))

    def clear(self) -> None:
        """Remove the files that were written."""
        if self._scratch.exists():
            shutil.rmtree(self._scratch)

    def _debug_file(self, source: Path) -> Path:
        return self._scratch / self._found[source].place

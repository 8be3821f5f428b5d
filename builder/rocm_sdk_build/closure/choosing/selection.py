"""The decision, for each file of the SDK, whether it belongs to the closure, and why."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import device_code
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.page_list import PAGE_LIST
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.closure.source_sdk import DEVELOPMENT, InstalledSdk, SdkFile
from rocm_sdk_build.inputs.data_files import ANY_LIBRARY, UNKNOWN, DataFile, data_files, not_needed
from rocm_sdk_build.inputs.file_kind import Kind
from rocm_sdk_build.inputs.globs import matches
from rocm_sdk_build.inputs.kernel_indexes import lost_tables
from rocm_sdk_build.inputs.rules import read_rules

from .libraries import Needed, needed_libraries
from .roots import Roots
from .tools import tool_files

_ARCHIVE = ".kpack"
_TARGET = re.escape("@GFXARCH@")  # placeholder in the marker of a library whose code is in archives
# Small files from which the loader and tools read facts of this SDK; patterns below a package's directory.
_ABOUT = ("__init__.py", ".info/**", "lib/.hipInfo", "share/therock/**")

_TREE = "the development tree"
_KINDS = {Kind.LIBRARY: "library", Kind.PROGRAM: "program", Kind.STATIC: "program"}


class Kept(NamedTuple):
    """A file of the closure; `reason` is a sentence, and `kind` a word for a group of files."""

    file: SdkFile
    kind: str  # "library", "program", "module", a kind of data
    reason: str


class LeftOut(NamedTuple):
    """A file of the SDK that is not in the closure; `reason` is the same for files of one sort."""

    file: SdkFile
    reason: str


class Selection(NamedTuple):
    """All files of the SDK, in the order of their paths."""

    kept: tuple[Kept, ...]
    left_out: tuple[LeftOut, ...]
    needed: Needed
    surprises: tuple[str, ...] = ()  # paths of files that a traced run used, and that no rule found

    @property
    def unknown(self) -> tuple[Kept, ...]:
        """The data that no table knows, and that stays because it is beside a kept library."""
        return tuple(each for each in self.kept if each.kind == UNKNOWN)


class GpuChoice(NamedTuple):
    """The GPUs for which code and data stay; `gpus` are targets, () stands for all."""

    gpus: tuple[str, ...] = ()
    unofficial: bool = False
    exact: bool = False


def select(sdk: InstalledSdk, roots: Roots, choice: GpuChoice, traced: Mapping[str, str] | None = None) -> Selection:
    """Return the selection of files for the roots.

    `traced` has the paths of files that a run of the application used, and how; these files stay. Raise PackagingError
    for a damaged file, and for roots that need nothing of the SDK. All other errors are the same as for load_plan.
    """
    data = _Data(sdk, choice)
    asked = tool_files(sdk, roots.tools)
    by_rules = _decide(sdk, roots, data, asked)
    known = {each.file.path for each in by_rules.kept}
    surprises = {path: _without_rule(sdk, data, path, how) for path, how in (traced or {}).items() if path not in known}
    found = _decide(sdk, roots, data, {**asked, **surprises}) if surprises else by_rules
    if not found.needed.reasons and not asked and not surprises:
        raise _needs_nothing(roots, found.needed)
    _refuse_lost_tables(sdk, found, choice)
    return found._replace(surprises=tuple(sorted(surprises)))


def _needs_nothing(roots: Roots, needed: Needed) -> PackagingError:
    """Return the error for roots that need nothing of the SDK.

    The roots may need libraries that the SDK does not have, or their files may be unreadable.
    """
    if needed.lacks:
        name, path = next(iter(needed.lacks.items()))
        more = f" and {len(needed.lacks) - 1} more" if len(needed.lacks) > 1 else ""
        word = next(each.name for each in roots.applications if path in each.files)
        what = f"{roots.shown(path)} needs {name}{more}, which nothing here has, and nothing that the SDK has"
        return PackagingError(what, shlex.join(["rocm-sdk", "check", word]))
    what = "the named files need nothing of the SDK"
    for path, why in list(needed.unread.items())[:1]:
        what += f"; not looked at: {roots.shown(path)}: {why.removeprefix(f'{path}: ')}"
    return PackagingError(what, "name more: --library, --preload, --tool")


def _decide(sdk: InstalledSdk, roots: Roots, data: _Data, asked: Mapping[str, str]) -> Selection:
    more = {path for path in asked if _is_elf(sdk, sdk.files[path])}
    while True:
        needed = needed_libraries(sdk, roots, [sdk.files[path] for path in sorted(more)])
        own = data.of({*needed.reasons, *more})
        engines = {file.path for file in own if _is_elf(sdk, sdk.files[file.path])} - more
        if not engines:
            return _Decision(sdk, data, needed, asked).selection()
        more |= engines


def _without_rule(sdk: InstalledSdk, data: _Data, path: str, how: str) -> str:
    """Return the reason why a traced file stays, and the rule that would have found the file."""
    kind = sdk.facts(sdk.files[path]).kind
    if path in data.dropped:
        return f"{how} when traced, although it is for other GPUs"
    if kind is Kind.LIBRARY:
        return f"{how} when traced; no row of the table of dlopen dependencies leads to it"
    if kind in (Kind.PROGRAM, Kind.STATIC):
        return f"{how} when traced; no row of tools.txt leads to it"
    return f"{how} when traced; no row of data_files.txt leads to it"


def _refuse_lost_tables(sdk: InstalledSdk, selection: Selection, choice: GpuChoice) -> None:
    """Raise PackagingError if a kept index leads a GPU to a table that would be left out.

    A table that the SDK itself lacks does not count.
    """
    kept = {each.file.path for each in selection.kept}
    for site in sdk.sites if choice.gpus else ():
        paths = [file.path for file in sdk.files.values() if file.link is None and file.site == site]
        own = [path for path in paths if path in kept]
        for lost in lost_tables(Path(site), paths, own, choice.gpus, choice.unofficial):
            raise PackagingError(f"{lost.named_in}: names {lost.table}, which would be left out")


def _is_elf(sdk: InstalledSdk, file: SdkFile) -> bool:
    return sdk.facts(file).kind in (Kind.LIBRARY, Kind.PROGRAM)


class _Data:
    """The data files of the SDK, and those among them that the GPUs do not need."""

    def __init__(self, sdk: InstalledSdk, choice: GpuChoice) -> None:
        self._sdk = sdk
        self.files: dict[str, DataFile] = {}
        self.dropped: set[str] = set()
        self.held: dict[str, str] = {}
        self._patterns: dict[str, list[re.Pattern[str]]] = {}
        for site in sdk.sites:
            paths = [file.path for file in sdk.files.values() if file.link is None and file.site == site]
            found = data_files(Path(site), sorted(paths))
            self.files |= {each.path: each for each in found}
            if choice.gpus:
                other = not_needed(Path(site), found, choice.gpus, choice.unofficial)
                self.dropped |= {each.path for each in other.dropped}
                self.held |= {each.file.path: each.why for each in other.held}

    def of(self, libraries: Iterable[str]) -> list[DataFile]:
        """Return the data files that the libraries, given by their paths, read and the GPUs use."""
        paths = tuple(libraries)
        readers = {linker_name(os.path.basename(path)) for path in paths}
        archives = self._archives_of(paths)
        return [
            each
            for each in self.files.values()
            if each.path not in self.dropped and (readers.intersection(each.libraries) or each.path in archives)
        ]

    def _archives_of(self, libraries: Iterable[str]) -> set[str]:
        """Return the kpack archives to which the markers of the libraries lead."""
        archives = [path for path in self.files if path.endswith(_ARCHIVE)]
        patterns = [pattern for path in libraries for pattern in self._patterns_of(path)] if archives else []
        return {path for path in archives if any(pattern.fullmatch(path) for pattern in patterns)}

    def _patterns_of(self, library: str) -> list[re.Pattern[str]]:
        if library not in self._patterns:
            places = device_code(self._sdk.files[library].source).kpack_paths
            full = [os.path.normpath(os.path.join(os.path.dirname(library), place)) for place in places]
            self._patterns[library] = [re.compile(re.escape(each).replace(_TARGET, "[^/]+")) for each in full]
        return self._patterns[library]


class _Decision:
    def __init__(self, sdk: InstalledSdk, data: _Data, needed: Needed, asked: Mapping[str, str]) -> None:
        self.sdk, self.data, self.needed, self.asked = sdk, data, needed, asked
        self._own = {file.path: file for file in data.of({*needed.reasons, *asked})}
        self._development = [glob for part, glob in read_rules().prefix.parts if part == "devel"]

    def selection(self) -> Selection:
        """Return the selection of all files; links follow their targets."""
        kept: dict[str, Kept] = {}
        left: dict[str, LeftOut] = {}
        for file in sorted(self.sdk.files.values(), key=lambda each: (each.link is not None, each.path)):
            found = self._link(file, kept) if file.link is not None else self._file(file)
            if isinstance(found, Kept):
                kept[file.path] = found
            else:
                left[file.path] = LeftOut(file, found)
        return Selection(
            tuple(kept[path] for path in sorted(kept)), tuple(left[path] for path in sorted(left)), self.needed
        )

    def _link(self, file: SdkFile, kept: Mapping[str, Kept]) -> Kept | str:
        target = self.sdk.by_source.get(os.path.realpath(file.source))
        if target is not None and target.path in kept:
            return Kept(file, "link", f"leads to {os.path.basename(target.path)}")
        return self._asked_for(file) or "a link to what is left out"

    def _asked_for(self, file: SdkFile) -> Kept | None:
        """Return a file of a tool or of a traced run, or None for any other file."""
        if file.path not in self.asked:
            return None
        return Kept(file, _KINDS.get(self.sdk.facts(file).kind, "file of a tool"), self.asked[file.path])

    def _file(self, file: SdkFile) -> Kept | str:
        """Return the file if it is kept, or the reason why it is left out."""
        if file.path in self.needed.reasons:
            return Kept(file, "library", self.needed.reasons[file.path])
        if (asked := self._asked_for(file)) is not None:
            return asked
        if file.place == PAGE_LIST:
            return "the page list of the whole SDK"
        if not file.package.startswith("_") or any(matches(file.place, glob) for glob in _ABOUT):
            is_devel = file.distribution == DEVELOPMENT
            return _TREE if is_devel else Kept(file, "module", "says what the SDK is")
        return _TREE if ".devel_links" in file.path.split("/") else self._data_file(file)

    def _data_file(self, file: SdkFile) -> Kept | str:
        data = self.data.files.get(file.path)
        if data is not None and ANY_LIBRARY in data.libraries and not file.path.endswith(_ARCHIVE):
            return Kept(file, data.kind, "always stays")
        if file.path in self._own and data is not None:
            why = self.data.held.get(file.path)
            readers = ", ".join(data.libraries)
            return Kept(file, data.kind, f"data of {readers}{f'; {why}' if why else ''}")
        if data is not None:
            return f"{data.kind}: for other GPUs" if file.path in self.data.dropped else f"{data.kind}: not needed"
        if any(matches(file.place, glob) for glob in self._development):
            return "headers, static libraries and files of CMake"
        kind = self.sdk.facts(file).kind
        if kind is Kind.LIBRARY:
            return "libraries that nothing needs"
        return "programs" if kind is not Kind.DATA or file.place.startswith("bin/") else self._beside(file)

    def _beside(self, file: SdkFile) -> Kept | str:
        """Return a file of no table if its directory has a kept library, or the reason why it is left out."""
        directory = os.path.dirname(file.path)
        neighbours = (path for path in self.needed.reasons if os.path.dirname(path) == directory)
        if (library := next(neighbours, None)) is not None:
            return Kept(file, UNKNOWN, f"lies beside {os.path.basename(library)}")
        return "what no kept library reads"

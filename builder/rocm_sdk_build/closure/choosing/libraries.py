"""The libraries of the SDK that the roots need: by DT_NEEDED, by the loader's table of dlopen, by names in their data.

The loader's plan answers the first two, and is asked again for libraries that the third way finds.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from glob import glob
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk import LoadPlan, RocmSdkError, load_plan
from rocm_sdk.base.processes import PACKAGE_PARENT
from rocm_sdk.fit.verdicts.host import other_release_problem
from rocm_sdk.fit.verdicts.variants import check_files
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.readers import check_host_files, inspect_library
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.closure.source_sdk import InstalledSdk, SdkFile
from rocm_sdk_build.code.dlopen_dependencies import library_names
from rocm_sdk_build.code.elf64 import ET_EXEC, read_elf
from rocm_sdk_build.inputs.file_kind import Kind

from .roots import Roots

if TYPE_CHECKING:
    from rocm_sdk.installed.readers import HostFiles

_NOT_HERE = ("nowhere", "other version")


class Needed(NamedTuple):
    """The libraries that are needed, with the reason for each: a sentence that names the file that needs it.

    `outside` are the SONAMEs that the system provides, also to the loader; `missing` are the SONAMEs that nobody
    provides. `unread` are files of applications that are not for this machine, that cannot be read, or that are
    variants of a file that is loaded. `lacks` are needs of applications that nothing here has.
    """

    reasons: dict[str, str]  # path of an SdkFile -> reason
    outside: tuple[str, ...]
    missing: tuple[str, ...]
    unread: dict[str, str]  # path -> reason
    lacks: dict[str, str]  # SONAME -> path of the first file that needs it


def needed_libraries(sdk: InstalledSdk, roots: Roots, programs: Iterable[SdkFile]) -> Needed:
    """Return the libraries that the roots and programs of the SDK need.

    Raise PackagingError for a damaged file. All other errors are the same as for load_plan.
    """
    search = _Search(sdk, roots)
    files = search.take_files([*roots.files, *(str(each.source) for each in programs)])
    while True:
        plan = load_plan(*roots.shortnames, files=files, new_process=True)
        _refuse_other_libraries(sdk, plan)
        search.take(plan)
        opened = list(search.named_in_data())
        if not opened:
            break
        files += opened
        search.take_outside(opened)
    missing = [*search.missing, *(name for step in plan.steps for name in step.missing)]
    outside = [*search.outside, *(name for step in plan.steps for name in step.outside), *_needs_of_loader()]
    return Needed(
        search.reasons,
        tuple(dict.fromkeys(outside)),
        tuple(dict.fromkeys([*plan.missing, *missing])),
        search.unread,
        search.lacks,
    )


def _refuse_other_libraries(sdk: InstalledSdk, plan: LoadPlan) -> None:
    """Raise PackagingError if an override or a library in this process would replace the SDK's."""
    for path in (path for step in plan.steps for path in (step.path, *step.members)):
        if os.path.realpath(path) not in sdk.by_source:
            names = sorted(each for each in os.environ if each.startswith("ROCM_SDK_LIBRARY_"))
            raise PackagingError(f"{path}: would be loaded in place of the SDK's", shlex.join(["unset", *names]))


class _Search:
    def __init__(self, sdk: InstalledSdk, roots: Roots) -> None:
        self.sdk, self.roots = sdk, roots
        self.reasons: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self.lacks: dict[str, str] = {}
        self.missing: list[str] = []
        self.outside: list[str] = []
        self._alone = {path for each in roots.applications if each.kind == "file" for path in each.files}
        self._needs: dict[str, tuple[str, ...]] = {}  # path of a root or program -> its DT_NEEDED entries
        self._by_name: dict[str, list[SdkFile]] = {}
        self._named: set[str] = set()  # files whose data was searched
        self._libraries: list[SdkFile] = []
        for file in sdk.files.values():
            if file.link is None and sdk.facts(file).kind is Kind.LIBRARY:
                self._libraries.append(file)
                soname = sdk.facts(file).soname
                name = os.path.basename(file.path)
                for each in {name, soname or name, linker_name(soname or name)}:
                    self._by_name.setdefault(each, []).append(file)

    def take_outside(self, paths: Sequence[str]) -> None:
        """Add the needs of SDK files that the system provides.

        A plan has these needs for its steps, but not for the files that it is given.
        """
        self.outside += _of_system(paths, self._sources())

    def _sources(self) -> tuple[str, ...]:
        return tuple(str(each.source) for each in self._libraries)

    def take_files(self, paths: Sequence[str]) -> list[str]:
        """Return the files that the planner reads.

        Libraries that programs need are added for programs that the planner does not read (not PIE).
        """
        found: list[str] = []
        analysis, variants = check_files(tuple(paths), self._sources(), installed=True)
        self.unread |= variants.left
        self._refuse_another_release(analysis)
        for file in analysis.files:
            if file.fault is not None:
                self.unread[file.path] = file.fault
                continue
            self._needs[file.path] = tuple(need.name for need in file.needs)
            self._take_lacks(file.path, [need.name for need in file.needs if need.place in _NOT_HERE])
            if not _is_fixed(file.path):
                found.append(file.path)
                continue
            paths = [need.path for need in file.needs if need.place == "SDK" and need.path is not None]
            own = [self.sdk.by_source[os.path.realpath(path)] for path in paths]
            for library in own:
                self.reasons.setdefault(library.path, f"{os.path.basename(self.roots.shown(file.path))} needs it")
            found += [str(library.source) for library in own]
        return found

    def _refuse_another_release(self, analysis: HostFiles) -> None:
        """Raise PackagingError for files that need another release of the SDK: no part of this one is of use to them.

        The error has the words of `rocm-sdk check`.
        """
        other = analysis.other_release
        if other is not None:
            name = next((each.name for each in self.roots.applications if other.file in each.files), other.file)
            facts = {"requirement": analysis.requirement, "version": self.sdk.version}
            found = other_release_problem(other, self.roots.shown(other.file), name, **facts)
            raise PackagingError(f"{found.code}: {found.title}: {found.cause}", found.fix or "")

    def _take_lacks(self, path: str, names: Iterable[str]) -> None:
        """Note libraries that nobody here has.

        A package's library may come with another package; for a single file, it is an error.
        """
        for name in names:
            if path in self._alone:
                self.missing.append(f"{name}, which {os.path.basename(path)} needs")
            else:
                self.lacks.setdefault(name, path)

    def take(self, plan: LoadPlan) -> None:
        """Take the members of the plan's steps, with the reason for each."""
        asked = set(self.roots.shortnames)
        for step in plan.steps:
            for path in step.members:
                file = self.sdk.by_source[os.path.realpath(path)]
                if file.path in self.reasons:
                    continue
                if path == step.path and step.shortname in asked:
                    self.reasons[file.path] = f"asked for as {step.shortname}"
                elif path == step.path and not step.requested:
                    self.reasons[file.path] = step.reason.partition(":")[0]
                else:
                    self.reasons[file.path] = self._needing(file)

    def _needing(self, file: SdkFile) -> str:
        """Return the reason for a file: the first root or library so far that has a DT_NEEDED entry for the file."""
        names = {os.path.basename(file.path), self.sdk.facts(file).soname}
        for path, needs in self._needs.items():
            if names.intersection(map(os.path.basename, needs)):
                return f"{os.path.basename(self.roots.shown(path))} needs it"
        for each in self.reasons:
            if names.intersection(map(os.path.basename, _needed_by(str(self.sdk.files[each].source)))):
                return f"{os.path.basename(each)} needs it"
        return "a kept library needs it"

    def named_in_data(self) -> Iterator[str]:
        """Take libraries of the SDK whose names are in the data of a kept file; yield the path of each new one."""
        kept = [str(self.sdk.files[path].source) for path in self.reasons]
        for path in dict.fromkeys((*self._needs, *kept)):
            if path in self._named:
                continue
            self._named.add(path)
            own = linker_name(os.path.basename(path))
            for name in _names_in_data(path):
                for file in self._by_name.get(name, ()) if linker_name(name) != own else ():
                    if file.path not in self.reasons:
                        self.reasons[file.path] = f"{os.path.basename(self.roots.shown(path))} has its name in its data"
                        yield str(file.source)


def _of_system(paths: Iterable[str], libraries: tuple[str, ...]) -> list[str]:
    """Return the needs of files that the system provides; `libraries` are the libraries of the SDK."""
    rows = check_host_files(tuple(paths), libraries).files
    return [need.name for row in rows for need in row.needs if need.place == "system"]


def _needs_of_loader() -> list[str]:
    """Return the loader's needs of the system: libelf, if the loader was built from source; releases have it."""
    return _of_system(glob(f"{PACKAGE_PARENT}/rocm_sdk/*.so"), ())


def _is_fixed(path: str) -> bool:
    """Return whether a program is linked to a fixed address (ET_EXEC)."""
    with open(path, "rb") as file:
        return read_elf(file.fileno(), path).type == ET_EXEC


@cache
def _names_in_data(path: str) -> tuple[str, ...]:
    """Return the names of libraries in a file's data, sorted.

    The result is cached: each step of a search asks again, and the data of some libraries is large.
    """
    return tuple(sorted(library_names(path)))


@cache
def _needed_by(path: str) -> tuple[str, ...]:
    try:
        return inspect_library(path).needed
    except RocmSdkError as error:
        raise PackagingError(f"{path}: {error.detail or error.message}") from error

"""A running process: the ROCm libraries in it, duplicates, where they come from, and why they were loaded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, TypeVar

from rocm_sdk import _native
from rocm_sdk._native import LibraryLocation, LoadedLibrary
from rocm_sdk.base.files import open_file
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.base.users import user_name
from rocm_sdk.doctor.stuck_libraries import hanging_libraries
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.binding_faults import binding_faults
from rocm_sdk.fit.frameworks import refused_hip
from rocm_sdk.installed.catalog import linker_name, rows_of
from rocm_sdk.installed.shared_objects import OF_SYSTEMS
from rocm_sdk.installed.view import Installed, current
from rocm_sdk.problems import Problem, problem

# Libraries of which a process may have only one copy, whatever the version.
_SINGLE = re.compile(
    r"lib(amdhip64|hsa-runtime64|amd_comgr|LLVM|amd_smi|rocm_smi64|rocprofiler-sdk|hiprtc)(?:-\d\w*)?\.so(?:\.\w+)*"
)
_HIP = re.compile(r"libamdhip64\.so(?:\.\w+)*")
_OF_LLVM = re.compile(r"lib(LLVM|clang)\b")  # SONAMEs: libLLVM.so.19.1, libLLVM-15.so.1, libclang-cpp.so.19.1
_PROFILER = "rocprofv3"
_EXTENSION = re.compile(r"/rocm_sdk/_native\.[^/]*so$")
_DELETED = " (deleted)"
_OVERRIDE = "ROCM_SDK_LIBRARY_"
_SYMBOL_VERSION = re.compile(rb"\0(LLVM_[\d.]{1,20})(?=\0)")
_LONGEST_VERSION = 32  # bytes, of such a string with both its NULs
_LARGEST_LLVM = 1 << 30  # bytes
_CHUNK = 1 << 22  # bytes


class MappedFile(NamedTuple):
    """A file that is mapped into a process."""

    path: str
    identity: tuple[str, str]  # device and inode, as in maps
    is_deleted: bool


def survey_process(installation: Installed, pid: int) -> tuple[list[LoadedLibrary], list[Problem]]:
    """Return the ROCm libraries in a process, and its problems. A process that cannot be read is also a problem."""
    try:
        process = Process(installation, pid)
    except OSError as error:
        return [], [_refusal(pid, error)]
    refused = list(_refused_by_triton(process))
    foreign = _foreign(process, {os.path.realpath(each.path or "") for each in refused})
    problems = [*_duplicates(process), *refused, *foreign, *_deleted(process), *_misled(process, pid)]
    return process.libraries, [*hanging_libraries(process.installation, pid), *problems]


def refusal_of(pid: int) -> Problem | None:
    """Return why this user cannot look at a process; None if he can."""
    try:
        with open_file(f"/proc/{pid}/maps"):
            return None
    except OSError as error:
        return _refusal(pid, error)


def _refusal(pid: int, error: OSError) -> Problem:
    facts = _who_may(pid) if isinstance(error, PermissionError) else {}
    return problem("E-PROC-004", error.filename, pid=pid, detail=str(error.strerror), **facts)


class Process:
    """The files that are mapped into a process, and its environment at the start. The constructor raises OSError."""

    def __init__(self, installation: Installed, pid: int) -> None:
        self.installation = installation
        self.is_own = pid == os.getpid()
        self.mapped = list(_mapped_files(pid))
        variables = _environment_of(pid)
        self.origins = Origins(self.mapped, variables)
        self.variables = variables | os.environ if self.is_own else variables
        named = {
            name.removeprefix(_OVERRIDE): path for name, path in self.variables.items() if name.startswith(_OVERRIDE)
        }
        self.overrides = {os.path.realpath(path): shortname for shortname, path in named.items() if path}

    @cached_property
    def libraries(self) -> list[LoadedLibrary]:
        """The ROCm libraries: first those that this interpreter opened, in its order, then the others by path."""
        opened = _native.preloaded_libraries() if self.is_own else ()
        known = {os.path.realpath(each.location.path) for each in opened if each.location.path is not None}
        catalog = {linker_name(pattern) for _, _, pattern, _, directory, *_ in _native.catalog() if directory == "lib"}
        names = (catalog | self.installation.rocm_linker_names) - OF_SYSTEMS
        paths = {each.path for each in self.mapped if _is_rocm(each.path, names) or each.path in self.overrides}
        found = sorted(paths - known)
        self.origins.tell(*(path for path in found if not self.installation.has(path)))  # all in one look
        return [*opened, *map(self._library, found)]

    def has_of_sdk(self, library: LoadedLibrary) -> bool:
        """Return whether a library is a file of the SDK."""
        path = library.location.path
        return path is not None and self.installation.has(os.path.realpath(path))

    def has_made_global(self, shortname: str) -> bool:
        """Return whether it must have been the loader that made a library of the SDK global, as it still would."""
        wishes = re.split(r"[,; ]+", self.variables.get("ROCM_SDK_ISOLATE", ""))
        has_loader = any(_EXTENSION.search(each.path) for each in self.mapped)
        return has_loader and shortname not in wishes and _becomes_global(shortname)

    def is_wanted(self, path: str) -> bool:
        """Return whether a library of the SDK needs a file from outside because the SDK has none of its name."""
        return os.path.basename(path) in self._names_wanted

    def is_llvm_of_others(self, path: str) -> bool:
        """Return whether a file is the LLVM of a library from outside, such as a graphics driver or a second comgr.

        Distributions have LLVM, too: such a library is not another ROCm. One that a library of the SDK gets is.
        """
        name = os.path.basename(path)
        return _OF_LLVM.match(name) is not None and name in self._needs[False] and name not in self._needs[True]

    @cached_property
    def _names_wanted(self) -> frozenset[str]:
        """The names that the mapped libraries of the SDK need by DT_NEEDED, and the SDK does not have."""
        return self._needs[True] - {os.path.basename(each.path) for each in self.installation.shared_objects}

    @cached_property
    def _needs(self) -> dict[bool, frozenset[str]]:
        """The names that the mapped libraries need by DT_NEEDED: the SDK's libraries (True), and the others."""
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for path in {each.path for each in self.mapped if not each.is_deleted}:
            found[self.installation.has(path)].update(_needed_by(path))
        return {of_sdk: frozenset(names) for of_sdk, names in found.items()}

    def _library(self, path: str) -> LoadedLibrary:
        name = os.path.basename(path)
        entries = [(row[0], row[1]) for row in rows_of(name)]
        shortname, package = entries[0] if entries else (None, None)
        if path in self.overrides:
            shortname, source, package = self.overrides[path], "override", None
        elif self.installation.has(path):
            source, package = "need", package or _package_of(path)
        else:
            source, package = self.origins.of(path), None
        location = _made(
            LibraryLocation,
            shortname=shortname,
            path=path,
            soname=_soname_of(path),
            package=package,
            found_via=source,
        )
        return _made(LoadedLibrary, location=location, requested=False)


_Made = TypeVar("_Made", LibraryLocation, LoadedLibrary)


def _made(kind: type[_Made], **fields: object) -> _Made:
    """Return a value of a type that the extension makes, by the names of its fields; missing fields are None."""
    return kind([fields.get(name) for name in kind.__match_args__])  # type: ignore[arg-type,call-arg]


def _becomes_global(shortname: str) -> bool:
    """Return whether the loader makes a library global when it is asked for by its name alone."""
    try:
        steps = _native.load_plan(shortname, new_process=True).steps
    except (ModuleNotFoundError, RocmSdkError):
        return False
    return any(step.requested and step.rtld_global for step in steps)


def _package_of(path: str) -> str:
    """Return the package that has a file, by the name of its directory in site-packages, or in an installer's cache."""
    directory = next((part for part in path.split(os.sep) if part.startswith(("_rocm_sdk", "_rocm_profiler"))), "")
    return next((name for name in ("libraries", "profiler", "devel") if name in directory), "core")


def _soname_of(path: str) -> str | None:
    try:
        return _native.inspect_library(path).soname
    except RocmSdkError:
        return None


def _needed_by(path: str) -> tuple[str, ...]:
    try:
        return _native.inspect_library(path).needed
    except RocmSdkError:
        return ()


def loaded_libraries(pid: int | None = None) -> tuple[LoadedLibrary, ...]:
    """Return the ROCm libraries that are in a process (by default this one), whatever loaded them.

    The order is: first those that this interpreter opened, in the order of opening, then the others by path.
    For a library from outside the SDK, `package` is None, and `found_via` says what brought it in. Raises OSError if
    the process cannot be read.
    """
    return tuple(Process(current(), os.getpid() if pid is None else pid).libraries)


def _who_may(pid: int) -> dict[str, str | None]:
    """Return facts about who may inspect a process, if this user may not."""
    if os.geteuid() == 0:
        return {"capability": "SYS_PTRACE"}
    return {"owner": _owner_of(pid)}


def _owner_of(pid: int) -> str | None:
    """Return the user of a process; None if it is gone."""
    try:
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None
    return user_name(uid)


def _is_rocm(path: str, names: set[str]) -> bool:
    name = os.path.basename(path)
    return _SINGLE.fullmatch(name) is not None or linker_name(name) in names


def check_process(pid: int | None = None) -> tuple[Problem, ...]:
    """Return the problems of a process, by default this one, for the installation that this process uses."""
    return tuple(survey_process(current(), os.getpid() if pid is None else pid)[1])


def _mapped_files(pid: int) -> Iterator[MappedFile]:
    seen = set()
    with open(f"/proc/{pid}/maps", "rb") as maps:
        for line in maps:
            fields = os.fsdecode(line.rstrip(b"\n")).split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/") and (fields[3], fields[4], fields[5]) not in seen:
                seen.add((fields[3], fields[4], fields[5]))
                named = fields[5].removesuffix(_DELETED)
                path = named.replace(r"\012", "\n")  # the kernel escapes only line breaks in a name
                is_deleted = named != fields[5] and not _has_inode(path, fields[4])
                yield MappedFile(path, (fields[3], fields[4]), is_deleted)


def _has_inode(path: str, number: str) -> bool:
    """Return whether the file is there: a file server's client may have dropped its name and read it again."""
    try:
        return str(os.stat(path).st_ino) == number
    except OSError:
        return False


def _environment_of(pid: int) -> dict[str, str]:
    """Return the environment of a process at its start; {} if it is not readable."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            text = file.read().decode(errors="replace")
    except PermissionError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def _duplicates(process: Process) -> Iterator[Problem]:
    origins = process.origins
    by_name: dict[str, dict[tuple[str, str], str]] = {}
    for each in process.mapped:
        match = _SINGLE.fullmatch(os.path.basename(each.path))
        if match and not each.is_deleted:
            by_name.setdefault(match[1], {}).setdefault(each.identity, each.path)
    for name, copies in by_name.items():
        first, *others = copies.values()
        for other in others:
            if name != "LLVM" or _may_collide(first, other):
                told = origins.tell(first, other)
                facts = {"source": told[0].text, "other": other, "other_source": told[1].text}
                yield problem("E-PROC-001", first, library=f"lib{name}", **facts, **_advice(process, *told))


def _may_collide(path: str, other: str) -> bool:
    """Return whether two LLVMs have symbols of the same version: LLVM_17.0 and LLVM_18.1 do not collide."""
    versions, other_versions = _symbol_versions(path), _symbol_versions(other)
    return not versions or not other_versions or not versions.isdisjoint(other_versions)


def _symbol_versions(path: str) -> set[bytes]:
    """Return the names of LLVM's symbol versions, from the strings of the file.

    A file that is larger than any LLVM has none. The file is read, not mapped: another program may truncate it
    meanwhile.
    """
    found: set[bytes] = set()
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            for start in range(0, size if size <= _LARGEST_LLVM else 0, _CHUNK):
                found.update(_SYMBOL_VERSION.findall(os.pread(file.fileno(), _CHUNK + _LONGEST_VERSION, start)))
    except OSError:
        return set()
    return found


def _advice(process: Process, *origins: Origin) -> dict[str, str | None]:
    """Return facts for the fix.

    Those who go on profiling use this SDK's profiler; the others leave out a variable.
    """
    texts = (each.text for each in origins)
    variable = next((text for text in texts if text.startswith("LD_")), "what loads it")
    tool = next((each.tool for each in origins if each.tool is not None), None)
    own = os.path.join(process.installation.core_directory, "bin", _PROFILER)
    return {"variable": variable, "brought_by": tool, "profiler": own if os.path.exists(own) else None}


def _refused_by_triton(process: Process) -> Iterator[Problem]:
    """Yield the problem that the HIP of a process is not the one with which an installed triton runs."""
    hips = [each.path for each in process.mapped if _HIP.fullmatch(os.path.basename(each.path)) and not each.is_deleted]
    if hips and not any(map(process.installation.has, map(os.path.realpath, hips))):
        (origin,) = process.origins.tell(hips[0])
        found = refused_hip(process.installation, hips[0], f"{origin.text} brings it in", variables=process.variables)
        yield from (found,) if found is not None else ()


def _foreign(process: Process, told: set[str]) -> Iterator[Problem]:
    """Yield a problem for each ROCm library from outside the SDK, in a process that also has the SDK's.

    told: the files that are already reported for another reason.
    """
    outside = [each for each in process.libraries if not process.has_of_sdk(each)]
    if len(outside) == len(process.libraries):
        return
    paths = {os.path.realpath(each.location.path) for each in outside if each.location.path is not None}
    wanted = {path for path in paths if process.is_wanted(path) or process.is_llvm_of_others(path)}
    for path in sorted(paths - wanted - told):
        (origin,) = process.origins.tell(path)
        facts = {"source": origin.text, "site": process.installation.site}
        yield problem("W-PROC-002", path, **facts, **_advice(process, origin))


def _deleted(process: Process) -> Iterator[Problem]:
    for path in sorted({each.path for each in process.mapped if each.is_deleted}):
        if process.installation.has(path):
            yield problem("E-PROC-003", path)


def _misled(process: Process, pid: int) -> Iterator[Problem]:
    """Yield a problem for each ROCm library whose calls go to another file, or that gets the calls of others."""
    rocm = {os.path.realpath(each.location.path) for each in process.libraries if each.location.path is not None}
    try:
        references = _native.process_bindings(pid).references
    except OSError as error:  # whoever may see the maps of a process may not always read its memory
        yield problem("N-PROC-005", pid=pid, detail=getattr(error, "message", error))
        return
    ours = [
        each
        for each in references
        if rocm & {os.path.realpath(path) for path in (each.library, each.bound_to, each.instead) if path is not None}
    ]
    yield from binding_faults(ours, process.installation, made_global=process.has_made_global)


class Origin(NamedTuple):
    """The origin of a file in a process, according to the loader."""

    kind: str
    library: str | None  # the profiler's tool, or the library that has the search path
    text: str

    @property
    def tool(self) -> str | None:
        """The profiler's tool that brought the file; None if it was not a profiler."""
        return self.library if self.kind == "profiler" else None


class Origins:
    """The source of each file of a process."""

    def __init__(self, mapped: list[MappedFile], variables: dict[str, str]) -> None:
        self._mapped = tuple(dict.fromkeys(each.path for each in mapped if not each.is_deleted))
        names = ("LD_PRELOAD", "LD_LIBRARY_PATH")
        self._preloaded, self._directories = (tuple(entries_of(name, variables.get(name, ""))) for name in names)
        self._known: dict[str, Origin] = {}

    def tell(self, *paths: str) -> list[Origin]:
        """Return the origin of each file.

        The process's files are read only once for all paths of a call.
        """
        asked = tuple(path for path in paths if path not in self._known)
        if asked:
            told = _native.origins_of_files(asked, self._mapped, self._preloaded, self._directories)
            self._known |= dict(zip(asked, (Origin(*each) for each in told), strict=True))
        return [self._known[path] for path in paths]

    def of(self, path: str) -> str:
        """Return the origin in the form of `found_via`, or "its path" if the program's own code opened the file."""
        (origin,) = self.tell(path)
        return "its path" if origin.kind == "unknown" else origin.text

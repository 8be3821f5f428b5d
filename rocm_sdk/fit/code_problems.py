"""What libraries lack for a GPU, as problems with the command that installs the missing code."""

import os

import rocm_sdk
from rocm_sdk.base.named_tuple import NamedTuple

from .coverage import SPIRV, supported_by_code, with_code
from .coverage_words import codes_of, has_all
from .coverage_words import named as named_first
from .done_without import is_spare, may_lack_archive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_sdk._native import Code, Coverage, GpuCoverage, LibraryCoverage
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem

_DESCRIBED = 3  # lacks that are described, of all in one problem
_TARGETS = 8  # targets of a library that are named


_OF_ARCHIVES = ("archive", "kernels")  # the lacks of a GPU whose code is in separate files


class _Package(NamedTuple):
    """The package that has the code for a GPU.

    requirement: the requirement to install. distribution: the package's distribution, if that is installed and faulty.
    sound: the distribution for the GPU, if that is installed and has no fault.
    """

    requirement: str | None
    distribution: str | None
    site: str | None
    sound: str | None = None


def problems_on(found: "Coverage", index: int, installed: "Installed | None") -> "tuple[Problem, ...]":
    """Return the problems of the libraries on the GPU that was asked for at `index`.

    installed: the SDK of the libraries, for which packages can be named; None: they are from a directory.
    """
    libraries = with_code(found)
    needed = [library for library in libraries if not is_spare(library, library.gpus[index])]
    on_gpu = [library.gpus[index] for library in needed]
    is_without = bool(on_gpu) and on_gpu[0].gpu not in supported_by_code(found)
    compiles = any(on.verdict == "compiled at first use" for on in on_gpu)
    has_archives = any(on.lack in _OF_ARCHIVES for on in on_gpu)
    if installed is not None and is_without and not has_archives and not (compiles and _compiles_for(on_gpu[0].gpu)):
        return (_no_code(found, on_gpu[0].gpu, installed),)
    lacking: dict[Code, list[LibraryCoverage]] = {}
    package = None
    for library in libraries:
        on = library.gpus[index]
        if has_all(library, on):
            continue
        if on.verdict == "none" and package is None:
            package = _Package(None, None, None) if installed is None else _package_for(on.gpu, installed)
        for code in _codes_of(library, on, package):
            lacking.setdefault(code, []).append(library)
    return tuple(_problem(code, libraries, index, package) for code, libraries in sorted(lacking.items()))


def _compiles_for(gpu: str) -> bool:
    """Return whether the SDK's comgr may compile for a GPU: it cannot for one that it does not know."""
    from .comgr import comgr_knows  # here: most GPUs have what they need

    return comgr_knows(gpu.partition(":")[0]) is not False


def _no_code(found: "Coverage", gpu: str, installed: "Installed") -> "Problem":
    """Return the problem that no library of the SDK has code for the GPU."""
    from rocm_sdk.problems import problem

    has = ", ".join(dict.fromkeys(each.target for each in found.targets if each.target is not None))
    package = _package_for(gpu, installed)
    return problem(
        "E-GPU-002",
        None,
        package.site,
        target=gpu.partition(":")[0],
        supported=has or "none",
        requirement=package.requirement,
        distribution=package.distribution,
    )


def _codes_of(library: "LibraryCoverage", on: "GpuCoverage", package: _Package | None) -> "Iterator[Code]":
    if on.verdict == "none" and package is not None:
        # The archive was never in the package that should have it: such a package has all of its files.
        is_absent = on.lack == "archive" and on.detail is not None and package.sound is not None
        if is_absent and not may_lack_archive(library.name, on.gpu.partition(":")[0]):
            yield "E-CODE-019"
        elif package.requirement is None and package.site is not None:
            yield "W-CODE-006"
        else:
            yield "E-CODE-002" if on.lack in _OF_ARCHIVES else "E-CODE-001"
        return
    yield from codes_of(library, on)


def lost_archives(installed: "Installed") -> "tuple[Problem, ...]":
    """Return the problems of installed device packages, whatever the GPUs of this machine: E-CODE-019.

    Raises PackageNotInstalledError without an SDK.
    """
    from rocm_sdk import _native

    from .packages import supporting_packages

    if not installed.sdk.facts()["kpack_split"]:
        return ()
    asked = tuple(dict.fromkeys(name for each in supporting_packages(installed) for name in each.supported))
    if not asked:
        return ()  # no device package is installed, so no library need be opened
    found = _native.coverage(installed.directories, asked, False)
    problems = (each for index in range(len(asked)) for each in problems_on(found, index, installed))
    return tuple(each for each in problems if each.code == "E-CODE-019")


def _problem(code: "Code", libraries: "list[LibraryCoverage]", index: int, package: _Package | None) -> "Problem":
    from rocm_sdk.problems import problem  # here: most GPUs have what they need

    names = tuple(library.name for library in libraries)
    said: dict[str, list[str]] = {}
    for library in libraries:
        said.setdefault(_description(code, library, library.gpus[index]), []).append(library.name)
    shown = [f"{named_first(named)}: {text}" for text, named in list(said.items())[:_DESCRIBED]]
    if len(said) > _DESCRIBED:
        shown.append("and others")
    facts = {"target": libraries[0].gpus[index].gpu, "libraries": named_first(names), "detail": "; ".join(shown)}
    found = problem(
        code,
        None,
        package and package.site,
        requirement=package and package.requirement,
        distribution=package and (package.sound if code == "E-CODE-019" else package.distribution),
        **facts,
    )
    return found._replace(breaks=names)


def _package_for(gpu: str, installed: "Installed") -> _Package:
    from .packages import package_to_install, sound_package

    try:
        requirement, distribution = package_to_install(installed, gpu)
        site = os.path.dirname(installed.sdk.package_directory("core"))
        sound = sound_package(installed, gpu) if requirement is None else None
        return _Package(requirement, distribution, site, sound)
    except rocm_sdk.RocmSdkError:
        return _Package(requirement=None, distribution=None, site=None)


def _description(code: "Code", library: "LibraryCoverage", on: "GpuCoverage") -> str:
    if code == "E-CODE-019":
        return (
            f"{os.path.normpath(on.detail or '')} is in no package that is installed, also not in the one for the GPU"
        )
    if code == "E-CODE-007":
        return f"{on.missing_table} is not there"
    if code == "N-CODE-008":
        return "the tables of kernels have only rows that are for any GPU"
    return _lack(on) or _rest(library, on)


def _lack(on: "GpuCoverage") -> str | None:
    """Return the words for the file that lacks something for the GPU; None if no file does."""
    if on.detail == "ROCM_KPACK_DISABLE":
        return "ROCM_KPACK_DISABLE is set, and its kernels lie in an archive"
    if on.lack == "archive":
        return f"{on.detail} is not there or cannot be read"
    if on.lack == "kernels":
        return f"no kernels of it for this GPU are in {on.detail}"
    if on.lack == "index" and on.detail is not None:
        return f"{on.detail} does not name the GPU"
    if on.lack == "index":
        return "there are kernels, and no list of kernels (TensileLibrary) that names the GPU"
    return None


def _rest(library: "LibraryCoverage", on: "GpuCoverage") -> str:
    if on.verdict != "none" and on.uncovered_modes:
        return f"none for {', '.join(on.uncovered_modes)}"
    if on.verdict != "none":
        return f"in {on.covered} of {on.total} parts"
    if on.covered > 0:
        return "the library itself has code for it, the files with its kernels have none"
    return f"code for {_targets(library)}"


def _targets(library: "LibraryCoverage") -> str:
    names = [each.target or "an unknown target" for each in library.targets]
    if names == [SPIRV]:
        return f"{SPIRV} alone, which this comgr does not translate"
    more = f" and {len(names) - _TARGETS} more" if len(names) > _TARGETS else ""
    return ", ".join(names[:_TARGETS]) + more if names else "other targets"

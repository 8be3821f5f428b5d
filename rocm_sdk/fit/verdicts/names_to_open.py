"""The libraries of ROCm that a package opens by name: no DT_NEEDED entry names them, and loading proves nothing.

Some names are strings in its files, which the C library finds (csrc/elf/elf_library_names.c). Bindings that Cython
compiles have compressed strings, and others compose the names: a table has these names. A package with none of that may
be a client, whose Python modules have the names as strings.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from rocm_sdk.installed.catalog import linker_name, package_of

from .absent_libraries import HERE
from .parts import named_in_python

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import HostFiles

    from .subject import Subject

_PLUGIN = re.compile(r"jax-rocm(6(?=0-)|\d{1,2})0?-(?:plugin|pjrt)")
_RELEASE = re.compile(r"[0-9]+\.[0-9]+")


class _Row(NamedTuple):
    """A row of the table.

    libraries are linker names. is_of_rocm: the distribution's version begins with ROCm's release.
    """

    libraries: str
    is_of_rocm: bool


# Source: the arguments of the wheels' own modules to the function that finds a library (get_library_path, CDLL).
# fmt: off
_TABLE = {
    # distribution                   it opens                                                        version of ROCm
    "amdsmi":                  _Row("libamd_smi.so",                                                 is_of_rocm=True),
    "hip-python":              _Row("libamdhip64.so",                                                is_of_rocm=True),
    "hip-python-interop":      _Row("",                                                              is_of_rocm=True),
    "pyrsmi":                  _Row("librocm_smi64.so",                                              is_of_rocm=False),
    "rocm-bindings-compiler":  _Row("libamd_comgr.so",                                               is_of_rocm=True),
    "rocm-bindings-core":      _Row("",                                                              is_of_rocm=True),
    "rocm-bindings-hip":       _Row("libamdhip64.so libhiprtc.so",                                   is_of_rocm=True),
    "rocm-bindings-libraries": _Row("libhipblas.so libhipblaslt.so libhipfft.so libhiprand.so"
                                    " libhipsolver.so libhipsparse.so libhipsparselt.so",            is_of_rocm=True),
    "rocm-bindings-systems":   _Row("libamd_smi.so libhipfile.so librccl.so libroctx64.so",          is_of_rocm=True),
    "rocm-llvm-python":        _Row("libamd_comgr.so",                                               is_of_rocm=True),
}
# fmt: on


class Opening(NamedTuple):
    """The linker names of libraries that are opened, and those that nothing here has.

    is_certain: according to the table, the package is for them. Otherwise names in a file show that it can open them,
    like a compiler for GPUs of several makers.
    """

    names: tuple[str, ...]
    absent: tuple[str, ...]
    is_certain: bool
    by_python: bool  # strings of its modules name them, and nothing else in it does

    @property
    def is_possible(self) -> bool:
        """True if one of the libraries is here: each is opened when it is used, and few users use them all."""
        return not self.names or len(self.absent) < len(self.names)


def opening(subject: Subject, analysis: HostFiles, libraries: Iterable[str]) -> Opening:
    """Return the libraries that a subject opens by name. libraries are the paths of the SDK's shared libraries."""
    here = {linker_name(os.path.basename(path)) for path in libraries}
    found: dict[str, bool] = {}
    for need in analysis.opened:
        name = linker_name(need.name)
        # an SDK's file with another number does not answer to a name that has one
        is_here = need.place in HERE or (need.place == "other version" and need.name == name)
        found[name] = found.get(name, False) or is_here
    rows = [_TABLE[name] for name in (subject.distribution, *subject.needed_too) if name in _TABLE]
    for name in " ".join(row.libraries for row in rows).split():
        found[name] = found.get(name, False) or name in here
    is_client = not (rows or found or any(package_of(need.name) for file in analysis.files for need in file.needs))
    found |= {name: name in here for name in sorted(named_in_python(subject) if is_client else ())}
    absent = tuple(name for name, is_here in found.items() if not is_here)
    return Opening(tuple(found), absent, any(row.libraries for row in rows), is_client)


def release_of(distribution: str, version: str) -> str | None:
    """Return the release of ROCm that the version of a distribution names ("10.0"); None if it names none."""
    row = _TABLE.get(distribution)
    numbers = _RELEASE.match(version)
    return numbers[0] if row is not None and row.is_of_rocm and numbers is not None else None


def least_release_of(names: Iterable[str]) -> str | None:
    """Return the first release of ROCm that the name of a JAX plug-in, among the names, is for; None without one.

    An earlier release has its libraries, too: the plug-in for ROCm 10 needs libamdhip64.so.7.
    """
    majors = [found[1] for found in map(_PLUGIN.fullmatch, names) if found is not None]
    return f"{max(majors, key=int)}.0" if majors else None


def requirement_of(release: str) -> str:
    """Return the requirement for an SDK of that release: "rocm[libraries]>=10.0,<10.1"."""
    major, minor = release.split(".")
    return f"rocm[libraries]>={release},<{major}.{int(minor) + 1}"

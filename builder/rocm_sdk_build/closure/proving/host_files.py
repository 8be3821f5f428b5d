"""The files of this system that the closure uses: libraries that the plan names as outside, with what they need.

The linker finds the files: a child opens each name and says which files came into the process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import NamedTuple

from rocm_sdk.base import processes
from rocm_sdk.base.processes import PACKAGE_PARENT
from rocm_sdk.installed.readers import check_host_files, inspect_library
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.closure.choosing.selection import Selection
from rocm_sdk_build.closure.source_sdk import InstalledSdk
from rocm_sdk_build.code.dlopen_dependencies import is_elf
from rocm_sdk_build.code.elf64 import PT_INTERP, read_elf

# The imports of the proof's program, and the list of mapped files in /proc. argv: the names to open.
_CHILD = """
import ctypes, importlib.util, json, os, subprocess, sys, ast, hashlib, zlib, select, random, tempfile, bz2, lzma, csv
import rocm_sdk._native, email.parser, concurrent.futures, xml.etree.ElementTree, unicodedata, _posixsubprocess, struct
def mapped():
    with open("/proc/self/maps") as file:
        lines = (line.split(None, 5) for line in file)
        return sorted({line[5].rstrip("\\n") for line in lines if len(line) == 6 and line[5].startswith("/")})
own = mapped()
missing = []
for name in sys.argv[1:]:
    try:
        ctypes.CDLL(name, os.RTLD_LAZY)
    except OSError as error:
        missing.append(str(error))
print(json.dumps({"own": own, "all": mapped(), "missing": missing}))
"""


class HostFiles(NamedTuple):
    """The files of this system, as absolute paths.

    `links` maps the path of a name by which the linker looks to the file's name.
    """

    paths: tuple[str, ...]
    links: dict[str, str]
    directories: tuple[str, ...]  # directories of libraries
    of_libraries: tuple[str, ...]  # the libraries that the closure and the application use, without Python's own


def find_host_files(sdk: InstalledSdk, selection: Selection, application: Iterable[str]) -> HostFiles:
    """Return the files of this system that the closure and the application use.

    `application` are the application's files, and files that come with it. Raise PackagingError if the system lacks a
    library.
    """
    libraries = tuple(str(sdk.files[path].source) for path in selection.needed.reasons)
    names = (*selection.needed.outside, *_needs_of_application(application, libraries))
    # A name with a slash is not a name of the system: the name leads to a file, which may be anybody's.
    document = _ask([name for name in dict.fromkeys(names) if not name.startswith("ld-linux") and "/" not in name])
    if document["missing"]:
        what = f"this system lacks a library: {document['missing'][0]}"
        raise PackagingError(what, "rocm-sdk check says which package")
    paths = [path for path in document["all"] if ".so" in os.path.basename(path)]
    links: dict[str, str] = {}
    for path in paths:
        soname = inspect_library(path).soname
        if soname and soname != os.path.basename(path):
            links[os.path.join(os.path.dirname(path), soname)] = os.path.basename(path)
    linker = _interpreter()
    if linker not in paths:
        paths.append(linker)
    own = set(document["own"])
    return HostFiles(
        tuple(paths),
        links,
        tuple(sorted({os.path.dirname(path) for path in paths})),
        tuple(path for path in paths if path not in own and path != linker),
    )


def _needs_of_application(files: Iterable[str], libraries: tuple[str, ...]) -> list[str]:
    """Return the DT_NEEDED entries that are neither bundled with an application nor part of the SDK."""
    own = tuple(path for path in files if is_elf(path))
    return [
        need.name for file in check_host_files(own, libraries).files for need in file.needs if need.place == "system"
    ]


def _ask(names: Iterable[str]) -> dict[str, list[str]]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LD_", "ROCM_"))}
    environment["PYTHONPATH"] = PACKAGE_PARENT
    done = processes.run(processes.own_code(_CHILD, *names), base=environment)
    try:
        document: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError) as error:
        raise PackagingError(f"the system's libraries cannot be found: {done.stderr.strip()[-500:]}") from error
    return document


def _interpreter() -> str:
    """Return the path of this Python's dynamic linker."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        elf = read_elf(file.fileno(), sys.executable)
        segment = next(each for each in elf.segments if each.type == PT_INTERP)
        return os.pread(file.fileno(), segment.file_size, segment.offset).rstrip(b"\0").decode()

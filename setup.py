"""What pyproject.toml cannot say: the version read from the C header, the C library, the extension and their flags.

The C library is compiled first, as a static library that knows nothing of Python; the extension `rocm_sdk._native` is
the binding in csrc/python linked with it. All that a build needs and does not find is named in one line, before
anything is compiled.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_clib import build_clib
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

CSRC = Path("csrc")
VERSION_HEADER = CSRC / "include/rocm_sdk/version.h"
NOT_OF_THE_LIBRARY = {"include", "programs", "python"}

# The address of the repository, https://github.com/OWNER/NAME. A release fills it in; without it there are no urls.
REPOSITORY = ""
PAGES = {"Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md", "Security": "/security/policy"}

# The limited API does not exist on free-threaded interpreters: there the extension is built for one version only.
LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

# The files that AMD's distribution `rocm` has too, and overwrites or removes. A test compares them with its files.
SHARED_WITH_ROCM = ("__init__.py", "__main__.py", "_devel.py", "_dist_info.py")

# Compiled before a build, with the flags of the build.
PROBE = """
#include <features.h>
#include <stdlib.h>
#ifndef __GLIBC__
#error not glibc
#endif
#include <gelf.h>
#include <Python.h>
"""


class Lack(NamedTuple):
    """Something that a build needs: what to call it, Debian's and Fedora's package for it."""

    what: str
    debian: str
    fedora: str


# Header -> what a build without it lacks.
OF_HEADERS = {
    "stdlib.h": Lack("the C library's headers (stdlib.h)", "libc6-dev", "glibc-devel"),
    "gelf.h": Lack("libelf's headers (gelf.h)", "libelf-dev", "elfutils-libelf-devel"),
    "Python.h": Lack(f"the headers (Python.h) of {sys.executable}", "python3-dev", "python3-devel"),
}


def refuse(reason: str) -> NoReturn:
    """End the build with one line; SystemExit, unlike other exceptions, leaves no traceback above it."""
    sys.exit(f"rocm-sdk-loader: {reason}")


def refuse_lacks(lacks: Sequence[Lack]) -> NoReturn:
    """End the build with all that it needs and does not find, and the commands that install it."""
    what = "; ".join(dict.fromkeys(each.what for each in lacks))
    debian, fedora = (" ".join(dict.fromkeys(names)) for names in list(zip(*lacks, strict=True))[1:])
    them = "it" if len(lacks) == 1 else "them"
    refuse(f"{what}; install {them}: `apt-get install {debian}` (Debian, Ubuntu) or `dnf install {fedora}` (Fedora)")


def read_version() -> str:
    """Return the version that the C header defines. Raise SystemExit if it defines none."""
    match = re.search(r'^#define RSDK_VERSION "([^"]+)"$', VERSION_HEADER.read_text(encoding="ascii"), re.MULTILINE)
    if match is None:
        raise SystemExit(f'{VERSION_HEADER}: no line `#define RSDK_VERSION "..."`')
    return match.group(1)


def libelf_flags(option: str) -> list[str]:
    """Return flags from pkgconf's --cflags or --libs."""
    found = ask_pkgconf(option)
    if isinstance(found, Lack):
        refuse_lacks([found])
    return found


def ask_pkgconf(option: str) -> list[str] | Lack:
    """Return libelf's flags, or what keeps pkgconf from telling them."""
    pkgconf = os.environ.get("PKG_CONFIG") or ("pkgconf" if shutil.which("pkgconf") else "pkg-config")
    try:
        return shlex.split(subprocess.check_output([pkgconf, option, "libelf"], text=True, stderr=subprocess.PIPE))
    except FileNotFoundError:
        what = f"no pkgconf ({pkgconf} is not in PATH), which tells where libelf is"
        return Lack(what, "pkgconf", "pkgconf-pkg-config")
    except subprocess.CalledProcessError:
        return Lack("pkgconf does not find libelf (libelf.pc)", "libelf-dev", "elfutils-libelf-devel")


def check_build_dependencies() -> None:
    """Name all that is missing at once."""
    if sys.platform != "linux":
        refuse(f"builds on Linux only, this is {sys.platform}")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ask_pkgconf("--cflags")
    lacks = [flags] if isinstance(flags, Lack) else []
    command = [*compiler, *BINDING_FLAGS, *([] if isinstance(flags, Lack) else flags)]
    if shutil.which(compiler[0]) is None:
        lacks.insert(0, Lack(f"no C compiler ({compiler[0]} is not in PATH)", "gcc", "gcc"))
        usual = ("/usr/include", sysconfig.get_path("include"))
        lacks += [lack for name, lack in OF_HEADERS.items() if not any(Path(each, name).exists() for each in usual)]
    elif error := compile_error(command, PROBE):
        if "not glibc" in error:
            refuse("needs the GNU C library (glibc); other C libraries, such as musl, are not supported yet")
        for name, (what, debian, fedora) in OF_HEADERS.items():
            if name in compile_error(command, f"#include <{name}>\n"):
                lacks.append(Lack(f"{compiler[0]} does not find {what}", debian, fedora))
        if not lacks:
            refuse(f"{compiler[0]} cannot compile for this Python: {error}")
    if lacks:
        refuse_lacks(lacks)


def compile_error(command: Sequence[str], source: str) -> str:
    """Return the first error of a compiler about a source; "" without one."""
    with tempfile.TemporaryDirectory() as scratch:
        # To an object file: not each compiler has a check of the syntax alone (`zig cc` fails).
        output = ["-c", "-o", f"{scratch}/probe.o", "-x", "c", "-"]
        probe = subprocess.run([*command, *output], input=source, text=True, capture_output=True, check=False)
    if probe.returncode == 0:
        return ""
    return next((line for line in probe.stderr.splitlines() if "error:" in line), probe.stderr.strip() or "no error")


def processes() -> int:
    """Return how many compilers may run at the same time; each takes 107 MB."""
    asked = os.environ.get("MAX_JOBS") or "16"
    if not re.fullmatch("[0-9]{1,4}", asked) or int(asked) == 0:
        refuse(f"MAX_JOBS={asked}: it is the most compilers that run at the same time, a number from 1 on")
    return min(16, int(asked), len(os.sched_getaffinity(0)), cgroup_processors())


def cgroup_processors() -> int:
    """Return how many processors the cgroups of this process give it, by their files cpu.max: QUOTA PERIOD."""
    least = 16
    try:
        own = re.search(r"^0::/(.*)$", Path("/proc/self/cgroup").read_text(encoding="utf-8"), re.MULTILINE)
        place = Path(f"/sys/fs/cgroup/{own.group(1) if own else ''}")
        for each in (place, *place.parents):
            if (each / "cpu.max").is_file():
                quota, period = (each / "cpu.max").read_text(encoding="ascii").split()
                least = min(least, least if quota == "max" else max(1, round(int(quota) / int(period))))
    except (OSError, ValueError, ZeroDivisionError):
        pass  # then the affinity tells alone
    return least


def compile_side_by_side(compile_some: Callable[..., list[str]], sources: list[str], **options: Any) -> list[str]:
    """Compile each source by itself, several at the same time, and return the object files in the order of the sources.

    After the first that fails, none begins.
    """
    errors: list[Exception] = []

    def compile_one(source: str) -> list[str]:
        try:
            return [] if errors else compile_some([source], **options)
        except Exception as error:
            errors.append(error)
            return []

    with ThreadPoolExecutor(processes()) as pool:
        objects = [built for each in pool.map(compile_one, sources) for built in each]
    if errors:
        raise errors[0]
    return objects


class Build(build):
    """`build`, but a missing dependency is named before the first file is copied."""

    def run(self) -> None:
        """Build after a look at what the build needs."""
        check_build_dependencies()
        super().run()


class BuildPython(build_py):
    """`build_py`, and an archive of the shared files, from which `rocm-sdk adopt` restores them."""

    def run(self) -> None:
        """Build the package, and write the archive of shared files."""
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib, "rocm_sdk")
            with zipfile.ZipFile(package / "adoption/own_files.zip", "w") as archive:
                for name in SHARED_WITH_ROCM:
                    content = (package / name).read_bytes()
                    archive.writestr(zipfile.ZipInfo(f"rocm_sdk/{name}"), content, zipfile.ZIP_DEFLATED)


class BuildLibrary(build_clib):
    """`build_clib` for editable installs, which do not pass through `build`; the library's flags are asked for late."""

    def run(self) -> None:
        """Build the C libraries with the flags of libelf."""
        check_build_dependencies()
        for _, build_info in self.libraries:
            build_info["cflags"] = [*build_info["cflags"], *libelf_flags("--cflags")]
        number = len([*LIBRARY_SOURCES, *BINDING_SOURCES, PROGRAM, *PROGRAM_PARTS])
        most = processes()
        print(f"compiling {number} files with {most} process{'' if most == 1 else 'es'}", flush=True)
        super().run()

    def build_libraries(self, libraries: Any) -> None:
        """Compile several files at the same time."""
        self.compiler.compile = partial(compile_side_by_side, self.compiler.compile)
        super().build_libraries(libraries)


class BuildExtension(build_ext):
    """`build_ext` with libelf, and the program that `rocm-sdk test` loads libraries in."""

    def build_extensions(self) -> None:
        """Compile several files at the same time, and link without the search paths of the interpreter."""
        self.compiler.compile = partial(compile_side_by_side, self.compiler.compile)
        # What the interpreter was linked with names its own directories, as pyenv's does: in a wheel they mean nothing.
        asked_for = os.environ.get("LDSHARED", "") + os.environ.get("LDFLAGS", "")
        self.compiler.linker_so = [
            word for word in self.compiler.linker_so if not word.startswith("-Wl,-rpath") or word in asked_for
        ]
        super().build_extensions()

    def run(self) -> None:
        """Build the extension and the programs beside it."""
        for extension in self.extensions:
            extension.extra_link_args = [*extension.extra_link_args, *libelf_flags("--libs")]
        super().run()
        root = Path() if self.inplace else Path(self.build_lib)
        objects = self.compiler.compile(
            [PROGRAM, *PROGRAM_PARTS],
            output_dir=self.build_temp,
            include_dirs=["csrc"],
            extra_postargs=FLAGS,
        )
        # setuptools gives the linker of programs no LDFLAGS.
        flags = shlex.split(os.environ.get("LDFLAGS", ""))
        self.compiler.link_executable(
            objects, "load_check", output_dir=str(root / "rocm_sdk/doctor"), libraries=["dl"], extra_postargs=flags
        )


HEADERS = sorted(str(path) for path in CSRC.rglob("*.h"))
PROGRAM = "csrc/programs/load_check.c"
PROGRAM_PARTS = sorted(str(path) for path in (CSRC / "programs/parts").glob("*.c"))
LIBRARY_SOURCES = sorted(str(path) for path in CSRC.rglob("*.c") if path.parts[1] not in NOT_OF_THE_LIBRARY)
BINDING_SOURCES = sorted(str(path) for path in (CSRC / "python").glob("*.c"))
INCLUDE_DIRS = ["csrc/include", "csrc"]

# The warnings are those of make, where they are errors.
FLAGS = (CSRC / "compiler-flags").read_text(encoding="ascii").split()
if "CFLAGS" not in os.environ:
    FLAGS.append("-O2")  # who sets CFLAGS chooses the optimisation too
# Else debug information names the directory of the build, and the same sources give other bytes elsewhere.
FLAGS.append(f"-ffile-prefix-map={Path.cwd()}=.")
# Without warnings about Python's own headers.
BINDING_FLAGS = [
    *FLAGS,
    *(word for name in ("include", "platinclude") for word in ("-isystem", sysconfig.get_path(name))),
]
if LIMITED_API:
    BINDING_FLAGS += (CSRC / "python/compiler-flags").read_text(encoding="ascii").split()

setup(
    version=read_version(),
    project_urls={name: REPOSITORY + page for name, page in PAGES.items() if REPOSITORY},
    cmdclass={"build": Build, "build_py": BuildPython, "build_clib": BuildLibrary, "build_ext": BuildExtension},
    libraries=[
        (
            "rocm_sdk",
            {
                "sources": LIBRARY_SOURCES,
                "obj_deps": {"": HEADERS},
                "include_dirs": INCLUDE_DIRS,
                "cflags": FLAGS,
            },
        )
    ],
    ext_modules=[
        Extension(
            "rocm_sdk._native",
            sources=BINDING_SOURCES,
            depends=[*HEADERS, *LIBRARY_SOURCES],  # it is linked anew when the library changes
            include_dirs=INCLUDE_DIRS,
            extra_compile_args=BINDING_FLAGS,
            py_limited_api=LIMITED_API,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if LIMITED_API else {},
)

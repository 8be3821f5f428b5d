"""What pyproject.toml cannot say: the version read from the C header, the C library, the extension and their flags.

The C library is compiled first, as a static library that knows nothing of Python; the extension `rocm_sdk._native` is
the binding in csrc/python linked with it. What a build needs and does not find is named in one line, before anything is
compiled.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_clib import build_clib
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

LIBRARY_FLOORS = ("base", "elf", "sdk", "gpu", "loader", "device_code")
VERSION_HEADER = Path("csrc/include/rocm_sdk/version.h")

# The limited API does not exist on free-threaded interpreters: there the extension is built for one version only.
LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

# What a build may lack: Debian's and Fedora's package for it.
PACKAGES = {
    "C compiler": ("gcc", "gcc"),
    "C library headers": ("libc6-dev", "glibc-devel"),
    "pkgconf": ("pkgconf", "pkgconf-pkg-config"),
    "libelf": ("libelf-dev", "elfutils-libelf-devel"),
    "Python headers": ("python3-dev", "python3-devel"),
}


def refuse(reason: str) -> None:
    """End the build with one line; SystemExit, unlike other exceptions, leaves no traceback above it."""
    sys.exit(f"rocm-sdk-loader: {reason}")


def refuse_missing(what: str, detail: str) -> None:
    debian, fedora = PACKAGES[what]
    refuse(f"{detail}; install it: `apt-get install {debian}` (Debian, Ubuntu) or `dnf install {fedora}` (Fedora)")


def read_version() -> str:
    match = re.search(r'^#define RSDK_VERSION "([^"]+)"$', VERSION_HEADER.read_text(encoding="ascii"), re.MULTILINE)
    if match is None:
        raise SystemExit(f'{VERSION_HEADER}: no line `#define RSDK_VERSION "..."`')
    return match.group(1)


def compiler_command() -> list[str]:
    """The compiler that setuptools will run: $CC, else the one that built this Python."""
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


def preprocesses(source: str, flags: list[str]) -> bool:
    """Whether the compiler accepts `source` as far as its #include and #error lines go."""
    command = [*compiler_command(), *flags, "-E", "-x", "c", "-"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode == 0


def pkgconf_command() -> str:
    return os.environ.get("PKG_CONFIG") or ("pkgconf" if shutil.which("pkgconf") else "pkg-config")


def libelf_flags(option: str) -> list[str]:
    """Flags from pkgconf's --cflags or --libs."""
    return shlex.split(subprocess.check_output([pkgconf_command(), option, "libelf"], text=True))


def check_build_dependencies() -> None:
    """Name the first thing that is missing, in the order in which the later checks need the earlier ones."""
    if sys.platform != "linux":
        refuse(f"builds on Linux only, this is {sys.platform}")
    compiler = compiler_command()[0]
    if shutil.which(compiler) is None:
        refuse_missing("C compiler", f"no C compiler ({compiler} is not in PATH)")
    if not preprocesses("#include <stdlib.h>\n", []):
        refuse_missing("C library headers", f"{compiler} does not find the C library's headers (stdlib.h)")
    if not preprocesses("#include <features.h>\n#ifndef __GLIBC__\n#error\n#endif\n", []):
        refuse("needs the GNU C library (glibc); other C libraries, such as musl, are not supported yet")
    pkgconf = pkgconf_command()
    if shutil.which(pkgconf) is None:
        refuse_missing("pkgconf", f"no pkgconf ({pkgconf} is not in PATH), which tells where libelf is")
    if subprocess.run([pkgconf, "--exists", "libelf"], check=False).returncode != 0:
        refuse_missing("libelf", "pkgconf does not find libelf (libelf.pc)")
    if not preprocesses("#include <gelf.h>\n", libelf_flags("--cflags")):
        refuse_missing("libelf", f"{compiler} does not find libelf's headers (gelf.h)")
    python_includes = [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
    if not preprocesses("#include <Python.h>\n", python_includes):
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        refuse_missing("Python headers", f"no headers (Python.h) of the Python {version} that builds, {sys.executable}")


class Build(build):
    """`build`, but a missing dependency is named before the first file is copied."""

    def run(self) -> None:
        check_build_dependencies()
        super().run()


class BuildPython(build_py):
    """`build_py`, and an archive of what it built: `rocm-sdk adopt` restores from it what another package overwrote."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib, "rocm_sdk")
            files = sorted(path for path in package.rglob("*") if path.suffix in {".json", ".py", ".pyi", ".typed"})
            with zipfile.ZipFile(package / "adoption/own_files.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for name, path in [
                    *((path.relative_to(self.build_lib).as_posix(), path) for path in files),
                    ("scripts/rocm-sdk", Path("scripts/rocm-sdk")),
                ]:
                    archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)


class BuildLibrary(build_clib):
    """`build_clib` for editable installs, which do not pass through `build`; the library's flags are asked for late."""

    def run(self) -> None:
        check_build_dependencies()
        for _, build_info in self.libraries:
            build_info["cflags"] = [*build_info["cflags"], *libelf_flags("--cflags")]
        super().run()


class BuildExtension(build_ext):
    """`build_ext` with libelf, and the program that `rocm-sdk test` loads libraries in."""

    def run(self) -> None:
        for extension in self.extensions:
            extension.extra_link_args = [*extension.extra_link_args, *libelf_flags("--libs")]
        super().run()
        root = Path() if self.inplace else Path(self.build_lib)
        objects = self.compiler.compile(
            ["csrc/programs/load_check.c"], output_dir=self.build_temp, macros=MACROS, extra_postargs=CFLAGS
        )
        self.compiler.link_executable(
            objects, "load_check", output_dir=str(root / "rocm_sdk/selftest"), libraries=["dl"]
        )


def sources_below(*folders: str) -> list[str]:
    return sorted(str(path) for folder in folders for path in Path("csrc", folder).glob("*.c"))


HEADERS = sorted(str(path) for path in Path("csrc").rglob("*.h"))
INCLUDE_DIRS = ["csrc/include", "csrc"]
CFLAGS = ["-std=c17", "-fvisibility=hidden", "-Wall", "-Wextra"]
if "CFLAGS" not in os.environ:
    CFLAGS.append("-O2")  # who sets CFLAGS chooses the optimisation too
MACROS: list[tuple[str, str | None]] = [("_GNU_SOURCE", None)]

setup(
    version=read_version(),
    cmdclass={"build": Build, "build_py": BuildPython, "build_clib": BuildLibrary, "build_ext": BuildExtension},
    libraries=[
        (
            "rocm_sdk",
            {
                "sources": sources_below(*LIBRARY_FLOORS),
                "obj_deps": {"": HEADERS},
                "include_dirs": INCLUDE_DIRS,
                "macros": MACROS,
                "cflags": CFLAGS,
            },
        )
    ],
    ext_modules=[
        Extension(
            "rocm_sdk._native",
            sources=sources_below("python"),
            depends=[*HEADERS, *sources_below(*LIBRARY_FLOORS)],  # it is linked anew when the library changes
            include_dirs=INCLUDE_DIRS,
            define_macros=[*MACROS, ("Py_LIMITED_API", "0x030A0000")] if LIMITED_API else MACROS,
            extra_compile_args=CFLAGS,
            py_limited_api=LIMITED_API,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if LIMITED_API else {},
)

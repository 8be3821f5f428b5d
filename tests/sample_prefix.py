"""A sound ROCm below a staging directory, into which tests put one fault each."""

from pathlib import Path

from installed_rocm import Prefix
from sample_report import Said, ask_test

ORIGIN = ("-Wl,--enable-new-dtags,-rpath,$ORIGIN",)
HEADER = "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 2\n"
RELEASE = "#define ROCM_VERSION_MAJOR 7\n#define ROCM_VERSION_MINOR 1\n#define ROCM_VERSION_PATCH 0\n"
CONFIG = """\
get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../" ABSOLUTE)
set_and_check(hip_INCLUDE_DIR "${PACKAGE_PREFIX_DIR}/include")
set_and_check(hip_BIN_INSTALL_DIR "${PACKAGE_PREFIX_DIR}/bin")
"""
TARGETS = """\
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
set_target_properties(hip::amdhip64 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include")
"""
LOCATION = 'set_target_properties(hip::amdhip64 PROPERTIES IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/%s")\n'
# As clang answers, from where the program is.
CLANG = """\
#!/bin/sh
root=$(cd "$(dirname "$0")/../../.." && pwd)
case "$*" in
*-print-resource-dir*) echo "$root/lib/llvm/lib/clang/20" ;;
*-###*)
    if test -e "$root/amdgcn/bitcode/ocml.bc"; then
        echo ' "clang-20" "-cc1" "-mlink-builtin-bitcode" "'"$root"'/amdgcn/bitcode/ocml.bc"' >&2
    else
        echo "clang: error: cannot find ROCm device library" >&2
        exit 1
    fi ;;
*) echo "clang version 20.0.0" ;;
esac
"""


class Stage(Prefix):
    """The prefix `root`, which will be /opt/rocm-7.1, in the staging directory `destdir`."""

    def __init__(self, destdir: Path) -> None:
        super().__init__(destdir / "opt/rocm-7.1")
        self.destdir = destdir

    def test(self, *words: str, **variables: str) -> Said:
        """`rocm-sdk test --sdk`, with the staging directory."""
        return run_on_prefix(self.root, "--destdir", str(self.destdir), *words, **variables)


def sound_stage(destdir: Path) -> Stage:
    """Make the files that a build of ROCm installs with DESTDIR."""
    stage = Stage(destdir)
    runtime = stage.library("lib/libhsa-runtime64.so.1.18", flags=ORIGIN)
    hip = stage.library("lib/libamdhip64.so.7.1.2", runtime, flags=ORIGIN)
    stage.library("lib/librocrand.so.1.1", hip, flags=ORIGIN)
    stage.file(".info/version", "7.1.0-66\n")
    stage.file("include/hip/hip_version.h", HEADER)
    stage.file("include/rocm-core/rocm_version.h", RELEASE)
    stage.file("lib/cmake/hip/hip-config.cmake", CONFIG)
    stage.file("lib/cmake/hip/hip-config-version.cmake", 'set(PACKAGE_VERSION "7.1.25424")\n')
    stage.file("lib/cmake/hip/hip-targets.cmake", TARGETS)
    stage.file("lib/cmake/hip/hip-targets-release.cmake", LOCATION % "libamdhip64.so.7.1.2")
    stage.file("lib/pkgconfig/hip.pc", "prefix=/opt/rocm-7.1\n")
    stage.file("lib/llvm/bin/clang", CLANG, 0o755)
    stage.file("lib/llvm/lib/clang/20/include/stddef.h", "\n")
    stage.file("amdgcn/bitcode/ocml.bc", "BC")
    stage.program("bin/rocminfo", "-no-pie")
    stage.file("bin/hipconfig", "#!/bin/sh\necho 7.1.25424\n", 0o755)
    stage.file("bin/rocblas-bench", "#!/bin/sh\nexit 1\n", 0o755)
    return stage


def run_on_prefix(root: Path, *words: str, **variables: str) -> Said:
    """Run `rocm-sdk test --sdk`, and return its answer taken apart."""
    return ask_test("--sdk", str(root), *words, **variables)

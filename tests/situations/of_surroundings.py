"""Situations: variables and settings that programs get from the shell, and fail by."""

import sys
from pathlib import Path

from sdk_environment import Environment
from situations import HSA, Situation, by_hand, compile_to, extracted_tree, on, remove, set_variable

_FEWEST = 12 if sys.version_info < (3, 14) else 13  # descriptors with which an interpreter loads a library
_CRASH = "__attribute__((constructor)) static void begin(void) { __builtin_trap(); }"
_CHATTY = """
    #include <stdio.h>
    __attribute__((constructor)) static void begin(void) { puts("a word"); fflush(stdout); fputs("another", stderr); }
"""

_NO_EPOLL = """
    #include <errno.h>
    int epoll_ctl(int epoll, int what, int descriptor, void *event) { errno = ENOSYS; return -1; }
"""


def _foreign(environment: Environment, soname: str = "libamdhip64.so.7", source: str = "int other;") -> None:
    compile_to(environment.root / "other/lib" / soname, source, soname)


def _empty(environment: Environment, name: str) -> None:
    _empty_file(environment.root / name)


def _empty_file(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch()


# A compiler that refuses a flag.
_CLANG = """#!/bin/sh
case "$*" in *-print-resource-dir*) echo "${0%/bin/*}/lib/clang"; exit ;; esac
case "$HIPCC_COMPILE_FLAGS_APPEND" in *-nonsense*) echo "clang: error: unknown argument: '-nonsense'"; exit 1 ;; esac
"""


def _compiler(environment: Environment) -> None:
    tree = extracted_tree(environment)
    _empty_file(tree / "lib/llvm/lib/clang/include/stddef.h")
    for name in ("lib/llvm/bin/clang", "bin/hipcc"):
        program = tree / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(_CLANG)
        program.chmod(0o755)


# fmt: off
ROWS = (
    Situation("TMPDIR is not there", "E-ENV-010", "TMPDIR", lines=set_variable("TMPDIR", "/nowhere")),
    Situation("TMPDIR has no room", "E-ENV-010", "TMPDIR", lines=("mkdir {root}/full", "ln -s /proc {root}/full/proc", *set_variable("TMPDIR", "{root}/full/proc"))),
    Situation("PYTHONVERBOSE", None, "", lines=("export PYTHONVERBOSE=1 PYTHONPROFILEIMPORTTIME=1",)),
    Situation("LD_DEBUG", None, "", lines=set_variable("LD_DEBUG", "files")),
    Situation("LD_PRELOAD names a file that is not there", None, "", lines=set_variable("LD_PRELOAD", "/nowhere/x.so")),
    Situation("LD_PRELOAD names a library that talks", None, "", lambda e: compile_to(e.root / "chatty.so", _CHATTY), ("export LD_PRELOAD={root}/chatty.so",)),
    Situation("LD_LIBRARY_PATH has it as the second of three entries", "E-ENV-010", "other/lib in LD_LIBRARY_PATH", lambda e: _foreign(e, source=_CRASH), ("export LD_LIBRARY_PATH=/usr/lib:{root}/other/lib:/opt",)),
    Situation("a variable makes a constructor crash", "E-ENV-010", "HSA_CRASHES", lines=set_variable("HSA_CRASHES", "1")),
    Situation("two variables break the compiler together", "E-ENV-010", "together", lines=(*set_variable("HIP_CLANG_PATH", "/x"), *set_variable("COMPILER_PATH", "/y"))),
    Situation("RLIMIT_FSIZE, soft", "E-ENV-010", "the soft limit of the size of files", lines=("ulimit -S -f 16",)),
    by_hand("RLIMIT_FSIZE, hard", "E-ENV-011", "the size of files", lines=("ulimit -f 16",)),
    Situation("the fewest descriptors", None, "", lines=(f"ulimit -n {_FEWEST}",)),
    Situation("200 MB of address space", None, "", lines=("ulimit -v 200000",)),
    Situation("LD_PRELOAD names a library that makes checks fail themselves", "E-ENV-010", "mine.so in LD_PRELOAD makes the check of libraries fail, and 7 more", lambda e: compile_to(e.root / "mine.so", _NO_EPOLL), ("export LD_PRELOAD={root}/mine.so",)),
    Situation("ROCM_SDK_PRELOAD_LIBRARIES has an unknown name", "E-ENV-007", "ROCM_SDK_PRELOAD_LIBRARIES", lines=set_variable("ROCM_SDK_PRELOAD_LIBRARIES", "amdhip65")),
    Situation("HSA_OVERRIDE_GFX_VERSION without a step", None, "", lines=set_variable("HSA_OVERRIDE_GFX_VERSION", "10.3")),
    Situation("ROCM_PATH and HIP_PATH to one other ROCm", "W-ENV-001", "ROCM_PATH and HIP_PATH", lambda e: _foreign(e, "libamdhip64.so.6"), ("export ROCM_PATH={root}/other HIP_PATH={root}/other",)),
    Situation("ROCM_PATH, and one of three entries of LD_LIBRARY_PATH, twice", "W-ENV-001", "unset ROCM_PATH && export LD_LIBRARY_PATH=/opt:/usr/lib", lambda e: _foreign(e, "libamdhip64.so.6"), ("export ROCM_PATH={root}/other LD_LIBRARY_PATH=/opt:{root}/other:{root}/other/lib:/usr/lib",)),
    Situation("the current directory is gone", None, "", lines=("mkdir {root}/gone", "cd {root}/gone", "rmdir {root}/gone")),
    Situation("the current directory has no rights", None, "", lines=("mkdir -m 0 {root}/mine", "cd {root}/mine")),
    Situation("stdin, stdout and stderr of the shell are closed but for one", None, "", lines=("exec <&- 2>&-",)),
    Situation("the C locale and no HOME", None, "", lines=("export LC_ALL=C", "unset HOME")),
    Situation("LD_AUDIT names a file that is not there", None, "", lines=set_variable("LD_AUDIT", "/nowhere/x.so")),
    Situation("LD_PRELOAD names it beside one that does no harm", "E-ENV-010", "mine.so in LD_PRELOAD", lambda e: (compile_to(e.root / "mine.so", "int mkstemp(char *name) { return -1; }"), compile_to(e.root / "other.so", "int other;")), ("export LD_PRELOAD='{root}/other.so {root}/mine.so'",)),
    Situation("HIP_USE_RUNTIME_UNBUNDLER", "W-ENV-002", "unset", lines=set_variable("HIP_USE_RUNTIME_UNBUNDLER", "1")),
    Situation("ROCBLAS_TENSILE_LIBPATH leads out of the SDK", "W-ENV-016", "unset", lines=set_variable("ROCBLAS_TENSILE_LIBPATH", "/nowhere")),
    Situation("ROCM_SDK_ROOT leads nowhere", "E-ENV-008", "ROCM_SDK_ROOT", lines=set_variable("ROCM_SDK_ROOT", "/nowhere")),
    Situation("ROCM_SDK_LIBRARY_rocblas leads nowhere", "E-ENV-008", "ROCM_SDK_LIBRARY_rocblas", lines=set_variable("ROCM_SDK_LIBRARY_rocblas", "/nowhere/librocblas.so.5")),
    Situation("ROCM_SDK_ISOLATE has an unknown name", "E-ENV-008", "ROCM_SDK_ISOLATE", lines=set_variable("ROCM_SDK_ISOLATE", "rocblass")),
    Situation("LD_LIBRARY_PATH has another ROCm, and no library has an RPATH", "W-ENV-001", "LD_LIBRARY_PATH", lambda e: _foreign(e, "libhsa-runtime64.so.1"), ("export LD_LIBRARY_PATH={root}/other/lib",), has_rpaths=False),
    Situation("LD_LIBRARY_PATH has another HSA that crashes, and no library has an RPATH", "E-ENV-010", "other/lib in LD_LIBRARY_PATH", lambda e: _foreign(e, "libhsa-runtime64.so.1", _CRASH), ("export LD_LIBRARY_PATH=/usr/lib:{root}/other/lib",), has_rpaths=False),
    Situation("no library has an RPATH", None, "", has_rpaths=False),
    Situation("HSA is gone, and no library has an RPATH", "E-FILE-001", "libhsa-runtime64", on(HSA, remove), has_rpaths=False),
    Situation("LD_LIBRARY_PATH of conda has an empty libstdc++", "E-ENV-010", "conda/lib in LD_LIBRARY_PATH", lambda e: _empty(e, "conda/lib/libstdc++.so.6"), ("export CONDA_PREFIX={root}/conda LD_LIBRARY_PATH={root}/conda/lib",)),
    Situation("ROCM_SDK_ROOTFS leads nowhere", None, "", lines=set_variable("ROCM_SDK_ROOTFS", "/nowhere")),
    Situation("ROCM_SDK_TARGET_FAMILY is unknown", None, "", lines=set_variable("ROCM_SDK_TARGET_FAMILY", "gfx000")),
    Situation("the cache of comgr cannot be made", "W-ENV-015", "", lines=("touch {root}/file", *set_variable("AMD_COMGR_CACHE_DIR", "{root}/file/cache"))),
    Situation("hipcc adds a flag that clang does not know", "E-ENV-010", "HIPCC_COMPILE_FLAGS_APPEND", _compiler, set_variable("HIPCC_COMPILE_FLAGS_APPEND", "-nonsense")),
    Situation("XDG_CACHE_HOME is relative", None, "", lines=set_variable("XDG_CACHE_HOME", "cache")),
    Situation("variables of glibc", None, "", lines=("export LD_BIND_NOW=1 MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.check=3",)),
    Situation("PATH is empty", None, "", lines=set_variable("PATH", "")),
)
# fmt: on

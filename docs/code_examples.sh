# What the examples of the codes' pages share. Each example sources it before its own lines (code_examples.tsv).
# $site, $core and $machine are directories of the sample; $tests is the directory of the tests.

libraries=${core%core}libraries

# Compiles C text to another file of this name in the core package; further words are for the compiler. RECORD does not
# say what the file was: a file that is not as RECORD says would be the problem.
library() { # NAME TEXT [WORD...]
    sed -i "\|/lib/$1,|d" "$site"/*.dist-info/RECORD
    cc -shared -fPIC -x c - -o "$core/lib/$1" "-Wl,-soname,$1" -x none "${@:3}" <<<"$2"
}

# The same, with a constructor of this text.
constructor() { # NAME TEXT
    library "$1" "#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void construct(void) { $2 }"
}

# A program of this shell text.
program() { # FILE TEXT
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod 755 "$1"
}

# A console script of this shell text that the core package owns.
script() { # NAME TEXT
    program "venv/bin/$1" "$2"
    echo "../../../bin/$1,," >>"$site/rocm_sdk_core-5.2.3.dist-info/RECORD"
    printf '[console_scripts]\n%s = rocm_sdk_core._cli:main\n' "$1" >"$site/rocm_sdk_core-5.2.3.dist-info/entry_points.txt"
}

# What the kernel says of a GPU's device, in place of what the sample machine says.
device() { # ADDRESS FILE TEXT
    local directory="$machine/sys/bus/pci/devices/$1"
    mkdir -p "$(dirname "$directory/$2")"
    printf '%b' "$3" >"$directory/$2"
}

# A distribution of one empty file, which RECORD lists.
distribution() { # NAME VERSION FILE
    local info="$site/${1//-/_}-$2.dist-info"
    mkdir -p "$info" "$(dirname "$site/$3")"
    touch "$site/$3"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" >"$info/METADATA"
    printf '%s,,\n' "$3" "${info##*/}/METADATA" "${info##*/}/RECORD" >"$info/RECORD"
}

# Runs Python with the modules of the tests, which make files with GPU code.
sample() { # TEXT [WORD...]
    PYTHONPATH=$tests:$PYTHONPATH python3 -c "import sys
from pathlib import Path
from sample_device_code import *
$1" "${@:2}"
}

# A library of the libraries package with code for these targets.
gpu_library() { # NAME TARGET...
    sample 'library(Path(sys.argv[1]), [bundle(objects(*sys.argv[2:]))])' "$PWD/$libraries/lib/$1" "${@:2}"
}

# rocBLAS with code for gfx942, and an index that names these tables of kernels.
rocblas() { # CONDITION TABLE
    gpu_library librocblas.so.5 gfx942
    mkdir -p "$libraries/lib/rocblas/library"
    sample 'Path(sys.argv[1], "Kernels.so-000-gfx942.hsaco").write_bytes(objects("gfx942", size=64).popitem()[1])
Path(sys.argv[1], "TensileLibrary_lazy_gfx942.dat").write_bytes(kernel_index({sys.argv[2]: [sys.argv[3]]}))' \
        "$libraries/lib/rocblas/library" "$1" "$2"
}

# A clang in the development tree that names this resource directory; its files are in lib/clang/18.
clang_of_tree() { # DIRECTORY
    rocm-sdk init --quiet
    mkdir -p "$site/_rocm_sdk_devel/lib/llvm/lib/clang/18/include"
    touch "$site/_rocm_sdk_devel/lib/llvm/lib/clang/18/include/stddef.h"
    program "$site/_rocm_sdk_devel/lib/llvm/bin/clang" "echo $PWD/$site/_rocm_sdk_devel/lib/llvm/lib/clang/$1"
}

# The core package's files as a ROCm that is to be packaged, stage/rocm.
prefix() {
    mkdir -p stage
    cp -r "$core" stage/rocm
    mkdir stage/rocm/.info
    echo 5.2.3 >stage/rocm/.info/version
}

# A process that has these files loaded; its number is in $!.
process() { # FILE...
    python3 -c 'import ctypes, sys, time; [ctypes.CDLL(each) for each in sys.argv[1:]]; open("ready", "w"); time.sleep(60)' "$@" &
    until [[ -e ready ]]; do sleep 0.02; done
}

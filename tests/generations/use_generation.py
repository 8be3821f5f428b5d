"""The checks of `make test-generations` in a Debian system: the loader and an SDK of that release, from wheels.

usage: use_generation.py short|whole CLANG WORKDIR

Each check prints a line, and the first that fails ends the run. CLANG: the release's compiler, such as clang-21.
Nothing but the standard library and rocm_sdk is needed; patchelf and its like come with rocm-sdk-build.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import rocm_sdk
from rocm_sdk import _dist_info
from rocm_sdk.fit.comgr import cache_problem, comgr_translates_spirv
from rocm_sdk.fit.done_without import is_done_without

SITE = Path(rocm_sdk.__file__).resolve().parents[1]
TREE = SITE / "_rocm_sdk_devel"
COMMAND = str(Path(sys.executable).with_name("rocm-sdk"))
# The names that PyTorch lists, in its order.
OF_TORCH = (
    *("amd_comgr", "amd_smi", "amdhip64", "hiprtc", "hipblas", "hipfft", "hiprand", "hipsparse", "hipsparselt"),
    *("hipsolver", "hipblaslt", "miopen", "hipdnn", "rocm_sysdeps_liblzma", "rocm-openblas", "rocm_smi64"),
    *("rocprofiler-sdk", "rocprofiler-sdk-roctx", "roctracer64", "roctx64", "rccl", "hipfile"),
)
LOAD_AS_TORCH = f"""
import time, rocm_sdk
begin = time.perf_counter()
rocm_sdk.initialize_process(preload_shortnames={OF_TORCH!r}, check_version=rocm_sdk.__version__)
print(time.perf_counter() - begin, len(rocm_sdk.loaded_libraries()), len(rocm_sdk.check_process()))
"""
CACHES = Path("/proc/sys/vm/drop_caches")
PAGE_LIST = SITE / "_rocm_sdk_core/lib/rocm-sdk.pages"
ROUNDS = 7  # of cold loads
GPUS = ("gfx803", "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201")
# CMake packages that cannot be found, and why.
NOT_FOUND = {
    "hip-lang": "needs the run-time library of the system's clang, as C++ code without HIP does not",
    "origami": "Debian's package lacks a file that it includes",
    "FindHIP": "is a module of CMake, not a package",
    "rocm": "is the tools of ROCm's build",
}
REWRITTEN = ("librocblas.so", "librocsolver.so", "librocsparse.so", "libMIOpen.so")
PRELOAD_AND_OPEN = "import ctypes, sys, rocm_sdk; rocm_sdk.preload_for(sys.argv[1]); ctypes.CDLL(sys.argv[1])"
BIG_CODE = 3  # bundles of a file that clang reads, at each end: each is copied for it
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


class CheckFailedError(Exception):
    """The error for a result that is not as it should be."""


def require(holds: object, words: str) -> None:
    if not holds:
        raise CheckFailedError(words)


def run(*command: object) -> str:
    """Run a command outside of the source tree, and return its output; a failure shows the output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise CheckFailedError(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def present() -> list[str]:
    """Return the short names that the SDK has."""
    found = []
    for name in _dist_info.ALL_LIBRARIES:
        try:
            location = rocm_sdk.locate(name)
        except rocm_sdk.RocmSdkError:
            continue
        found += [name] if location.path is not None else []
    return found


# ---- what the short form checks, too ----


def each_name() -> str:
    """Load each short name alone, in a new process."""
    names = present()
    times = {}
    for name in names:
        code = f"import rocm_sdk; print(rocm_sdk.preload_libraries({name!r})[-1].seconds * 1e3)"
        times[name] = float(run(sys.executable, "-c", code).split()[-1])
    require({"amdhip64", "amd_comgr", "hiprand", "hipsparse"} <= set(names), f"only {names} are there")
    return f"{len(names)} names load, each alone, in {min(times.values()):.1f} to {max(times.values()):.1f} ms"


def names_of_torch() -> str:
    seconds, count, problems = run(sys.executable, "-c", LOAD_AS_TORCH).split()
    require(problems == "0", f"check_process finds {problems} problems")
    return f"PyTorch's list of {len(OF_TORCH)} names: {count} libraries in {float(seconds) * 1e3:.0f} ms"


def names_of_torch_cold() -> str:
    """Load the names of torch in turn with and without a page list, from a disk whose files are not in memory."""
    if not os.access(CACHES, os.W_OK):
        return f"not tried: {CACHES} cannot be written to here"
    run(COMMAND, "init", "--record-pages")
    seconds: dict[str, list[float]] = {"0": [], "1": []}
    for _ in range(ROUNDS):
        for read_ahead, found in seconds.items():
            os.sync()
            CACHES.write_text("3", encoding="ascii")
            run(sys.executable, "-c", "import rocm_sdk")
            found.append(
                float(run("env", f"ROCM_SDK_READ_AHEAD={read_ahead}", sys.executable, "-c", LOAD_AS_TORCH).split()[0])
            )
    PAGE_LIST.unlink()
    without, with_list = (median(found) for found in seconds.values())
    require(with_list < without, f"{with_list:.3f} s with a page list, {without:.3f} s without")
    return f"PyTorch's list, cold: {without * 1e3:.0f} ms, with a page list {with_list / without:.2f} times that"


def self_test(*options: str) -> str:
    said = json.loads(run(COMMAND, "test", "--json", *options))
    subjects = {each["subject"]: each["count"] for each in said["subjects"]}
    errors = [each for each in said["problems"] if each["severity"] == "error"]
    require(not errors, f"rocm-sdk test: {errors}")
    require(subjects["libraries"] > 15 and subjects["api"] > 8, f"rocm-sdk test checks little: {subjects}")
    words = " ".join(("rocm-sdk test", *options))
    return f"{words}: {subjects['libraries']} libraries, {subjects['api']} names, no error"


def gpus() -> str:
    """Check that each library has a verdict for each GPU, and that the exit status follows from the verdicts."""
    verdicts: dict[str, int] = {}
    for gpu in GPUS:
        found = rocm_sdk.coverage([gpu])
        require(not found.faults, f"check-gpu {gpu}: {found.faults}")
        status = subprocess.run([COMMAND, "check-gpu", "--gpu", gpu], capture_output=True, check=False).returncode
        kinds = [each.gpus[0].verdict for each in found.libraries]
        decide = [each.gpus[0].verdict for each in found.libraries if not is_done_without(each, each.gpus[0])]
        require(status == ("none" in decide), f"check-gpu {gpu} ends with {status}, and verdicts are {decide}")
        for kind in kinds:
            verdicts[kind] = verdicts.get(kind, 0) + 1
    targets = {each.target.partition(":")[0] for each in rocm_sdk.coverage(GPUS[:1]).targets}
    require({"gfx1030", "gfx90a"} <= targets, f"code is for {targets}")
    return f"check-gpu of {len(GPUS)} GPUs: {', '.join(f'{count} {kind}' for kind, count in sorted(verdicts.items()))}"


def comgr() -> str:
    """Check that comgr answers its questions: a release with other numbers in its interface would answer nothing."""
    translates = comgr_translates_spirv()
    require(translates is not None, "comgr does not say whether it translates SPIR-V")
    return f"comgr translates SPIR-V: {translates}, its cache mixes bundles: {bool(cache_problem())}"


# ---- the rest ----


def development() -> str:
    run(COMMAND, "init")
    require((TREE / "lib/cmake/hip").is_dir(), f"{TREE} has no CMake package of HIP")
    return f"rocm-sdk init: {sum(len(files) for _, _, files in os.walk(TREE))} files"


def cmake(work: Path) -> str:
    packages = sorted(path.name for path in (TREE / "lib/cmake").iterdir() if path.name not in NOT_FOUND)
    prefix = run(COMMAND, "path", "--cmake").strip()
    for name in packages:
        project = work / "cmake" / name
        project.mkdir(parents=True)
        text = f"cmake_minimum_required(VERSION 3.25)\nproject(x CXX)\nfind_package({name} REQUIRED CONFIG)\n"
        (project / "CMakeLists.txt").write_text(text)
        said = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        require("Configuring done" in said, said)
    return f"find_package of {len(packages)} packages: {' '.join(packages)}"


SOURCE = """
#include <hip/hip_runtime.h>
__global__ void add(float *values) { values[threadIdx.x] += 1; }
int main() {
    int version = 0, count = 0;
    add<<<1, 1>>>(nullptr);
    (void)hipGetDeviceCount(&count);
    return hipRuntimeGetVersion(&version) == hipSuccess && version > 0 ? 0 : 1;
}
"""


def compile_hip(work: Path, clang: str) -> str:
    """Compile HIP by the release's own clang, and read the result by our own reader."""
    (work / "add.hip").write_text(SOURCE)
    flags = json.loads(run(COMMAND, "env", "--json", "--compiler", clang, "--targets", "gfx1030"))["set"]
    command = [
        flags["HIPCXX"],
        "-x",
        "hip",
        *shlex.split(flags["HIPFLAGS"]),
        str(work / "add.hip"),
        "-o",
        str(work / "add"),
    ]
    run(*command, f"-L{TREE}/lib", "-lamdhip64")
    targets = [each.target for each in rocm_sdk.device_code(work / "add").targets]
    require(targets == ["gfx1030"], f"{clang} has compiled for {targets}")
    run(COMMAND, "run", work / "add")
    return f"{clang} compiles a HIP file for gfx1030, and it runs with the SDK"


def preload_for(work: Path) -> str:
    """Check preload_for of a file that needs libraries of the SDK and has no RPATH."""
    (work / "user.c").write_text("int user(void) { return 0; }\n")
    names = [name for name in ("hiprand", "hipsparse", "rocblas") if name in present()]
    paths = [str(rocm_sdk.locate(name).path) for name in names]
    unresolved = "-Wl,--no-as-needed,--allow-shlib-undefined"
    run("cc", "-shared", unresolved, work / "user.c", *paths, "-o", work / "libuser.so")
    run(sys.executable, "-c", PRELOAD_AND_OPEN, work / "libuser.so")
    return f"preload_for a file that needs {', '.join(names)}"


def c_library(source: Path, work: Path) -> str:
    program = work / "preload_from_c"
    archive = source / "build/c/install/librocm_sdk.a"
    sources = [source / "tests/embed/preload_from_c.c", archive, "-lelf", "-o", program]
    run("cc", "-std=gnu17", f"-I{source / 'csrc/include'}", *sources)
    said = run(program, SITE, "hiprand", "hipsparse")
    require("hipsparse " in said, said)
    return "a C program preloads hiprand and hipsparse"


def libraries_with_code() -> Iterator[Path]:
    for path in sorted(SITE.glob("_rocm_sdk_libraries/lib/**/*.so*")):
        if path.is_file() and not path.is_symlink():
            yield path


def code_as_clang_reads_it(work: Path, clang: str) -> str:
    """Check that files have as many bundles as magic numbers; clang lists the targets of some bundles."""
    bundler, files, bundles, read = clang.replace("clang", "clang-offload-bundler", 1), 0, 0, 0
    for path in libraries_with_code():
        code = rocm_sdk.device_code(path)
        own = [each for each in code.bundles if each.container == "bundle"]
        if not own:
            continue
        with path.open("rb") as file:
            for bundle in own:
                file.seek(bundle.offset)
                require(file.read(32).startswith(MAGIC), f"{path}: no bundle at byte {bundle.offset}")
            for bundle in dict.fromkeys([*own[:BIG_CODE], *own[-BIG_CODE:]]):
                file.seek(bundle.offset)
                (work / "bundle").write_bytes(file.read(bundle.size))
                listed = run(bundler, "--list", "--type=o", f"--input={work / 'bundle'}").split()
                said = {each.partition("--")[2] for each in listed if not each.startswith("host")}
                ours = {each.target for each in bundle.images}
                require(said == ours, f"{path} at byte {bundle.offset}: clang says {said}, we say {ours}")
                read += 1
        found = count_of_magic(path)
        require(found == len(own), f"{path}: {found} bundles are there, {len(own)} are listed")
        files, bundles = files + 1, bundles + len(own)
    require(files > 1, f"only {files} files have bundles")
    return f"{bundles} bundles in {files} files; clang lists the same targets in {read}"


def count_of_magic(path: Path) -> int:
    """Return the number of bundles of a file that are not compressed: these releases have no others."""
    count, before, chunk = 0, b"", 1 << 24
    with path.open("rb") as file:
        while data := file.read(chunk):
            whole = before + data
            count += whole.count(MAGIC)
            before = whole[-(len(MAGIC) - 1) :]
    return count


def smaller(work: Path) -> str:
    """Make libraries with the code of one GPU, rocBLAS with its data; the command loads each result itself."""
    shown = []
    for name in REWRITTEN:
        path = next((each for each in libraries_with_code() if each.name.startswith(name)), None)
        if path is None or not rocm_sdk.device_code(path).bundles:
            continue
        output = work / path.name
        said = run(COMMAND, "code", "--keep", "gfx1030", "--output", output, path)
        require("not loaded" not in said, said)
        shown.append(f"{path.name} {path.stat().st_size >> 20} -> {output.stat().st_size >> 20} MB")
        output.unlink()
    data = SITE / "_rocm_sdk_libraries/lib/rocblas"
    if data.is_dir():
        tree = work / "rocblas-with-data/lib"
        tree.mkdir(parents=True)
        library = next(each for each in libraries_with_code() if each.name.startswith("librocblas.so"))
        os.link(library, tree / library.name)
        shutil.copytree(data, tree / "rocblas", copy_function=os.link)
        said = run(COMMAND, "code", "--no-load", "--keep", "gfx1030", "--output", work / "less", tree.parent)
        require(len(said.splitlines()) < 60, f"{len(said.splitlines())} lines")
        require((work / "less/lib/rocblas").is_dir(), "the data directory is not in the copy")
        run(sys.executable, "-c", PRELOAD_AND_OPEN, work / "less/lib" / library.name)
        shown.append(f"rocBLAS with its data {size_of(tree) >> 20} -> {size_of(work / 'less') >> 20} MB")
        shutil.rmtree(work / "less")
    require(shown, "no library has code")
    return f"code --keep gfx1030: {', '.join(shown)}"


def size_of(tree: Path) -> int:
    return sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())


def check(name: str, function: Callable[[], str]) -> None:
    begin = perf_counter()
    try:
        said = function()
    except CheckFailedError as error:
        sys.exit(f"{name} FAILED: {error}")
    print(f"  {name:<12} {perf_counter() - begin:5.1f} s  {said}", flush=True)


def main(form: str, clang: str, directory: str) -> None:
    """Run the checks; end the process with status 1 at the first that fails."""
    work, source = Path(directory), Path.cwd()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    libc = ctypes.CDLL(None).gnu_get_libc_version
    libc.restype = ctypes.c_char_p
    print(f"SDK {rocm_sdk.__version__}, glibc {libc().decode()}, Python {sys.version.split()[0]}", flush=True)
    check("names", each_name)
    check("torch", names_of_torch)
    check("test", self_test)
    check("check-gpu", gpus)
    check("comgr", comgr)
    if form == "whole":
        check("cold", names_of_torch_cold)
        check("init", development)
        check("test --deep", lambda: self_test("--deep"))
        check("cmake", lambda: cmake(work))
        check("compile", lambda: compile_hip(work, clang))
        check("preload_for", lambda: preload_for(work))
        check("C library", lambda: c_library(source, work))
        check("code", lambda: code_as_clang_reads_it(work, clang))
        check("code --keep", lambda: smaller(work))
    shutil.rmtree(work)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The sample of closures: an installed SDK with libraries, GPU code, data and programs of every kind; applications.

The libraries are compiled for each test session; names and places are as in ROCm's packages.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from compiled_files import compile_file
from other_user import need_user_namespaces
from programs import completed
from sample_data_files import flat
from sample_device_code import bundle, library, objects
from sample_site import CORE, DIST_INFO, LIBRARIES, clean_environment, compile_library

from rocm_sdk.installed.record import Row, digest_text, record_text
from rocm_sdk_build.base.digest import sha256_of

VERSION = "7.10.0"
TARGETS = ("gfx1030", "gfx90a", "gfx942")
CODE_SIZE = 30_000
PROVED = "proved"  # a word for closure(): the proof takes longer than all else

_LIB = f"{LIBRARIES}/lib"
_OTHER_FILES = {
    f"{CORE}/__init__.py": "",
    f"{LIBRARIES}/__init__.py": "",
    "rocm_sdk_core/__init__.py": "",
    "rocm_sdk_core/_dist_info.py": DIST_INFO,
    "rocm_sdk_libraries/__init__.py": "",
    f"{CORE}/include/hip/hip_runtime.h": "int hipInit(unsigned);\n",
    f"{CORE}/lib/llvm/lib/clang/20/include/stddef.h": "#define NULL 0\n",
    f"{CORE}/lib/llvm/amdgcn/bitcode/ocml.bc": "BC",
    f"{CORE}/bin/rocminfo": "#!/bin/sh\n",
    f"{CORE}/bin/hipcc": "#!/bin/sh\n",
    f"{CORE}/share/doc/hip/LICENSE.md": "MIT\n",
    f"{LIBRARIES}/share/doc/rocsolver/LICENSE.md": "BSD\n",
    f"{LIBRARIES}/lib/cmake/rocblas/rocblas-config.cmake": "",
    f"{_LIB}/tuning.table": "a table of a kind that nobody knows",
    f"{_LIB}/libstatic.a": "!<arch>\n",
}
_METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: a sample
{requires}

# Text
"""
_ENTRY_POINTS = "[console_scripts]\nhipcc = rocm_sdk_core._cli:hipcc\nrocminfo = rocm_sdk_core._cli:rocminfo\n"


def code(*targets: str) -> list[bytes]:
    return [bundle(objects(*targets, size=CODE_SIZE))]


def write_sdk(site: Path) -> Path:
    """Write the SDK as an installer leaves it, and return the directory."""
    lib = site / _LIB
    core = site / CORE / "lib"
    for directory in (lib, core):
        directory.mkdir(parents=True)
    hsa = compile_library(core / "libhsa-runtime64.so.1", "libhsa-runtime64.so.1", "int hsa(void) { return 1; }")
    hip = "int hsa(void); int hipGetVersion(void) { return 6 + hsa(); }"
    compile_library(core / "libamdhip64.so.7", "libamdhip64.so.7", hip, (hsa,))
    compile_library(core / "libamd_comgr.so.3", "libamd_comgr.so.3", "int amd_comgr_get_version(void) { return 3; }")
    compile_library(lib / "librccl.so.1", "librccl.so.1", "int ncclInit(void) { return 0; }")
    needs = ("-Wl,--no-as-needed", core / "libamdhip64.so.7")
    _move(library(lib / "librocsparse.so.1", code(*TARGETS), *needs), lib)
    _move(library(lib / "librocsolver.so.0", code("gfx1030", "gfx90a"), *needs), lib)
    _move(library(lib / "libunused.so.1", code(*TARGETS)), lib)
    opens = '.section .rodata\n.asciz "librocsolver.so.0"\n'
    _move(library(lib / "librocblas.so.5", code(*TARGETS), *needs, more=opens), lib)
    sparse = "int sparse(void) { return 7; }"
    compile_library(lib / "libhipsparse.so.4", "libhipsparse.so.4", sparse, (lib / "librocsparse.so.1",))
    for name, content in flat(f"{_LIB}/rocblas/library").items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(content)
    for name, text in _OTHER_FILES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    for name in ("hipcc", "rocminfo"):
        (site / CORE / "bin" / name).chmod(0o755)
    (lib / "librocblas.so").symlink_to("librocblas.so.5")
    (lib / "libunused.so").symlink_to("libunused.so.1")
    write_distribution(site, "rocm-sdk-core", VERSION, (CORE, "rocm_sdk_core"), entry_points=_ENTRY_POINTS)
    write_distribution(
        site, "rocm-sdk-libraries", VERSION, (LIBRARIES, "rocm_sdk_libraries"), (f"rocm-sdk-core=={VERSION}",)
    )
    write_distribution(
        site, "rocm", VERSION, (), (f"rocm-sdk-core=={VERSION}", f"rocm-sdk-libraries=={VERSION}; extra == 'libraries'")
    )
    return site


def write_distribution(  # noqa: PLR0917
    site: Path,
    name: str,
    version: str,
    tops: tuple[str, ...],
    requires: tuple[str, ...] = (),
    entry_points: str = "",
) -> None:
    """Write the dist-info of the files in these directories."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    lines = "\n".join([*(f"Requires-Dist: {each}" for each in requires), "Provides-Extra: libraries"])
    (info / "METADATA").write_text(_METADATA.format(name=name, version=version, requires=lines), encoding="utf-8")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", encoding="utf-8")
    (info / "INSTALLER").write_text("pip\n", encoding="utf-8")
    if entry_points:
        (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    files = [path for top in (*tops, info.name) for path in (site / top).rglob("*") if path.is_file()]
    rows = [
        Row(str(path.relative_to(site)), digest_text(sha256_of(path)), str(path.stat().st_size))
        for path in sorted(files)
    ]
    scripts = [Row(f"../../../bin/{script}") for script in ("hipcc", "rocminfo") if entry_points]
    record = Row(f"{info.name}/RECORD")
    (info / "RECORD").write_text(record_text([*rows, *scripts, record]), encoding="utf-8")


def write_application(directory: Path, sdk: Path, *names: str) -> Path:
    """Compile an extension module of this Python, linked with the named libraries (file names) of the SDK."""
    import sysconfig

    directory.mkdir(parents=True, exist_ok=True)
    places = [next(sdk.rglob(name)) for name in names]
    path = directory / f"app{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = """
    #include <Python.h>
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "app", 0, -1, 0, 0, 0, 0, 0};
    PyMODINIT_FUNC PyInit_app(void) { return PyModule_Create(&definition); }
    """
    include = f"-I{sysconfig.get_path('include')}"
    words = ["cc", "-shared", "-fPIC", include, "-Wl,--no-as-needed,--allow-shlib-undefined"]
    return compile_file([*words, "-x", "c", "-", "-x", "none", *places], path, source)


def closure(sdk: Path, *words: str | Path, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `rocm-sdk-build closure WORDS` in an environment with the SDK; without the proof, unless PROVED is a word.

    The test is skipped where this user gets no namespaces for the proof.
    """
    if PROVED in words and os.geteuid() != 0:
        need_user_namespaces()
    done = completed(
        [sys.executable, "-m", "rocm_sdk_build", "closure", *_with_proof(words)],
        env=clean_environment() | {"PYTHONPATH": str(sdk)} | variables,
        timeout=300,
    )
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


def _with_proof(words: tuple[str | Path, ...]) -> list[str]:
    """Return the words, with --proof in the place of PROVED, and with --no-proof if no word is about the proof."""
    texts = [str(each) for each in words if each != PROVED]
    if PROVED in words:
        return ["--proof", *texts]
    return texts if any("-proof" in each for each in texts) else ["--no-proof", *texts]


def report(sdk: Path, *words: str | Path) -> dict[str, object]:
    """Return the report for programs."""
    document: dict[str, object] = json.loads(closure(sdk, "--json", *words).stdout)
    return document


def errors_of(site: Path) -> list[str]:
    """Return the errors of the self test with the SDK in a directory, except errors that real libraries do not have."""
    done = completed(
        [sys.executable, "-m", "rocm_sdk", "test", "--json"], env=clean_environment() | {"ROCM_SDK_ROOT": str(site)}
    )
    errors = [each for each in json.loads(done.stdout)["problems"] if each["severity"] == "error"]
    return [each["cause"] for each in errors if each["code"] != "E-API-003"]


def names_in(directory: Path) -> set[str]:
    """Return the names of all files and links below a directory."""
    return {name for _, _, names in os.walk(directory) for name in names}


def _move(path: Path, directory: Path) -> None:
    """Remove the bundles beside a library."""
    for scrap in directory.glob("*.bundle"):
        scrap.unlink()
    assert path.is_file()

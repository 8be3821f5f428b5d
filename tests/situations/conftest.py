"""Sound installations, which each test breaks, and what asks about them: commands, programs, another user."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from command_fixtures import call, script
from sample_device_code import code_object
from sample_hiprtc import hiprtc
from sample_prefix import Stage, sound_stage
from sample_report import install
from sample_site import CORE, LIBRARIES, Site, run_python
from sdk_environment import Environment, served
from situations import User
from stored_builds import stored
from waiting_programs import waiting_programs

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import write_sample_wheels

__all__ = ["call", "script"]

# ---- an SDK in a virtual environment

# A compiler that crashes without comgr, as HIP does, and writes 64 kB to a temporary file, a comgr, and a library that
# variables make fail, and that needs the same libraries of a system as ROCm's.
COMPILES = """
    extern char *getenv(const char *); extern int mkstemp(char *), close(int), unlink(const char *);
    extern long write(int, const void *, unsigned long); extern int snprintf(char *, unsigned long, const char *, ...);
    static char data[65536]; char name[4096];
    static const struct { const char *name; char number; } machines[] = {
        {"gfx1030", 0x36}, {"gfx1031", 0x37}, {"gfx1100", 0x41}, {"gfx1151", 0x4a}};
    for (int i = 0; i < count; i++) /* e_flags of its code object: the machine that it is for */
        for (int j = 0; j < 4; j++)
            if (__builtin_strstr(options[i], machines[j].name)) code[48] = machines[j].number;
    extern void *dlopen(const char *, int);
    if (!dlopen("libamd_comgr.so.3", 1)) __builtin_trap();
    const char *place = getenv("TMPDIR");
    if (getenv("HIP_CLANG_PATH") && getenv("COMPILER_PATH")) return 6;
    snprintf(name, sizeof name, "%s/comgr-XXXXXX", place != 0 ? place : "/tmp");
    int file = mkstemp(name);
    if (file < 0) return 6;
    long done = write(file, data, sizeof data);
    close(file); unlink(name);
    return done == sizeof data ? 0 : 6;
"""
FURTHER = {
    "libhiprtc.so.7": hiprtc(COMPILES, code_object(0x36, size=64)),
    "librocrand.so.1": """
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int rocrand_create_generator;
        static void need(const char *path) {
            int file = open(path, O_RDONLY);
            if (file < 0) { perror(path); _exit(1); }
            close(file);
        }
        __attribute__((constructor)) static void begin(void) {
            if (getenv("HSA_CRASHES")) abort();
            void *space = getenv("NEEDS_SPACE") ? mmap(0, 1 << 30, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : 0;
            if (space == MAP_FAILED) { perror("librocrand"); _exit(1); }
            need("/dev/null"); need("/proc/self/maps"); need("/sys/devices");
        }
    """,
    "libamd_comgr.so.3": "int amd_comgr_get_version;",
}


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with served(tmp_path_factory.mktemp("index"), FURTHER) as index:
        yield Environment(tmp_path_factory.mktemp("situations"), "uv", index)


@pytest.fixture
def user(sound: Environment) -> User:
    sound.set_back()
    return User(sound)


@pytest.fixture(scope="session")
def without_rpaths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """Yield an environment whose libraries do not find each other by themselves, as in some distributions."""
    with served(tmp_path_factory.mktemp("index"), FURTHER, has_rpaths=False) as index:
        yield Environment(tmp_path_factory.mktemp("without-rpaths"), "uv", index)


@pytest.fixture
def user_without_rpaths(without_rpaths: Environment) -> User:
    without_rpaths.set_back()
    return User(without_rpaths)


# ---- a site-packages directory, without an environment


@pytest.fixture
def linked_site(tmp_path: Path) -> Site:
    """Return a site-packages directory whose libraries find each other by RPATH, as AMD's do."""
    return Site(tmp_path / "site-packages", rpath="rpath")


@pytest.fixture
def sdk(linked_site: Site) -> Site:
    """Return an SDK of three libraries that find each other, with the metadata of their packages."""
    hip = linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }")
    sparse = linked_site.library("librocsparse.so.1", "int rocsparse_create_handle;", (hip,), LIBRARIES)
    linked_site.library("libhipsparse.so.1", "int hipsparseCreate;", (sparse,), LIBRARIES)
    linked_site.write(f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": "gfx942;gfx1100"}')
    install(linked_site)
    return linked_site


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Return a sound ROCm below a staging directory."""
    return sound_stage(tmp_path / "stage")


@pytest.fixture(scope="session")
def pristine_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample SDK as pip installs it; not to be changed."""
    return stored(tmp_path_factory.mktemp("sample") / "site-packages", "the sample SDK", install_sample)


def install_sample(target: Path) -> None:
    wheels = [path for path in write_sample_wheels(Shape.RPATH, target.parent / "wheels") if path.suffix == ".whl"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), *map(str, wheels)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def sample(pristine_sample: Path, tmp_path: Path) -> Path:
    """Return a copy of the sample SDK."""
    return Path(shutil.copytree(pristine_sample, tmp_path / "site-packages", symlinks=True))


# ---- what asks

_TRY = """
import json, warnings
import rocm_sdk
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        {statement}
    except rocm_sdk.RocmSdkError as error:
        print(json.dumps([type(error).__name__, error.code, error.message, error.fix or ""]))
    else:
        print(json.dumps(["", "", "; ".join(str(each.message) for each in caught), ""]))
"""


class Outcome(NamedTuple):
    """The outcome of a call of the API."""

    error: str  # its class; "" if the call went well
    code: str
    message: str  # of the error; else of the warnings
    fix: str


@pytest.fixture
def attempt() -> Callable[..., Outcome]:
    """Return a function that calls a function of `rocm_sdk` in a fresh process.

    The call is a text, as "initialize_process(preload_shortnames=['amdhip64'])"; keywords are environment variables.
    """

    def run(site: Site, call: str, **environment: str) -> Outcome:
        variables = {"PYTHONPATH": str(site.path)} | environment
        result = run_python(_TRY.format(statement=f"rocm_sdk.{call}"), **variables)
        return Outcome(*json.loads(result.stdout.splitlines()[-1]))

    return run


@pytest.fixture(scope="session")
def c_program() -> Path:
    """Return tests/embed/preload_from_c.c as a compiled program, which knows nothing of Python."""
    root, path = Path(__file__).resolve().parents[2], "build/c/gcc/tests/embed/preload_from_c"
    subprocess.run(["make", "-C", str(root), "VARIANT=gcc", path], check=True, capture_output=True)
    return root / path


@pytest.fixture
def program() -> Iterator[Callable[..., int]]:
    """Yield a function that starts Python code, which goes on until the end of the test.

    The function returns the process, once the code has said that it is ready.
    """
    with waiting_programs() as start:
        yield start

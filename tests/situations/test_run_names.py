"""24, 28, 34 to 36: programs that open a name without version find it in `rocm-sdk run` as after initialize_process."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from compiled_files import compile_file
from ended import succeeded
from other_user import USER, OtherUser
from programs import completed
from sample_site import LIBRARIES, Site, clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Result = subprocess.CompletedProcess[str]
Run = Callable[..., Result]
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        int mode = RTLD_NOW;
        if (strncmp(words[i], "noload:", 7) == 0) { mode |= RTLD_NOLOAD; words[i] += 7; }
        void *found = dlopen(words[i], mode);
        int (*answer)(void) = found ? (int (*)(void))dlsym(found, "answer") : 0;
        printf("%d\\n", answer ? answer() : 0);
        if (!found) fprintf(stderr, "%s\\n", dlerror());
    }
}
"""


@pytest.fixture
def sdk(site: Site) -> Site:
    """Return an SDK in which no file has a name without version.

    The library libamd_smi needs a private library by its RPATH, and RCCL needs HIP.
    """
    drm = site.library("librocm_sysdeps_drm.so.2", "int drm(void) { return 2; }", directory="lib/rocm_sysdeps/lib")
    flags = ("-Wl,-rpath,$ORIGIN/rocm_sysdeps/lib",)
    site.library("libamd_smi.so.26", "int drm(void); int answer(void) { return 40 + drm(); }", (drm,), flags=flags)
    site.library("librocm_smi64.so.1", "int answer(void) { return 64; }")
    hip = site.library("libamdhip64.so.7", "int answer(void) { return 7; }")
    flags = ("-Wl,-rpath,$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib",)
    site.library(
        "librccl.so.1", "int drm(void); int answer(void) { return 10 + drm(); }", (hip, drm), LIBRARIES, flags=flags
    )
    return site


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program that opens each of its arguments, and prints the answer of each."""
    return compile_file(["cc", "-x", "c", "-"], tmp_path / "opens", PROGRAM)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Yield the directory of temporary files, which is empty when the run has ended."""
    made = tmp_path / "temporary"
    made.mkdir()
    yield made
    assert_emptied(made)


@pytest.fixture
def run(sdk: Site, place: Path) -> Run:
    """Return a function that runs `rocm-sdk run` with the words; keywords are environment variables."""

    def call(*words: str | Path, **environment: str) -> Result:
        return completed([SCRIPT, "run", *words], env=variables(sdk, place) | environment)

    return call


def variables(sdk: Site, place: Path) -> dict[str, str]:
    """Return the environment of a run."""
    return clean_environment() | {"PYTHONPATH": str(sdk.path), "TMPDIR": str(place)}


def assert_emptied(directory: Path) -> None:
    """Check that a directory becomes empty.

    The process that removes the links has a moment after the program's end.
    """
    end = time.monotonic() + 20
    while list(directory.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert list(directory.iterdir()) == []


def test_names_are_found(run: Run, program: Path) -> None:
    names = ("libamd_smi.so", "librocm_smi64.so", "libamdhip64.so", "librccl.so")
    result = run(program, *names)
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n64\n7\n12\n", "")
    assert run("--watch", "20", program, *names).stdout == "42\n64\n7\n12\n"


def test_one_library_under_both_names(run: Run, program: Path) -> None:
    """In either order; a name of what is loaded is found without loading, as Triton's Proton and its kernels ask."""
    assert run(program, "libamdhip64.so.7", "noload:libamdhip64.so").stdout == "7\n7\n"
    assert run(program, "libamdhip64.so", "noload:libamdhip64.so.7").stdout == "7\n7\n"
    assert run(program, "noload:libamdhip64.so").stdout == "0\n"


def test_python_that_uses_the_loader_too(run: Run) -> None:
    code = """
import ctypes, warnings, rocm_sdk
warnings.simplefilter("error")
first = ctypes.CDLL("libamd_smi.so")
rocm_sdk.initialize_process(preload_shortnames=["amd_smi"])
print(first.answer(), ctypes.CDLL("libamd_smi.so").answer())
with open("/proc/self/maps") as maps:
    print(len({line.split()[4] for line in maps if "libamd_smi" in line}))
"""
    result = run(sys.executable, "-c", code)
    assert (result.stdout, result.stderr) == ("42 42\n1\n", "")


def test_the_packages_stay_as_they_are(sdk: Site, run: Run, program: Path) -> None:
    before = {path: path.lstat().st_mtime_ns for path in sdk.path.rglob("*")}
    assert run(program, "libamd_smi.so").stdout == "42\n"
    assert {path: path.lstat().st_mtime_ns for path in sdk.path.rglob("*") if "__pycache__" not in str(path)} == {
        path: time for path, time in before.items() if "__pycache__" not in str(path)
    }


def test_another_user_who_may_not_write(sdk: Site, program: Path, other_user: OtherUser, open_directory: Path) -> None:
    """The site-packages are root's, and the links are the user's."""
    shutil.copytree(sdk.path, open_directory / "site")
    shutil.copy(program, open_directory / "opens")
    own = open_directory / "own"
    own.mkdir()
    os.chown(own, USER, USER)
    words = ("-m", "rocm_sdk", "run", open_directory / "opens", "libamd_smi.so")
    result = other_user.run(*words, PYTHONPATH=str(open_directory / "site"), TMPDIR=str(own))
    assert (result.stdout, result.stderr) == ("42\n", "")
    assert_emptied(own)


def test_the_program_has_no_child_and_its_own_descriptors(run: Run) -> None:
    code = 'read -r all < /proc/$$/task/$$/children; echo "[$all]" $(ls -l /proc/$$/fd | grep -c -e pidfd -e lock)'
    assert run("sh", "-c", code).stdout == "[] 0\n"


def test_removed_however_it_ends(sdk: Site, place: Path) -> None:
    for ending in (signal.SIGKILL, signal.SIGTERM):
        command = [SCRIPT, "run", "sh", "-c", "echo $LD_LIBRARY_PATH; exec sleep 60"]
        with subprocess.Popen(command, env=variables(sdk, place), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            links = [Path(each) for each in process.stdout.readline().strip().split(":") if str(place) in each]
            assert links
            assert all((each.stat().st_mode & 0o077) == 0 for each in links)
            process.send_signal(ending)
        assert_emptied(place)


def test_the_process_that_removes_is_killed(sdk: Site, place: Path) -> None:
    """The next run removes what it has left."""
    command = [SCRIPT, "run", "sh", "-c", "echo; exec sleep 60"]
    with subprocess.Popen(command, env=variables(sdk, place), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(keeper_of(place), signal.SIGKILL)
        process.kill()
    assert list(place.iterdir())
    succeeded([SCRIPT, "run", "true"], env=variables(sdk, place))


def keeper_of(place: Path) -> int:
    """Return the process that has locked the directory of links."""
    lock = next(place.glob("rocm-sdk-run-*/lock")).stat().st_ino
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[4]) for line in lines if line.split()[5].endswith(f":{lock}"))


@pytest.mark.parametrize("kind", ["colon", "open to all", "relative", "absent", "file", "foreign"])
def test_a_tmpdir_that_cannot_be_used(run: Run, program: Path, tmp_path: Path, kind: str) -> None:
    """The links lie elsewhere: nobody else can put a library into their place."""
    place = tmp_path / ("with:colon" if kind == "colon" else "odd")
    if kind == "file":
        place.touch()
    elif kind != "absent":
        place.mkdir()
    if kind == "open to all":
        place.chmod(0o777)
    if kind == "foreign":
        os.chown(place, 12345, 12345)
    own = tmp_path / "runtime"
    own.mkdir()
    named = "odd" if kind == "relative" else str(place)
    result = run(program, "libamd_smi.so", TMPDIR=named, XDG_RUNTIME_DIR=str(own))
    assert (result.stdout, result.stderr) == ("42\n", "")
    shown = run("printenv", "LD_LIBRARY_PATH", TMPDIR=named, XDG_RUNTIME_DIR=str(own)).stdout
    assert f":{own}/rocm-sdk-run-" in shown
    assert_emptied(own)
    assert kind in {"absent", "file"} or list(place.iterdir()) == []


def test_all_names_where_the_user_wants_all(sdk: Site, run: Run, program: Path) -> None:
    sdk.library("librocjpeg.so.0", "int answer(void) { return 9; }")
    assert run(program, "librocjpeg.so").stdout == "0\n"
    assert run(program, "librocjpeg.so", "libamd_smi.so", ROCM_SDK_UNVERSIONED_NAMES="1").stdout == "9\n42\n"


def test_a_filter_of_system_calls_or_an_old_kernel(sdk: Site, place: Path, program: Path) -> None:
    """Without pidfd_open, the keeper looks at the program from time to time."""
    code = "import os; del os.pidfd_open; import rocm_sdk.cli; rocm_sdk.cli.main(['run', *os.environ['WORDS'].split()])"
    environment = variables(sdk, place) | {"WORDS": f"{program} libamd_smi.so"}
    python = Path(sysconfig.get_path("scripts"), "python")
    assert succeeded([python, "-c", code], env=environment).stdout == "42\n"

"""24, 28, 34 to 36: programs that open a name without version find it in `rocm-sdk run` as after initialize_process."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from compiled_files import compile_file
from ended import succeeded
from other_user import USER, OtherUser
from own_mounts import need_mounts
from programs import completed
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")


class Run(NamedTuple):
    """`rocm-sdk run` with the words; keywords are further environment variables."""

    environment: dict[str, str]

    def __call__(self, *words: str | Path, **further: str) -> subprocess.CompletedProcess[str]:
        return self.started((), *words, **further)

    def started(self, before: Sequence[str], *words: str | Path, **further: str) -> subprocess.CompletedProcess[str]:
        return completed([*before, SCRIPT, "run", *words], env=self.environment | further)


SYSDEPS = "-Wl,-rpath,$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib"
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
    smi = "int drm(void); int answer(void) { return 40 + drm(); }"
    site.library("libamd_smi.so.26", smi, (drm,), flags=(SYSDEPS,))
    site.library("librocm_smi64.so.1", "int answer(void) { return 64; }")
    hip = site.library("libamdhip64.so.7", "int answer(void) { return 7; }")
    rccl = "int drm(void); int answer(void) { return 10 + drm(); }"
    site.library("librccl.so.1", rccl, (hip, drm), LIBRARIES, flags=(SYSDEPS,))
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
    return Run(variables(sdk, place))


def variables(sdk: Site, place: Path) -> dict[str, str]:
    return clean_environment() | {"PYTHONPATH": str(sdk.path), "TMPDIR": str(place)}


def assert_emptied(directory: Path) -> None:
    """Check that a directory becomes empty: what removes the links has a moment after the program's end."""
    end = time.monotonic() + 20
    while list(directory.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert list(directory.iterdir()) == []


def test_names_are_found(run: Run, program: Path) -> None:
    """One library under both names, in either order; a name of what is loaded is found without loading."""
    names = ("libamd_smi.so", "librocm_smi64.so", "libamdhip64.so", "librccl.so")
    result = run(program, *names)
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n64\n7\n12\n", "")
    assert run("--watch", "20", program, *names).stdout == "42\n64\n7\n12\n"
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
    def times() -> dict[Path, int]:
        return {path: path.lstat().st_mtime_ns for path in sdk.path.rglob("*") if "__pycache__" not in str(path)}

    before = times()
    assert (run(program, "libamd_smi.so").stdout, times() == before) == ("42\n", True)


@pytest.mark.slow
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
            assert links and all((each.stat().st_mode & 0o077) == 0 for each in links)
            process.send_signal(ending)
        assert_emptied(place)


def test_the_process_that_removes_is_killed(sdk: Site, place: Path) -> None:
    """The next run removes what it has left."""
    command = [SCRIPT, "run", "sh", "-c", "echo; exec sleep 60"]
    with subprocess.Popen(command, env=variables(sdk, place), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        lock = next(place.glob("rocm-sdk-run-*/lock")).stat().st_ino
        held = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
        os.kill(next(int(words[4]) for words in held if words[5].endswith(f":{lock}")), signal.SIGKILL)
        process.kill()
    assert list(place.iterdir())
    succeeded([SCRIPT, "run", "true"], env=variables(sdk, place))


GROUP = ("of the user's group", "of root's group", "with an ACL", "below one of a group")


@pytest.mark.parametrize("kind", ["colon", "open to all", "relative", "absent", "file", "foreign", *GROUP])
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
    if kind in GROUP:
        # as root:users 0775 with a user of the group users; an ACL shows its mask in the place of the group's rights
        os.chown(place, 0, 0 if kind == "of root's group" else os.getegid())
        place.chmod(0o770 if kind == "with an ACL" else 0o775)
    if kind == "below one of a group":
        place /= "private"
        place.mkdir(0o700)
    own = tmp_path / "runtime"
    own.mkdir()
    where = {"TMPDIR": "odd" if kind == "relative" else str(place), "XDG_RUNTIME_DIR": str(own)}
    result = run(program, "libamd_smi.so", **where)
    assert (result.stdout, result.stderr) == ("42\n", "")
    assert f":{own}/rocm-sdk-run-" in run("printenv", "LD_LIBRARY_PATH", **where).stdout
    assert_emptied(own)
    assert kind in {"absent", "file"} or list(place.iterdir()) == []


def test_nowhere(sdk: Site, program: Path, other_user: OtherUser, open_directory: Path) -> None:
    """Where no place is the user's own, the lines that are printed make one."""
    shutil.copytree(sdk.path, open_directory / "site")
    shutil.copy(program, open_directory / "opens")
    home, team = open_directory / "home", open_directory / "team"
    for each, mode in ((home, 0o755), (team, 0o775)):
        each.mkdir()
        os.chown(each, USER, USER)
        each.chmod(mode)
    code = "import sys, rocm_sdk.base.own_place as place; place.FURTHER_PLACES = (); import rocm_sdk.cli"
    words = ("run", str(open_directory / "opens"), "libamd_smi.so")
    ask = f"{code}; sys.exit(rocm_sdk.cli.main({words!r}))"
    where = {"PYTHONPATH": str(open_directory / "site"), "HOME": str(home)}
    result = other_user.run("-c", ask, TMPDIR=str(team), **where)
    assert f"({team}: others can replace what is in {team})" in result.stderr
    fix = result.stderr.rpartition("fix: ")[2].splitlines()[0]
    assert fix == "mkdir -m 700 -p ~/tmp && export TMPDIR=~/tmp"
    repaired = other_user.run("-c", ask, before=("sh", "-c", f'{fix} && exec "$@"', "sh"), **where)
    assert (repaired.stdout, repaired.stderr) == ("42\n", "")
    (home / "tmp").chmod(0o777)
    fix = other_user.run("-c", ask, TMPDIR=str(team), **where).stderr.rpartition("fix: ")[2].splitlines()[0]
    repaired = other_user.run("-c", ask, before=("sh", "-c", f'{fix} && exec "$@"', "sh"), **where)
    assert (repaired.stdout, repaired.stderr) == ("42\n", "")


@pytest.mark.parametrize("number", range(5, 12))
def test_few_descriptors(run: Run, program: Path, number: int) -> None:
    """The links are there, or the cause is told; TMPDIR is none."""
    few = run.started(["sh", "-c", f'ulimit -n {number}; exec "$@"', "sh"], program, "libamd_smi.so")
    assert few.stdout == "42\n" or "Too many open files" in few.stderr, few.stderr
    assert "TMPDIR" not in few.stderr and "killed" not in few.stderr
    run("true")  # removes what a process without a free descriptor has left


# The files of the tests may be in /dev/shm.
WITHOUT_DEV = "mount --bind /dev/shm /mnt && mount -t tmpfs none /dev && mkdir /dev/shm && mount --bind /mnt /dev/shm"


@pytest.mark.parametrize("hiding", ["mount -t tmpfs none /proc", WITHOUT_DEV], ids=["/proc", "/dev"])
def test_a_system_without(run: Run, program: Path, hiding: str) -> None:
    need_mounts()
    words = ["unshare", "--mount", "sh", "-c", f'{hiding} && exec "$@"', "sh"]
    result = run.started(words, program, "libamd_smi.so")
    assert (result.stdout, result.stderr) == ("42\n", "")


def test_no_further_process(run: Run, program: Path) -> None:
    """A limit of processes, or a filter: it is told, and no directory is to blame."""
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=clone,clone3,fork,vfork:error=EAGAIN"]
    result = run.started(strace, program, "libamd_smi.so")
    assert "(no process can be started: Resource temporarily unavailable)" in result.stderr
    assert "fix:" not in result.stderr and result.stdout == "0\n"


def test_no_path(run: Run) -> None:
    """A container or `env -i` may set none: programs have the default one, as without this command."""
    result = run.started(["env", "-u", "PATH"], "sh", "-c", "ls -d /")
    assert (result.returncode, result.stdout, result.stderr) == (0, "/\n", "")


def test_the_names_that_a_user_wants(sdk: Site, run: Run, program: Path) -> None:
    """None, all, or what a file has already."""
    assert run(program, "libamd_smi.so", ROCM_SDK_UNVERSIONED_NAMES="0").stdout == "0\n"
    sdk.library("librocjpeg.so.0", "int answer(void) { return 9; }")
    assert run(program, "librocjpeg.so").stdout == "0\n"
    assert run(program, "librocjpeg.so", "libamd_smi.so", ROCM_SDK_UNVERSIONED_NAMES="1").stdout == "9\n42\n"
    for path in [*sdk.path.glob("_rocm_sdk_*/lib/*.so.*")]:
        path.with_name(path.name.partition(".so")[0] + ".so").symlink_to(path.name)
    assert "rocm-sdk-run" not in run("printenv", "LD_LIBRARY_PATH").stdout


def test_a_filter_of_system_calls_or_an_old_kernel(sdk: Site, place: Path, program: Path) -> None:
    """Without pidfd_open, the keeper looks at the program from time to time."""
    code = "import os; del os.pidfd_open; import rocm_sdk.cli; rocm_sdk.cli.main(['run', *os.environ['WORDS'].split()])"
    environment = variables(sdk, place) | {"WORDS": f"{program} libamd_smi.so"}
    python = Path(sysconfig.get_path("scripts"), "python")
    assert succeeded([python, "-c", code], env=environment).stdout == "42\n"


# ---- each library directory of each package counts, last, and none with copies of what a system has


@pytest.fixture
def call(site: Site) -> Callable[..., str]:
    """Return a function that runs the command, and returns its status and the text of both streams."""
    site.library("libamdhip64.so.7", "int hip(void) { return 7; }")

    def run(*words: str | Path, **environment: str) -> str:
        result = completed([SCRIPT, *words], env=clean_environment() | {"PYTHONPATH": str(site.path)} | environment)
        return f"{result.returncode} {result.stdout}{result.stderr}"

    return run


PROFILER = "_rocm_profiler"
PRINTS = '#include <stdio.h>\nint answer(void);\nint main(void) { printf("%d\\n", answer()); }'


def needing(library: Path, path: Path, *flags: str) -> Path:
    """Compile a program that needs a library."""
    words = ["cc", "-x", "c", "-", "-x", "none", "-Wl,--allow-shlib-undefined", library, *flags]
    return compile_file(words, path, PRINTS)


def gives(number: int) -> str:
    return f"int answer(void) {{ return {number}; }}"


@pytest.mark.parametrize(
    ("package", "directory"),
    [
        (PROFILER, "lib"),
        (PROFILER, "lib/rocprofiler-systems"),
        ("_rocm_sdk_device_gfx1100", "lib"),
        (CORE, "lib/host-math/lib"),
        (LIBRARIES, "lib/hipdnn_plugins/engines"),
    ],
)
def test_a_library_of_another_package(
    site: Site, call: Callable[..., str], tmp_path: Path, package: str, directory: str
) -> None:
    library = site.library("librocthing.so.1", gives(42), (), package, directory)
    program = needing(library, tmp_path / "program")
    assert call("run", program) == "0 42\n"
    assert "loads in `rocm-sdk run`; alone it does not find librocthing.so.1" in call("check", program)
    source = "int answer(void); int own(void) { return answer(); }"
    extension = str(compile_library(tmp_path / "extension.so", None, source, (library,)))
    code = f"import ctypes, rocm_sdk; rocm_sdk.preload_for({extension!r}); print(ctypes.CDLL({extension!r}).own())"
    assert site.output(code) == "42", "in a process that calls rocm_sdk"
    second = site.library("librocuser.so.1", gives(43), (library,), PROFILER)
    assert call("run", needing(second, tmp_path / "user")) == "0 43\n", "what that needs, in turn"


def test_which_package_counts(site: Site, call: Callable[..., str], tmp_path: Path) -> None:
    """Core's library is not hidden by another package's, nor by a copy among the tools of one.

    A private library that nothing else has was built against, and works; the development tree is no other package.
    """
    library = site.library("librocthing.so.1", gives(42))
    site.library("librocthing.so.1", gives(1), (), PROFILER)
    site.library("librocthing.so.1", gives(2), (), PROFILER, "lib/rocprofiler-systems")
    assert call("run", needing(library, tmp_path / "program")) == "0 42\n"
    llvm = site.library("libLLVM.so.20.0", gives(43), (), CORE, "lib/llvm/lib")
    assert call("run", needing(llvm, tmp_path / "tool")) == "0 43\n"
    devel = site.library("librocdevel.so.1", gives(44), (), "_rocm_sdk_devel")
    assert call("run", needing(devel, tmp_path / "other")).startswith("127 ")


@pytest.mark.parametrize("place", ["lib/llvm/lib", "lib/rocm_sysdeps/lib"])
def test_copies_of_what_a_system_has_are_for_the_sdk(
    site: Site, call: Callable[..., str], tmp_path: Path, place: str
) -> None:
    """No program gets another libLLVM, libomp or libelf than it would by itself."""
    for name in ("libLLVM.so.20.0", "libomp.so", "librocm_sysdeps_liblzma.so.5"):
        site.library(name, gives(1), (), CORE, place)
    assert place not in call("run", "printenv", "LD_LIBRARY_PATH")
    own = compile_library(tmp_path / "libomp.so", "libomp.so", gives(42))
    assert call("run", needing(own, tmp_path / "program"), LD_LIBRARY_PATH=str(tmp_path)) == "0 42\n"
    assert call("run", needing(own, tmp_path / "with-runpath", "-Wl,-rpath,$ORIGIN")) == "0 42\n"

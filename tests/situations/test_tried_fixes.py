"""Fixes that change names are tried in a copy before they are shown; --prove tries all. The original stays."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from of_python import links_to_cache
from other_user import USER, OtherUser
from programs import completed
from sample_site import CORE, compile_library
from sdk_environment import Environment
from situations import HIP, User

from rocm_sdk.base.starting import own_code, run
from rocm_sdk.doctor.proving.fixes import Proof
from rocm_sdk.doctor.proving.overlay_process import Plan
from rocm_sdk.doctor.proving.places import places_of
from rocm_sdk.doctor.recorder import Options
from rocm_sdk.installed.view import current
from rocm_sdk.problems.problem import in_general

_LEFTOVER = "_rocm_sdk_libraries_gfx90a"
# A user namespace that refuses any further mount namespace.
_REFUSING = ["unshare", "--user", "--map-root-user", "bash", "-c"]
_REFUSE = 'echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$0" "$@"'


def _works(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _is_root_a_mount() -> bool:
    """Return whether the root is a mount: in a chroot it is none, and then nothing can make it read-only."""
    return any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())


has_overlays = pytest.mark.skipif(
    not _is_root_a_mount() or not _works("unshare", "--mount", "true"),
    reason="the root is no mount point (a chroot), or this system refuses mount namespaces",
)
has_user_namespaces = pytest.mark.skipif(
    not _works(*_REFUSING, "true"), reason="this system refuses user namespaces, as in a chroot"
)


def _leave_over(environment: Environment, name: str = _LEFTOVER) -> Path:
    path = environment.site / name
    (path / "lib").mkdir(parents=True)
    (path / "lib/kernels.dat").write_text("data")
    return path


def _names(environment: Environment) -> dict[str, tuple[int, ...]]:
    return places_of(str(environment.site))._replace(changed=(str(environment.root),)).survey()


def _asked(environment: Environment, *before: str) -> dict[str, Any]:
    """Return the report of `rocm-sdk test` on the left directory; `before` is a command that starts the test."""
    result = completed(
        [*before, str(environment.python), "-m", "rocm_sdk", "test", "--json"],
        env=environment.variables | {"PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
    )
    return _of_leftover(result.stdout)


def _of_leftover(output: str) -> dict[str, Any]:
    problems = json.loads(output)["problems"]
    (found,) = (each for each in problems if each["code"] == "W-PKG-007")
    return dict(found)


@has_overlays
def test_a_deletion_is_tried_in_an_overlay(user: User) -> None:
    path = _leave_over(user.environment)
    before = _names(user.environment)
    found = _asked(user.environment)
    assert found["fix"] == f"rm -r {path}"
    assert found["tried"] == "in a copy: the problem is gone; libraries that load: 7"
    assert _names(user.environment) == before


@has_overlays
@pytest.mark.parametrize("name", ["_rocm_sdk_a && b", "_rocm_sdk_$(touch x)'\"", "_rocm_sdk_#c"])
def test_names_that_a_shell_would_read_otherwise(user: User, name: str) -> None:
    _leave_over(user.environment, name)
    found = _asked(user.environment)
    assert found["tried"] == "in a copy: the problem is gone; libraries that load: 7"


@has_overlays
def test_the_removal_before_an_installation(user: User) -> None:
    path = user.environment.site / HIP
    path.unlink()
    os.mkfifo(path)
    (found,) = user.environment.test("--only", "E-FILE-009")
    assert found["fix"].startswith(f"mv {path} {path}.rocm-sdk-old && uv pip install ")
    assert found["fix"].endswith(f" && rm {path}.rocm-sdk-old")
    assert found["tried"] == "in a copy: after it, libraries that load: 1; no more was tried"
    (explained,) = json.loads(user.environment.run("rocm-sdk explain E-FILE-009 --json"))["here"]
    assert (explained["fix"], explained["tried"]) == (found["fix"], found["tried"])


@has_user_namespaces
def test_where_no_overlay_can_be_made(user: User) -> None:
    """A deletion that was not tried is no command."""
    path = _leave_over(user.environment)
    found = _asked(user.environment, *_REFUSING, _REFUSE)
    assert str(path) in found["fix"] and not found["fix"].startswith("rm")
    assert "removing it was not tried: this system refuses" in found["fix"]
    assert (path / "lib/kernels.dat").read_text() == "data"


@pytest.fixture
def readable(user: User) -> Iterator[Environment]:
    """Yield an environment that every user reads."""
    closed = {each: each.stat().st_mode for each in user.environment.root.parents if not each.stat().st_mode & 0o5}
    for each in closed:
        each.chmod(0o755)
    yield user.environment
    for each, mode in closed.items():
        each.chmod(mode)


@has_user_namespaces
@pytest.mark.parametrize("is_owner", [True, False], ids=["his own", "of root"])
def test_a_user_without_rights(readable: Environment, other_user: OtherUser, *, is_owner: bool) -> None:
    path = _leave_over(readable)
    if is_owner:
        subprocess.run(["chown", "-R", f"{USER}:{USER}", readable.site], check=True)
    ended = other_user.run("-m", "rocm_sdk", "test", "--json", PYTHONPATH=str(readable.site))
    found = _of_leftover(ended.stdout)
    if is_owner:
        assert found["tried"] == "in a copy: the problem is gone; libraries that load: 7"
    else:
        assert found["fix"].startswith(f"Find out who needs {path}")
        assert "removing it fails here: rm: cannot remove" in found["fix"]
    assert (path / "lib/kernels.dat").read_text() == "data"


@pytest.mark.parametrize(
    ("name", "mode", "right"),
    [(HIP, 0, "a+r"), (f"{CORE}/bin/rocm-smi", 0o644, "a+rx")],
    ids=["unreadable", "not executable"],
)
def test_the_mode_of_another_users_file(
    readable: Environment, other_user: OtherUser, name: str, mode: int, right: str
) -> None:
    """The owner of the file can change it, this user cannot."""
    path = readable.site / name
    path.chmod(mode)
    ended = other_user.run("-m", "rocm_sdk", "test", "--json", PYTHONPATH=str(readable.site))
    fixes = [each["fix"] for each in json.loads(ended.stdout)["problems"] if each["path"] == str(path)]
    assert fixes == [f"Run as root: chmod {right} {path}"]


@has_overlays
def test_what_would_do_harm_is_no_fix(user: User) -> None:
    """A library of the package needs data of the directory that nobody owns."""
    environment = user.environment
    path = _leave_over(environment)
    source = f"""
        #include <stdlib.h>
        #include <unistd.h>
        __attribute__((constructor)) static void begin(void) {{
            if (access("{path}/lib/kernels.dat", R_OK) != 0) abort();
        }}
    """
    compile_library(environment.site / CORE / "lib/librocrand.so.1", "librocrand.so.1", source)
    found = _asked(environment)
    assert found["tried"] is None
    assert found["fix"].startswith(f"Find out who needs {path}")
    assert "in a copy without it, 6 libraries load instead of 7" in found["fix"]
    assert (path / "lib/kernels.dat").exists()


@has_overlays
def test_what_leaves_another_problem_is_no_fix(user: User) -> None:
    """A program of a package is a link into the directory that nobody owns."""
    environment = user.environment
    path = _leave_over(environment)
    program = environment.root / "bin/rocm-smi"
    program.rename(path / "lib/rocm-smi")
    program.symlink_to(path / "lib/rocm-smi")
    found = _asked(environment)
    assert found["tried"] is None
    assert found["fix"].startswith(f"Find out who needs {path}")
    assert f"in a copy without it, there is another problem: E-FILE-009 {program}" in found["fix"]


@pytest.fixture
def place_of_others() -> Iterator[Path]:
    """Yield a directory on another file system than the root's."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or not memory.is_mount():
        pytest.skip("no file system is mounted at /dev/shm, or it cannot be written to")
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        yield Path(directory)


@has_overlays
def test_other_file_systems_cannot_be_changed(tmp_path: Path, place_of_others: Path) -> None:
    """A fix that a user types can do it; one that is tried cannot."""
    changed, scratch = tmp_path / "changed", tmp_path / "scratch"
    for each in (changed, scratch):
        each.mkdir()
    plan = Plan(
        parent=os.getpid(),
        scratch=str(scratch),
        room=1 << 20,
        directories=(str(changed),),
        has_network=False,
        variables={},
        command=("/bin/sh", "-c", f"touch {changed}/new && ls {changed} && touch {place_of_others}/new"),
    )
    done = run(
        own_code("from rocm_sdk.doctor.proving.overlay_process import main; main()"), given=json.dumps(plan._asdict())
    )
    assert done.stdout == "new\n", done.stderr
    assert done.returncode == 1
    assert "Read-only file system" in done.stderr
    assert [*place_of_others.iterdir(), *changed.iterdir()] == []


@has_overlays
def test_nothing_stays_of_a_killed_test(user: User) -> None:
    """The kernel ends what runs in the copy; the next test removes what was written for it."""
    environment = user.environment
    _leave_over(environment)
    hang = "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { if (getpid() < 100) pause(); }"
    compile_library(environment.site / CORE / "lib/librocrand.so.1", "librocrand.so.1", hang)
    scratch = environment.root.parent / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [str(environment.python), "-m", "rocm_sdk", "test", "--json", "--only", "W-PKG-007"],
        env=environment.variables | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
    )
    while not _mentions(str(scratch)):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    (out,) = (process.stdout,)
    assert out is not None
    out.close()
    end = time.monotonic() + 10
    while _mentions(str(scratch)):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert str(scratch) not in Path("/proc/self/mountinfo").read_text()
    assert len(list(scratch.iterdir())) == 1
    (environment.site / CORE / "lib/librocrand.so.1").unlink()
    environment.test("--only", "W-PKG-007", TMPDIR=str(scratch))
    assert list(scratch.iterdir()) == []


def _mentions(place: str) -> bool:
    """Return whether a process has a mount at a place."""
    for path in Path("/proc").glob("[0-9]*/mountinfo"):
        with suppress(OSError):
            if place in path.read_text():
                return True
    return False


def _proved(environment: Environment, *words: str) -> tuple[dict[str, str], str]:
    """Return the results of --prove, by code, and its messages beside the report."""
    result = completed(
        [str(environment.python), "-m", "rocm_sdk", "test", "--json", *words],
        env=environment.variables | {"PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
    )
    return {each["code"]: each["tried"] for each in json.loads(result.stdout)["problems"]}, result.stderr


@has_overlays
def test_all_fixes_are_tried(user: User) -> None:
    """By the cache of the installer alone, then by the network."""
    environment = user.environment
    (environment.site / HIP).unlink()
    before = _names(environment)
    tried, said = _proved(environment, "--prove")
    assert tried["E-FILE-001"] == "in a copy: the problem is gone; libraries that load: 7 (1 before)"
    assert "each fix is tried in a copy of" in said
    assert "; a copy takes up to " in said
    assert "the original is as it was" in said
    environment.variables["UV_CACHE_DIR"] = "/nowhere/cache"
    try:
        tried, _ = _proved(environment, "--prove")
        assert tried["E-FILE-001"].startswith("in a copy it fails (without a network; --prove=network has it): ")
        tried, _ = _proved(environment, "--prove=network")
        assert tried["E-FILE-001"] == "in a copy: the problem is gone; libraries that load: 7 (1 before)"
    finally:
        environment.variables["UV_CACHE_DIR"] = str(environment.root.parent / "uv-cache")
    assert _names(environment) == before


@has_overlays
def test_a_fix_that_helps_is_shown_when_it_was_tried(user: User) -> None:
    (user.environment.site / HIP).unlink()
    (untried,) = user.environment.test()
    (tried,) = user.environment.test("--prove")
    assert tried["fix"] == untried["fix"]
    assert (untried["tried"], tried["tried"][:9]) == (None, "in a copy")


def test_without_room_a_fix_is_shown_untried() -> None:
    proof = Proof(current(), Options(), has_network=False)
    proof._bytes = 1 << 62
    found = in_general("E-FILE-001")._replace(fix="rm file")
    told = proof.tried(found)
    assert told.fix == found.fix
    assert str(told.tried).startswith("not tried: ")
    assert str(told.tried).endswith(", and a copy may take 4611686018.4 GB")


@has_overlays
def test_where_no_sdk_is(user: User) -> None:
    """The copy has the problem that the installation has."""
    user.environment.uninstall("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm")
    tried, _ = _proved(user.environment, "--prove=network")
    assert tried["E-PKG-001"].startswith("in a copy")


@has_overlays
def test_a_variable_and_a_deed(user: User) -> None:
    environment = user.environment
    (environment.site / CORE / "lib/mine").touch()
    environment.variables["HSA_CRASHES"] = "1"
    try:
        tried, _ = _proved(environment, "--prove")
    finally:
        del environment.variables["HSA_CRASHES"]
    assert tried["E-ENV-010"] == "in a copy: the problem is gone; libraries that load: 7 (6 before)"
    assert tried["W-PKG-019"] is None  # its fix is a deed


def test_a_fix_that_changes_the_system_is_not_tried() -> None:
    installation = current()
    proof = Proof(installation, Options(), has_network=False)
    found = in_general("E-GPU-003")._replace(fix="sudo usermod -a -G render $USER")
    assert proof.tried(found).tried == "not tried: it changes more than this environment"


@has_overlays
def test_a_move_is_tried(user: User) -> None:
    """The directory is larger than the room that the overlay has."""
    place = user.environment.site / CORE
    cache = place / "__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "large.pyc").write_bytes(bytes(70 << 20))
    other = place.with_name("_rocm_sdk_core.old")
    place.rename(other)
    (found,) = user.environment.test()
    assert found["fix"] == f"mv {other} {place}"
    assert found["tried"] == "in a copy: the problem is gone; libraries that load: 7 (6 before)"
    assert other.is_dir()


@has_overlays
def test_links_are_removed_in_a_copy(user: User) -> None:
    """An installer's cache was emptied, to which all files were links."""
    links_to_cache(user.environment)
    shutil.rmtree(user.environment.root / "cache")
    (found,) = user.environment.test()
    assert found["fix"].startswith("find ")
    assert found["tried"].startswith("in a copy: without it, libraries that load: ")
    assert found["tried"].endswith("; no more was tried")


# pyenv's: after pip has run, it writes the shims anew, and fails if it cannot.
_SHIM = """#!/bin/sh
"{python}" -m pip "$@" || exit
temporary="$PYENV_ROOT/shims/.pyenv-shim"
(set -C; echo >"$temporary") || {{ echo "pyenv: cannot rehash: $PYENV_ROOT/shims isn't writable" >&2; exit 1; }}
rm "$temporary"
"""


@has_overlays
def test_shims_of_pyenv(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fix is not blamed for what pyenv does after it: it writes into a copy of its own directory."""
    environment = user.environment
    shims = environment.root.parent / "pyenv/shims"
    shims.mkdir(parents=True)
    (shims / "pip").write_text(_SHIM.format(python=sys.executable))
    (shims / "pip").chmod(0o755)
    (environment.site / HIP).unlink()
    path = os.pathsep.join([str(shims), str(environment.python.parent), "/usr/bin", "/bin"])  # without uv
    monkeypatch.setitem(environment.variables, "PATH", path)
    monkeypatch.setitem(environment.variables, "PYENV_ROOT", str(shims.parent))
    (found,) = environment.test("--only", "E-FILE-001")
    assert f"pip --python {environment.python} install " in found["fix"]
    tried, _ = _proved(environment, "--prove=network")
    assert tried["E-FILE-001"] == "in a copy: the problem is gone; libraries that load: 7 (1 before)"
    assert [each.name for each in shims.iterdir()] == ["pip"]

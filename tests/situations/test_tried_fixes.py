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

from rocm_sdk.base.processes import own_code, run
from rocm_sdk.doctor.proofs.fixes import Proof
from rocm_sdk.doctor.proofs.overlay_process import Plan
from rocm_sdk.doctor.proofs.places import places_of
from rocm_sdk.doctor.recorder import Options
from rocm_sdk.installed.view import current
from rocm_sdk.problems.problem import in_general

pytestmark = pytest.mark.slow

_LEFTOVER = "_rocm_sdk_libraries_gfx90a"
# A user namespace that refuses any further mount namespace.
_REFUSING = ["unshare", "--user", "--map-root-user", "bash", "-c"]
_REFUSE = 'echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$0" "$@"'
_GONE = "in a copy: the problem is gone; libraries that load: 7"


def _works(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


has_overlays = pytest.mark.skipif(
    not _works("unshare", "--mount", "--propagation", "unchanged", "true"),
    reason="this system refuses mount namespaces",
)
has_user_namespaces = pytest.mark.skipif(
    not _works(*_REFUSING, "true"), reason="this system refuses user namespaces, as in a chroot"
)


@pytest.fixture
def environment(user: User) -> Environment:
    return user.environment


def _leave_over(environment: Environment, name: str = _LEFTOVER) -> Path:
    path = environment.site / name
    (path / "lib").mkdir(parents=True)
    (path / "lib/kernels.dat").write_text("data")
    return path


def _names(environment: Environment) -> dict[str, tuple[int, ...]]:
    return places_of(str(environment.site))._replace(changed=(str(environment.root),)).survey()


def _asked(environment: Environment, *before: str) -> dict[str, Any]:
    """Return the report of `rocm-sdk test` on the left directory; `before` is a command that starts the test."""
    command = [*before, str(environment.python), "-m", "rocm_sdk", "test", "--json"]
    variables = environment.variables | {"PYTHONDONTWRITEBYTECODE": "1"}
    return _of_leftover(completed(command, env=variables, timeout=120).stdout)


def _of_leftover(output: str) -> dict[str, Any]:
    (found,) = (each for each in json.loads(output)["problems"] if each["code"] == "W-PKG-007")
    return dict(found)


@has_overlays
@pytest.mark.parametrize(
    "name",
    [_LEFTOVER, "_rocm_sdk_a && b", "_rocm_sdk_$(touch x)'\"", "_rocm_sdk_#c"],
    ids=["plain", "and", "quotes", "comment"],
)
def test_a_deletion_is_tried_in_an_overlay(environment: Environment, name: str) -> None:
    """Also of names that a shell would read otherwise."""
    path = _leave_over(environment, name)
    before = _names(environment)
    found = _asked(environment)
    assert (found["tried"], _names(environment) == before) == (_GONE, True)
    assert name != _LEFTOVER or found["fix"] == f"rm -r {path}"


@has_overlays
def test_the_removal_before_an_installation(environment: Environment) -> None:
    path = environment.site / HIP
    path.unlink()
    os.mkfifo(path)
    (found,) = environment.test("--only", "E-FILE-009")
    assert found["fix"].startswith(f"mv {path} {path}.rocm-sdk-old && uv pip install ")
    assert found["fix"].endswith(f" && rm {path}.rocm-sdk-old")
    assert found["tried"] == "in a copy: after it, libraries that load: 1; no more was tried"
    (explained,) = json.loads(environment.run("rocm-sdk explain E-FILE-009 --json"))["here"]
    assert (explained["fix"], explained["tried"]) == (found["fix"], found["tried"])


@has_user_namespaces
def test_where_no_overlay_can_be_made(environment: Environment) -> None:
    """A deletion that was not tried is no command."""
    path = _leave_over(environment)
    found = _asked(environment, *_REFUSING, _REFUSE)
    assert str(path) in found["fix"] and not found["fix"].startswith("rm")
    assert "removing it was not tried: this system refuses" in found["fix"]
    assert (path / "lib/kernels.dat").read_text() == "data"


# ---- another user


@pytest.fixture
def readable(environment: Environment) -> Environment:
    """Return an environment that every user reads; its directories stay open, as other workers use them."""
    for each in environment.root.parents:
        if not each.stat().st_mode & 0o5:
            each.chmod(0o755)
    return environment


@has_user_namespaces
@pytest.mark.parametrize("is_owner", [True, False], ids=["his own", "of root"])
def test_a_user_without_rights(readable: Environment, other_user: OtherUser, *, is_owner: bool) -> None:
    path = _leave_over(readable)
    if is_owner:
        subprocess.run(["chown", "-R", f"{USER}:{USER}", readable.site], check=True)
    found = _of_leftover(other_user.run("-m", "rocm_sdk", "test", "--json", PYTHONPATH=str(readable.site)).stdout)
    if is_owner:
        assert found["tried"] == _GONE, found["fix"]
    else:
        assert found["fix"].startswith(f"Find out who needs {path}")
        assert "removing it fails here: rm: cannot remove" in found["fix"]
    assert (path / "lib/kernels.dat").read_text() == "data"


def test_the_mode_of_another_users_file(readable: Environment, other_user: OtherUser) -> None:
    """The owner of the file can change it, this user cannot."""
    rights = {HIP: (0, "a+r"), f"{CORE}/bin/rocm-smi": (0o644, "a+rx")}
    for name, (mode, _) in rights.items():
        (readable.site / name).chmod(mode)
    ended = other_user.run("-m", "rocm_sdk", "test", "--json", PYTHONPATH=str(readable.site))
    fixes = {each["path"]: each["fix"] for each in json.loads(ended.stdout)["problems"]}
    for name, (_, right) in rights.items():
        path = str(readable.site / name)
        assert fixes[path] == f"Run as root: chmod {right} {path}"


# ---- what would do harm is no fix


@has_overlays
def test_a_library_that_needs_what_would_go(environment: Environment) -> None:
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
    assert (found["tried"], (path / "lib/kernels.dat").exists()) == (None, True)
    assert found["fix"].startswith(f"Find out who needs {path}")
    assert "in a copy without it, 6 libraries load instead of 7" in found["fix"]


@has_overlays
def test_what_leaves_another_problem_is_no_fix(environment: Environment) -> None:
    """A program of a package is a link into the directory that nobody owns."""
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
    command = ("/bin/sh", "-c", f"touch {changed}/new && ls {changed} && touch {place_of_others}/new")
    plan = Plan(os.getpid(), str(scratch), 1 << 20, (str(changed),), has_network=False, variables={}, command=command)
    code = "from rocm_sdk.doctor.proofs.overlay_process import main; main()"
    done = run(own_code(code), given=json.dumps(plan._asdict()))
    assert (done.stdout, done.returncode) == ("new\n", 1), done.stderr
    assert "Read-only file system" in done.stderr
    assert [*place_of_others.iterdir(), *changed.iterdir()] == []


@has_overlays
def test_nothing_stays_of_a_killed_test(environment: Environment) -> None:
    """The kernel ends what runs in the copy; the next test removes what was written for it."""
    _leave_over(environment)
    hang = "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { if (getpid() < 100) pause(); }"
    library = compile_library(environment.site / CORE / "lib/librocrand.so.1", "librocrand.so.1", hang)
    scratch = environment.root.parent / "scratch"
    scratch.mkdir()
    command = [str(environment.python), "-m", "rocm_sdk", "test", "--json", "--only", "W-PKG-007"]
    variables = environment.variables | {"TMPDIR": str(scratch)}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE) as process:
        while not _mentions(str(scratch)):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    end = time.monotonic() + 10
    while _mentions(str(scratch)):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert str(scratch) not in Path("/proc/self/mountinfo").read_text()
    assert len(list(scratch.iterdir())) == 1
    library.unlink()
    environment.test("--only", "W-PKG-007", TMPDIR=str(scratch))
    assert list(scratch.iterdir()) == []


def _mentions(place: str) -> bool:
    """Return whether a process has a mount at a place."""
    for path in Path("/proc").glob("[0-9]*/mountinfo"):
        with suppress(OSError):
            if place in path.read_text():
                return True
    return False


# ---- --prove


def _proved(environment: Environment, *words: str, **variables: str) -> tuple[dict[str, str], str]:
    """Return the results of --prove, by code, and its messages beside the report."""
    command = [str(environment.python), "-m", "rocm_sdk", "test", "--json", *words]
    variables = environment.variables | {"PYTHONDONTWRITEBYTECODE": "1"} | variables
    result = completed(command, env=variables, timeout=120)
    return {each["code"]: each["tried"] for each in json.loads(result.stdout)["problems"]}, result.stderr


@has_overlays
def test_all_fixes_are_tried(environment: Environment) -> None:
    """By the cache of the installer alone, then by the network. What helps is shown as it was."""
    (environment.site / HIP).unlink()
    (untried,) = environment.test()
    (shown,) = environment.test("--prove")
    assert (shown["fix"], untried["tried"]) == (untried["fix"], None)
    before = _names(environment)
    tried, said = _proved(environment, "--prove")
    assert tried["E-FILE-001"] == f"{_GONE} (1 before)"
    for words in ("each fix is tried in a copy of", "; a copy takes up to ", "the original is as it was"):
        assert words in said
    none = {"UV_CACHE_DIR": "/nowhere/cache"}
    tried, _ = _proved(environment, "--prove", **none)
    assert tried["E-FILE-001"].startswith("in a copy it fails (without a network; --prove=network has it): ")
    tried, _ = _proved(environment, "--prove=network", **none)
    assert (tried["E-FILE-001"], _names(environment) == before) == (f"{_GONE} (1 before)", True)


def test_fixes_that_are_not_tried() -> None:
    proof = Proof(current(), Options(), has_network=False)
    found = in_general("E-GPU-003")._replace(fix="sudo usermod -a -G render $USER", is_command=True)
    assert proof.tried(found).tried == "not tried: it changes more than this environment"
    proof._bytes = 1 << 62
    found = in_general("E-FILE-001")._replace(fix="rm file", is_command=True)
    told = proof.tried(found)
    assert (told.fix, str(told.tried)[:11]) == (found.fix, "not tried: ")
    assert str(told.tried).endswith(", and a copy may take 4611686018.4 GB")


@has_overlays
def test_where_no_sdk_is(environment: Environment) -> None:
    """The copy has the problem that the installation has."""
    environment.uninstall("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm")
    assert _proved(environment, "--prove=network")[0]["E-PKG-001"].startswith("in a copy")


@has_overlays
def test_a_variable_and_a_deed(environment: Environment) -> None:
    (environment.site / CORE / "lib/mine").touch()
    tried, _ = _proved(environment, "--prove", HSA_CRASHES="1")
    assert (tried["E-ENV-010"], tried["W-PKG-019"]) == (f"{_GONE} (6 before)", None)


@has_overlays
def test_a_move_is_tried(environment: Environment) -> None:
    """The directory is larger than the room that the overlay has."""
    place = environment.site / CORE
    (place / "__pycache__").mkdir(exist_ok=True)
    (place / "__pycache__/large.pyc").write_bytes(bytes(70 << 20))
    other = place.with_name("_rocm_sdk_core.old")
    place.rename(other)
    (found,) = environment.test()
    assert (found["fix"], found["tried"]) == (f"mv {other} {place}", f"{_GONE} (6 before)")
    assert other.is_dir()


@has_overlays
def test_links_are_removed_in_a_copy(environment: Environment) -> None:
    """An installer's cache was emptied, to which all files were links."""
    links_to_cache(environment)
    shutil.rmtree(environment.root / "cache")
    (found,) = environment.test()
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
def test_shims_of_pyenv(environment: Environment) -> None:
    """A fix is not blamed for what pyenv does after it: it writes into a copy of its own directory."""
    shims = environment.root.parent / "pyenv/shims"
    shims.mkdir(parents=True)
    (shims / "pip").write_text(_SHIM.format(python=sys.executable))
    (shims / "pip").chmod(0o755)
    (environment.site / HIP).unlink()
    path = os.pathsep.join([str(shims), str(environment.python.parent), "/usr/bin", "/bin"])  # without uv
    variables = {"PATH": path, "PYENV_ROOT": str(shims.parent)}
    (found,) = environment.test("--only", "E-FILE-001", **variables)
    assert f"pip --python {environment.python} install " in found["fix"]
    tried, _ = _proved(environment, "--prove=network", **variables)
    assert tried["E-FILE-001"] == f"{_GONE} (1 before)"
    assert [each.name for each in shims.iterdir()] == ["pip"]

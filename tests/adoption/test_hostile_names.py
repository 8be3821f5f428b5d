"""Names of kept files and of RECORD that lead elsewhere; what killed calls leave."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ended import assert_failed, assert_refused
from system_programs import need

ROCM = "rocm[libraries]==7.10.0"
OURS = "rocm-sdk-loader"

# Environment is a class of conftest.py, which tests cannot import.
Environment = Any


@pytest.fixture
def both(make_environment: Callable[..., Environment]) -> Environment:
    """Return an environment with `rocm` and ours, which overwrote files of `rocm`."""
    environment = make_environment("uv")
    for requirement in (OURS, ROCM):
        environment.install(requirement)
    return environment


@pytest.mark.parametrize(
    "name",
    [
        "..%2F..%2Fvictim",
        "%2Ftmp%2Frocm-sdk-victim",
        "..%2Fbin%2Frocm-sdk",
        "rocm_sdk%2F..%2F..%2Fvictim",
        "a%2F%2Fb",
        "a/b",
        "%61",
    ],
)
def test_kept_names_that_lead_elsewhere(both: Environment, name: str) -> None:
    both.adopt()
    (kept,) = both.site.glob("rocm-*.dist-info/adopted")
    (kept / name).parent.mkdir(exist_ok=True)
    (kept / name).write_text("evil")
    victims = [(both.site / "../..").resolve() / "victim", both.site.parent / "victim"]
    for victim in victims:
        victim.write_text("mine")
    before = both.files()
    assert_refused(both.adopt("--undo"), 1, "is not a file that an adoption keeps or replaces")
    assert both.files() == before
    assert [victim.read_text() for victim in victims] == ["mine", "mine"]


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_a_kept_file_that_is_none(both: Environment, kind: str) -> None:
    both.adopt()
    (kept,) = both.site.glob("rocm-*.dist-info/adopted")
    path = kept / "rocm_sdk%2F__init__.py"
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to("/etc/passwd")
    elif kind == "pipe":
        subprocess.run(["mkfifo", str(path)], check=True)
    else:
        path.mkdir()
    before = both.files()
    assert_failed(both.adopt("--undo"), 1, "is not a file that an adoption keeps")
    assert both.files() == before


def test_a_partial_file_that_is_a_link(both: Environment) -> None:
    """The link is replaced, and nothing is written through it."""
    victim = both.directory / "victim"
    victim.write_text("mine")
    (both.site / "rocm_sdk/__init__.py.adopting").symlink_to(victim)
    assert both.adopt().returncode == 0
    assert victim.read_text() == "mine"
    assert not list(both.directory.rglob("*.adopting"))


def test_a_directory_that_is_a_link(both: Environment) -> None:
    both.adopt()
    outside = both.directory / "outside"
    (both.site / "rocm_sdk").rename(outside)
    (both.site / "rocm_sdk").symlink_to(outside)

    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in outside.rglob("*.py")}

    before = content()
    assert_failed(both.adopt("--undo"), 1, "rocm_sdk")
    assert content() == before


@pytest.mark.slow
def test_killed_and_undone(both: Environment) -> None:
    """Wherever an adoption was killed, undoing it leaves what was there before, and nothing of it."""
    need("strace")
    before = both.files()
    begin = both.directory.with_name("begin")
    shutil.copytree(both.directory, begin, symlinks=True)
    for number in range(1, 40):
        kill = f"inject=rename,renameat,renameat2:signal=SIGKILL:when={number}"
        adoption = [str(both.python), "-B", "-m", "rocm_sdk.adoption"]
        run = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", kill, *adoption], check=False, stdout=-3)
        was_killed = run.returncode in {-9, 137}
        undone = both.adopt("--undo")
        assert undone.returncode == 0, undone.stderr
        assert [path.name for path in both.directory.rglob("*.adopting")] == [], f"killed at rename {number}"
        assert not list(both.site.glob("rocm-*.dist-info/adopted"))
        if not was_killed:
            after = both.files()
            differing = {name for name in after.keys() | before.keys() if after.get(name) != before.get(name)}
            names = {"RECORD", "RECORD.whole", "entry_points.txt", "entry_points.whole"}
            assert {name.rpartition("/")[2] for name in differing} == names
            assert all("/rocm_sdk_loader-" in name for name in differing)
            return
        shutil.rmtree(both.directory)
        shutil.copytree(begin, both.directory, symlinks=True)
    raise AssertionError("it never ended")


def test_no_file_of_ours_is_named(tmp_path: Path) -> None:
    """A name with characters of a pattern names one file."""
    from rocm_sdk.adoption.adopt import _remove_compiled

    cache = tmp_path / "a/__pycache__"
    cache.mkdir(parents=True)
    (cache / "b.cpython-312.pyc").touch()
    (cache / "*.cpython-312.pyc").touch()
    _remove_compiled(tmp_path, "a/*.py")
    assert [path.name for path in cache.iterdir()] == ["b.cpython-312.pyc"]

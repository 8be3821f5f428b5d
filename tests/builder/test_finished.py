"""Finished work of killed runs: the next run uses it where that can be proven, and scratch directories go."""

import fcntl
import logging
import os
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from artifact_tree import ArtifactTree, usual_tree
from installed_rocm import usual_rocm

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.building import prefix as prefix_build
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.finished import Keys
from rocm_sdk_build.packages.wish import Wish

VERSION = "7.10.0"
CORE = "rocm_sdk_core"


def make_old_tree(root: Path) -> ArtifactTree:
    """Make a tree whose files are so old that they are known by their times.

    A need of a library is absent, so that no build ends.
    """
    tree = usual_tree(root)
    gone = tree.library("blas_lib_generic", "lib/libgone.so.1", "libgone.so.1")
    tree.library("blas_lib_generic", "lib/libneeds.so.1", "libneeds.so.1", flags=("-Wl,--no-as-needed", str(gone)))
    gone.unlink()
    time.sleep(2.1)
    return tree


def build_in_vain(tree: ArtifactTree, output: Path) -> None:
    with pytest.raises(PackagingError, match="libgone"):
        build(Wish([tree.root], output, VERSION), read_rules())
    assert sorted(path.name for path in output.iterdir()) == [".rocm-sdk-finished"]


@pytest.fixture(scope="module")
def old_tree(tmp_path_factory: pytest.TempPathFactory) -> ArtifactTree:
    return make_old_tree(tmp_path_factory.mktemp("old") / "artifacts")


@pytest.fixture(scope="module")
def unfinished(old_tree: ArtifactTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the output of a build that did not end."""
    output = tmp_path_factory.mktemp("unfinished")
    build_in_vain(old_tree, output)
    return output


@pytest.fixture
def output(unfinished: Path, tmp_path: Path) -> Path:
    """Return a copy of the unfinished output."""
    shutil.copytree(unfinished / ".rocm-sdk-finished", tmp_path / ".rocm-sdk-finished")
    return tmp_path


def rebuild(
    tree: ArtifactTree, output: Path, caplog: pytest.LogCaptureFixture, version: str = VERSION, deflate: bool = True
) -> set[str]:
    """Build again, and return the names of the wheels that an earlier run has made."""
    caplog.clear()
    with caplog.at_level(logging.INFO):
        build(Wish([tree.root], output, version, is_checked=False, deflate=deflate), read_rules())
    return {text.partition("-")[0] for text in caplog.messages if text.endswith("an earlier run has made it")}


@pytest.mark.slow
def test_the_next_run_takes_what_is_finished(
    old_tree: ArtifactTree, output: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = rebuild(old_tree, output, caplog)
    assert len(found) == 6
    assert not (output / ".rocm-sdk-finished").exists()
    made = {path.name: path.read_bytes() for path in (output / "dist").iterdir()}
    assert rebuild(old_tree, output, caplog) == set()
    assert {path.name: path.read_bytes() for path in (output / "dist").iterdir()} == made


SCRIPT = """
import logging, sys
from pathlib import Path
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.packages.wish import Wish
from rocm_sdk_build.inputs.rules import read_rules
logging.basicConfig(format="%(message)s", level=logging.INFO)
build(Wish([Path(sys.argv[1])], Path(sys.argv[2]), sys.argv[3], is_checked=False), read_rules())
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_in_another_process(old_tree: ArtifactTree, output: Path, seed: str) -> None:
    """The order of sets, which differs between processes, does not matter."""
    command = [sys.executable, "-c", SCRIPT, str(old_tree.root), str(output), VERSION]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
    assert told.count("an earlier run has made it") == 6, told


@pytest.mark.slow
def test_other_wishes_make_other_wheels(old_tree: ArtifactTree, output: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert rebuild(old_tree, output, caplog, version="7.10.1") == set()
    assert not (output / ".rocm-sdk-finished").exists()


def test_stored_wheels_are_others(old_tree: ArtifactTree, output: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert rebuild(old_tree, output, caplog, deflate=False) == set()


@pytest.mark.slow
def test_a_file_that_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of the same size, and with the time that it had."""
    tree, output = make_old_tree(tmp_path / "artifacts"), tmp_path / "output"
    build_in_vain(tree, output)
    path = tree.root / "base_run_generic/x/stage/bin/rocm_agent_enumerator"
    facts, text = path.stat(), path.read_text()
    path.write_text(text.replace("gfx942", "gfx950"))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    found = rebuild(tree, output, caplog)
    assert (CORE in found, "rocm_sdk_devel" in found, len(found)) == (False, False, 4), "both name the artifact"


def test_a_file_in_place_of_another(tmp_path: Path) -> None:
    """Of the same content, size, mode and dates: its inode differs, or the time of its last change."""
    path, keys = tmp_path / "input", Keys(None)
    path.write_text("content")
    os.utime(path, (1, 1))
    time.sleep(2.1)
    before = path.stat()
    key = keys.of((), [path])
    assert key is not None
    assert key == Keys(None).of((), [path])
    with path.open("r+") as file:
        file.write("changed")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert keys.of((), [path]) is None, "it has changed just now"
    time.sleep(2.1)
    changed = keys.of((), [path])
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert changed not in (None, key), "only the time of its last change differs"


@pytest.mark.parametrize("fact", ["st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns"])
def test_each_fact_of_a_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fact: str) -> None:
    """All others can be equal: times, where a clock is coarse."""
    path = tmp_path / "input"
    path.write_text("content")
    names = ("st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns")
    facts = {name: getattr(path.stat(), name) for name in names}

    def of(value: int) -> str | None:
        found = SimpleNamespace(**{**facts, "st_mtime": 1.0, "st_ctime": 1.0, fact: value})
        monkeypatch.setattr(Path, "stat", lambda _: found)
        return Keys(None).of((), [path])

    assert of(1) == of(1) != of(2)


def test_a_written_file_counts_by_its_content_and_mode(tmp_path: Path) -> None:
    """Neither its place in the directory of the run nor a date: those differ from run to run."""
    keys = []
    for name, content, mode in (("a", "x", 0o644), ("b", "x", 0o644), ("c", "y", 0o644), ("d", "x", 0o755)):
        path = tmp_path / name / "file"
        path.parent.mkdir()
        path.write_text(content)
        path.chmod(mode)
        keys.append(Keys(path.parent).of(str(path), [path]))
    assert keys[0] == keys[1]
    assert len({None, *keys}) == 4


def test_the_date_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also whether it is given: the bill of materials says it then."""
    keys = []
    for date in ("", "315532800", "1700000000"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
        keys.append(Keys(None).of((), []))
    assert len({None, *keys}) == 4


def test_a_file_that_is_dated_ahead(tmp_path: Path) -> None:
    """By a machine whose clock is: it may change again without getting another date."""
    path = tmp_path / "input"
    path.write_text("content")
    os.utime(path, (time.time() + 3600,) * 2)
    time.sleep(2.1)
    assert Keys(None).of((), [path]) is None
    os.utime(path, (1, 1))
    time.sleep(2.1)
    assert Keys(None).of((), [path]) is not None


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"families": "gfx90a,gfx1030"}])
def test_a_prefix(tmp_path: Path, caplog: pytest.LogCaptureFixture, options: dict[str, Any]) -> None:
    """Of which each run writes files anew: its texts, what it says of itself, libraries for a family."""
    rocm = usual_rocm(tmp_path / "rocm")
    gone = rocm.library("lib/libgone.so.1.1")
    rocm.library("lib/librocsolver.so.0.1", gone)
    for path in gone.parent.glob("libgone.so*"):
        path.unlink()
    time.sleep(2.1)
    wish = Wish([rocm.root], tmp_path / "output", VERSION)
    with pytest.raises(PackagingError, match="libgone"):
        prefix_build.build(prefix_build.PrefixWish(wish, **options), read_rules())
    store = tmp_path / "output/.rocm-sdk-finished"
    shutil.copytree(store, tmp_path / "changed/.rocm-sdk-finished")
    assert rebuild_prefix(wish, caplog, options) == len(list((tmp_path / "output/dist").rglob("*.whl"))) >= 4
    package = rocm.root / "lib/cmake/hip/hip-config.cmake"
    package.write_text(package.read_text().replace('"x"', '"y"'))
    time.sleep(2.1)
    output = tmp_path / "changed"
    made = rebuild_prefix(wish._replace(output=output), caplog, options)
    wheels = list((output / "dist").rglob("*.whl"))
    development = [path for path in wheels if path.name.startswith("rocm_sdk_devel-")]
    assert made == len(wheels) - len(development) < len(wheels)


def rebuild_prefix(wish: Wish, caplog: pytest.LogCaptureFixture, options: dict[str, Any]) -> int:
    """Build again, and return the number of wheels that an earlier run has made."""
    caplog.clear()
    with caplog.at_level(logging.INFO):
        prefix_build.build(prefix_build.PrefixWish(wish._replace(is_checked=False), **options), read_rules())
    return sum(text.endswith("an earlier run has made it") for text in caplog.messages)


def test_what_is_not_ours_is_neither_used_nor_removed(
    old_tree: ArtifactTree, output: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = output / ".rocm-sdk-finished"
    first, second, third, *_ = wheels = sorted(store.iterdir())
    data = first.read_bytes()
    first.unlink()
    first.write_bytes(data[:-1] + b"x")
    second.rename(output / "elsewhere.whl")
    second.symlink_to(output / "elsewhere.whl")
    third.unlink()
    os.mkfifo(third)
    (store / "note").write_text("of somebody else")
    assert len(rebuild(old_tree, output, caplog)) == len(wheels) - 3
    told = "\n".join(caplog.messages)
    for path in (first, second, third):
        assert f"{path}: is not what an earlier run left, and is not used" in told
    assert {path.name for path in store.iterdir()} == {first.name, second.name, third.name, "note"}
    assert (output / "elsewhere.whl").exists()


@pytest.mark.parametrize("what", ["link", "open to all", "of another user", "a file"])
def test_a_place_that_is_not_ours(
    old_tree: ArtifactTree, output: Path, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    store = output / ".rocm-sdk-finished"
    names = {path.name for path in store.iterdir()}
    if what == "link":
        store.rename(output / "elsewhere")
        store.symlink_to("elsewhere")
    elif what == "a file":
        shutil.rmtree(store)
        store.write_text("")
    elif what == "of another user":
        os.chown(store, 12345, 12345)
    else:
        store.chmod(0o777)
    assert rebuild(old_tree, output, caplog) == set()
    why = {"of another user": "it belongs to user 12345", "open to all": "others than its owner may write to it"}
    told = f"{store}: is not used: {why.get(what, 'it is not a directory')}; "
    assert any(message.startswith(told) for message in caplog.messages)
    assert store.is_file() if what == "a file" else {path.name for path in store.iterdir()} == names


# ---- scratch directories


@pytest.mark.slow
def test_scratch_directories_at_once(tmp_path: Path) -> None:
    """Each run looks for directories that nobody uses, while the others make and remove theirs."""

    def use(_: int) -> None:
        with scratch_directory(tmp_path) as own:
            (own / "file").touch()

    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(use, range(400)))) == 400
    assert list(tmp_path.iterdir()) == []


def test_scratch_directories_that_nobody_uses_go(tmp_path: Path) -> None:
    script = "import sys, os; from pathlib import Path; from rocm_sdk_build.base.scratch import scratch_directory\n"
    script += "with scratch_directory(Path(sys.argv[1])) as d: (d / 'x').mkdir(); print(d, flush=True); input()"
    command = [sys.executable, "-c", script, str(tmp_path)]
    runs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    places = [Path(run.stdout.readline().strip()) for run in runs]  # type: ignore[union-attr]
    runs[0].kill()
    runs[0].communicate()
    other = tmp_path / ".rocm-sdk-build-other"
    other.mkdir()
    (other / "lock").write_text("the lock of another program\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(places[1] / "lock", outside / "lock")
    (tmp_path / ".rocm-sdk-build-link").symlink_to(outside)
    for name, content in (("empty", None), ("new", ""), ("unmarked", "")):
        place = tmp_path / f".rocm-sdk-build-{name}"
        place.mkdir()
        if content is not None:
            (place / "lock").write_text(content)
    unmarked = tmp_path / ".rocm-sdk-build-unmarked"
    (unmarked / "file").write_text("of somebody else")
    linked = tmp_path / ".rocm-sdk-build-linked"
    linked.mkdir()
    (linked / "lock").symlink_to(outside / "lock")
    device = tmp_path / ".rocm-sdk-build-device"
    device.mkdir()
    if os.geteuid() == 0:
        os.mknod(device / "lock", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        os.mkfifo(device / "lock")
    with scratch_directory(tmp_path) as own:
        kept = {path.name for path in tmp_path.iterdir()}
        with (own / "lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    names = {path.name for path in (own, places[1], other, outside, unmarked, linked, device)}
    assert kept == names | {".rocm-sdk-build-link"}
    assert (outside / "lock").exists()
    assert not own.exists()
    runs[1].communicate("\n")
    assert not places[1].exists()

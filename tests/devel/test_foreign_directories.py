"""A store is a directory with a marker. Whatever we did not make, in a store or elsewhere, is never changed."""

import json
import shutil
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused
from sample_devel import DevelSite

MARKER = "rocm-sdk-store.json"


def everything(directory: Path) -> dict[str, object]:
    """Return all names in a directory with their content, and the directory's own times."""
    found: dict[str, object] = {".": directory.stat().st_mtime_ns}
    for path in directory.rglob("*"):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = path.readlink()
        else:
            found[name] = path.read_bytes() if path.is_file() else path.stat().st_mtime_ns
    return found


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a directory of someone else's, with names that a store has too."""
    directory = tmp_path / "photos"
    for name in ("files/p/a.jpg", "files/ab/" + "ab" * 32, "trees/oak.txt", ".partial-x", ".rocm-sdk-partial-abcdefgh"):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(b"mine")
    return directory


@pytest.mark.parametrize("action", ["prune", "verify"])
@pytest.mark.parametrize(
    "content",
    [None, b"", b"{", b"[]", b'{"format": 2}', b'{"format": true}', b'{"format": "1"}', b"[" * 4000, b" " * 5000],
)
def test_a_directory_that_is_no_store(devel_site: DevelSite, foreign: Path, action: str, content: bytes | None) -> None:
    """The directory has no marker, or a marker of another kind."""
    if content is not None:
        (foreign / MARKER).write_bytes(content)
    before = everything(foreign)
    result = devel_site.command("store", action, "--store", str(foreign), check=False)
    said = f"{foreign} is not a store: it has no {MARKER}"
    assert_refused(result, 2, said if content is None else "does not say that this is a store of format 1")
    assert everything(foreign) == before


def test_a_marker_that_is_a_link(devel_site: DevelSite, foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"format": 1}')
    (foreign / MARKER).symlink_to(tmp_path / "real.json")
    before = everything(foreign)
    assert devel_site.command("store", "prune", "--store", str(foreign), check=False).returncode == 2
    assert everything(foreign) == before


def test_init_makes_no_store_of_it(devel_site: DevelSite, foreign: Path) -> None:
    before = everything(foreign)
    result = devel_site.command("init", "--store", str(foreign), check=False)
    assert_refused(result, 1, f"{foreign} is not a store: it has no {MARKER}", "fix: use an absent or empty directory")
    assert everything(foreign) == before
    assert not devel_site.tree.exists()


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_store_without_a_marker_is_not_adopted(devel_site: DevelSite, tmp_path: Path, has_lock: bool) -> None:
    """Earlier versions made such stores."""
    for name in ("files/ab", "trees"):
        (tmp_path / "store" / name).mkdir(parents=True)
    if has_lock:
        (tmp_path / "store/lock").touch()
    before = everything(tmp_path / "store")
    for words in (["store", "prune"], ["store", "verify"], ["init"]):
        result = devel_site.command(*words, "--store", str(tmp_path / "store"), check=False)
        assert result.returncode == (1 if words == ["init"] else 2)
        assert "if an earlier version of rocm-sdk-loader made it, remove the directory" in result.stderr
    assert everything(tmp_path / "store") == before


@pytest.mark.parametrize("exists", [False, True])
def test_an_absent_or_empty_directory_becomes_one(devel_site: DevelSite, tmp_path: Path, exists: bool) -> None:
    store = tmp_path / "parent/store"
    if exists:
        store.mkdir(parents=True)
    devel_site.command("init", "--store", str(store))
    assert json.loads((store / MARKER).read_text()) == {"format": 1}
    assert {path.name for path in store.iterdir()} == {"files", "lock", MARKER, "trees"}


def test_foreign_names_in_a_store_are_left_alone(devel_site: DevelSite, foreign: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    devel_site.command("init", "--store", str(store))
    shutil.copytree(foreign, store, dirs_exist_ok=True)
    ours = "ab" * 32
    (store / "files/ab" / ours).unlink()
    (store / ".rocm-sdk-partial-abcdefgh").unlink()
    victim = tmp_path / "victim"
    (victim / "ab").mkdir(parents=True)
    (victim / "ab" / ours).write_text("mine")
    (store / "files/ac").symlink_to(victim / "ab")
    (store / "files/ad").mkdir(exist_ok=True)
    (store / "files/ad" / ("ad" * 32)).symlink_to(victim / "ab" / ours)
    (store / "files/ad" / ours).write_text("not below its prefix")
    (store / "trees/sha256-00.json").mkdir()
    (store / ".rocm-sdk-partial-directory").mkdir()
    (store / "deep/er").mkdir(parents=True)
    before = everything(store) | everything(victim)
    said = devel_site.command("store", "prune", "--store", str(store)).stderr
    assert everything(store) | everything(victim) == before
    names = {
        line.split(str(store) + "/")[1].split(" is not part")[0] for line in said.splitlines() if "is not part" in line
    }
    assert names == {
        ".partial-x",
        ".rocm-sdk-partial-directory",
        "deep",
        "files/ac",
        f"files/ad/{'ad' * 32}",
        f"files/ad/{ours}",
        "files/p",
        "trees/oak.txt",
        "trees/sha256-00.json",
    }
    verified = devel_site.command("store", "verify", "--store", str(store))
    assert verified.stdout == ""
    assert verified.stderr.count("is not part of the store and is left alone") == len(names)


@pytest.mark.parametrize("name", ["files", "trees"])
def test_a_store_whose_directory_is_a_link(devel_site: DevelSite, tmp_path: Path, name: str) -> None:
    store, victim = tmp_path / "store", tmp_path / "victim"
    devel_site.command("init", "--store", str(store))
    (store / name).rename(victim)
    (store / name).symlink_to(victim)
    before = everything(victim)
    for words in (["store", "prune"], ["store", "verify"]):
        result = devel_site.command(*words, "--store", str(store), check=False)
        assert_failed(result, 1, f"the store {store} is damaged: {store}/{name}: Not a directory")
    assert everything(victim) == before

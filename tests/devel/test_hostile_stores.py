"""Stores that someone else may have written: their lists pass the rules of archives, their files are what they say."""

import json
import os
import random
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_input import LISTS, STORE_FILES, TEXTS, replace_directory_by_link
from other_user import OtherUser
from sample_devel import DevelSite, as_root, sample_members

MakeSite = Callable[..., DevelSite]


def outside(path: Path) -> set[str]:
    """Return the names around the environments and the store."""
    return {str(each) for each in path.iterdir()} | {str(each) for each in (path / "env1").iterdir()}


def use_with_list(sites: list[DevelSite], store: Path, data: Callable[[bytes], bytes]) -> str:
    """Return the warnings of `init --store` after the list was edited; the tree is the archive's all the same."""
    one, other = sites
    one.command("init", "--store", str(store))
    (name,) = (store / "trees").iterdir()
    written = data(name.read_bytes())
    name.chmod(0o644)
    name.write_bytes(written)
    before, around = name.stat().st_size, outside(store.parent)
    result = other.command("init", "--store", str(store))
    assert result.stdout == f"{other.tree}\n"
    assert "Traceback" not in result.stderr
    assert f"{name} is not used: " in result.stderr
    assert outside(store.parent) == around
    assert not list(store.parent.rglob("victim"))
    other.command("init", "--check")
    assert name.stat().st_size != before or written == b"", "it is replaced"
    assert (other.core / "bin/hipcc").read_bytes() == (one.core / "bin/hipcc").read_bytes()
    return result.stderr


@pytest.mark.parametrize("name", LISTS)
def test_hostile_lists(two_sites: list[DevelSite], store: Path, name: str) -> None:
    def edited(data: bytes) -> bytes:
        content = json.loads(data)
        LISTS[name](content)
        return json.dumps(content).encode()

    use_with_list(two_sites, store, edited)


@pytest.mark.parametrize("name", TEXTS)
def test_lists_that_are_none(two_sites: list[DevelSite], store: Path, name: str) -> None:
    use_with_list(two_sites, store, lambda _: TEXTS[name])


@pytest.mark.slow
def test_a_list_that_is_too_large(two_sites: list[DevelSite], store: Path) -> None:
    said = use_with_list(two_sites, store, lambda data: data + b" " * (1 << 26))
    assert "it is larger than 67108864 bytes" in said


def test_bytes_of_a_list_replaced(two_sites: list[DevelSite], store: Path) -> None:
    """Whatever is in it, parsing ends with a tree or a ValueError."""
    from rocm_sdk.devel.tree_list import parse_tree_list

    two_sites[0].command("init", "--store", str(store))
    (name,) = (store / "trees").iterdir()
    whole = name.read_bytes()
    chance = random.Random(11)
    outcomes = set()
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(whole))] = chance.choice([*b'"[]{},:/.0x\\', chance.randrange(256)])
        try:
            known = parse_tree_list(json.loads(bytes(damaged)), str(name))
            assert known.name.startswith("_rocm_sdk_devel")
            assert not any(".." in member.path.split("/") for member in known.members)
            outcomes.add("read")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def kept_file(store: Path, size: int = 3_000_000) -> Path:
    (found,) = (path for path in (store / "files").rglob("*") if path.is_file() and path.stat().st_size == size)
    return found


@pytest.mark.parametrize("change", STORE_FILES, ids=lambda change: change.__name__)
def test_a_file_that_is_not_what_its_name_says(
    two_sites: list[DevelSite], store: Path, change: Callable[[Path], None]
) -> None:
    """The size of a file alone says nothing: the archive is read, and the file in the store replaced."""
    one, other = two_sites
    one.command("init", "--store", str(store))
    kept = kept_file(store)
    content = kept.read_bytes()
    change(kept)
    result = other.command("init", "--store", str(store))
    assert str(kept) in result.stderr
    assert "the archive is read instead" in result.stderr
    linked = other.tree / "lib/libstatic.a"
    assert linked.read_bytes() == content
    assert stat.S_IMODE(linked.lstat().st_mode) == 0o444
    assert linked.samefile(kept)
    assert not kept.is_symlink()
    other.command("init", "--check")
    if (store.parent / "secret").exists():
        assert not linked.samefile(store.parent / "secret")


def test_a_file_that_becomes_a_link_while_it_is_linked(
    two_sites: list[DevelSite], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link's content was verified, so it would be right; but writers of the store could change it at any time."""
    from rocm_sdk.devel.archive_rules import FILE, Member
    from rocm_sdk.devel.store import Store

    two_sites[0].command("init", "--store", str(store))
    kept = kept_file(store)
    monkeypatch.setattr(os, "link", lambda _source, target, **_: Path(target).symlink_to(kept))
    target = store.parent / "linked"
    with pytest.raises(FileNotFoundError):
        Store(str(store)).link(Member("linked", FILE, size=3_000_000), kept.name, str(target))
    assert not os.path.lexists(target)


def test_a_directory_of_the_store_that_is_a_link(two_sites: list[DevelSite], store: Path) -> None:
    one, other = two_sites
    one.command("init", "--store", str(store))
    kept = kept_file(store)
    replace_directory_by_link(kept)
    result = other.command("init", "--store", str(store), check=False)
    assert result.returncode == 1
    assert str(kept.relative_to(store)) in result.stderr
    assert not other.tree.exists()


# ---- owners and modes


def as_nobody(site: DevelSite) -> None:
    for path in (site.path, *site.path.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)


@pytest.fixture
def open_place() -> Any:
    """Yield a directory that other users can reach, unlike pytest's own directories."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture
def shared(open_place: Path) -> tuple[DevelSite, DevelSite, Path]:
    """Return an environment and a store of root, and an environment of another user with the same archive."""
    members = sample_members()
    sites = [DevelSite(open_place / f"env{i}/site-packages") for i in range(2)]
    for site in sites:
        site.install_sdk(members=members)
    as_nobody(sites[1])
    sites[0].command("init", "--store", str(open_place / "store"))
    return sites[0], sites[1], open_place / "store"


@as_root
@pytest.mark.parametrize("has_list", [True, False])
def test_a_store_of_root_is_usable_by_others(
    shared: tuple[DevelSite, DevelSite, Path], other_user: OtherUser, has_list: bool
) -> None:
    """Other users cannot add to the store, and its lock needs no permission to write."""
    _, other, store = shared
    if not has_list:
        for path in (store / "trees").iterdir():
            path.unlink()
    before = {str(path): path.stat().st_ctime_ns for path in store.rglob("*") if path.is_dir()}
    result = other_user.run("-m", "rocm_sdk", "init", "--store", store, **other.variables)
    assert (result.returncode, result.stdout) == (0, f"{other.tree}\n"), result.stderr
    assert f"the store {store} cannot be written: nothing is added to it" in result.stderr
    assert {str(path): path.stat().st_ctime_ns for path in store.rglob("*") if path.is_dir()} == before
    other.command("init", "--check")
    for action in ("prune", "verify"):
        done = other_user.run("-m", "rocm_sdk", "store", action, "--store", store, **other.variables)
        assert done.returncode == (1 if action == "prune" else 0)
        assert ("cannot write to the store" in done.stderr) == (action == "prune")


@as_root
@pytest.mark.parametrize("place", ["trees", ".", "files", "prefix"])
def test_a_store_that_another_user_can_change(shared: tuple[DevelSite, DevelSite, Path], place: str) -> None:
    """Not even root uses it: its owner could change a file of the tree at any time."""
    one, other, store = shared
    os.chown(kept_file(store).parent if place == "prefix" else store / place, 65534, 65534)
    result = other.command("init", "--store", str(store), check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"the store {store} is not used: something in it belongs to user 65534" in result.stderr
    assert not other.tree.exists()
    assert one.tree.exists()


@as_root
@pytest.mark.parametrize("place", ["list", "file"])
def test_what_another_user_put_into_a_store(shared: tuple[DevelSite, DevelSite, Path], place: str) -> None:
    """A file of another user is replaced by the file that the archive holds."""
    one, other, store = shared
    (name,) = (store / "trees").iterdir()
    theirs = name if place == "list" else kept_file(store)
    os.chown(theirs, 65534, 65534)
    result = other.command("init", "--store", str(store))
    assert "the archive is read instead" in result.stderr
    assert theirs.stat().st_uid == 0
    assert (other.tree / "lib/libstatic.a").stat().st_uid == 0
    assert not (other.tree / "lib/libstatic.a").samefile(one.tree / "lib/libstatic.a") or place == "list"


@pytest.mark.parametrize("place", [".", "files", "trees"])
def test_a_store_that_others_may_write(two_sites: list[DevelSite], store: Path, place: str) -> None:
    one, other = two_sites
    one.command("init", "--store", str(store))
    (store / place).chmod(0o775)
    result = other.command("init", "--store", str(store), check=False)
    assert result.returncode == 1
    assert f"the store {store} is not used: others than its owner may write to it" in result.stderr
    assert f"fix: chmod -R go-w {store}" in result.stderr
    (store / place).chmod(0o755)
    other.command("init", "--store", str(store))


def test_modes_do_not_depend_on_the_umask(two_sites: list[DevelSite], store: Path) -> None:
    one, other = two_sites
    for site in (one, other):
        site.command("init", "--store", str(store), umask=0o002)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in store.rglob("*") if path.name != "lock"}
    assert modes == {0o755, 0o444, 0o555}
    other.command("init", "--check")


# ---- several processes

ADD = """
import hashlib, os, sys
from rocm_sdk.devel.archive_rules import FILE, Member
from rocm_sdk.devel.store import Store
store, place, count = Store(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for number in range(count):
    data = f"file {number % 300}".encode()
    store.add(Member(str(number), FILE, size=len(data)), f"{place}/{number}", lambda _: iter([data]))
    if number % 300 == 0:  # as a file that was changed
        digest = hashlib.sha256(data).hexdigest()
        os.chmod(f"{sys.argv[1]}/files/{digest[:2]}/{digest}", 0o400)
"""


@pytest.mark.slow
def test_two_processes_that_add_the_same_files(tmp_path: Path, two_sites: list[DevelSite]) -> None:
    from rocm_sdk.devel.store import Store

    Store.made_in(str(tmp_path / "store"))
    running = []
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        command = [sys.executable, "-c", ADD, str(tmp_path / "store"), str(tmp_path / str(number)), "2400"]
        running.append(
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=two_sites[0].environment()
            )
        )
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        assert process.communicate()[1] == ""
        assert process.returncode == 0
    for number in range(3):
        for i in range(2400):
            assert (tmp_path / str(number) / str(i)).read_text() == f"file {i % 300}"
    assert not list((tmp_path / "store").glob(".*"))


@pytest.mark.slow
def test_environments_that_are_made_at_once(make_site: MakeSite, store: Path) -> None:
    """None of them exists before, nor does the store."""
    members = sample_members()
    sites = [make_site(name=f"env{i}/site-packages") for i in range(6)]
    for site in sites:
        site.install_sdk(members=members)
    command = [sys.executable, "-m", "rocm_sdk", "init", "--store", str(store)]
    running = [subprocess.Popen(command, env=site.environment(), stderr=subprocess.PIPE, text=True) for site in sites]
    for process in running:
        said = process.communicate()[1]
        assert process.returncode == 0, said
    for site in sites:
        site.command("init", "--check")
    assert not list(store.glob(".*"))

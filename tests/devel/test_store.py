"""Environments that share a store: one copy on the disk, and each its own tree."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused
from other_user import OtherUser
from sample_devel import DevelSite, member

MakeSite = Callable[..., DevelSite]
STATIC = "lib/libstatic.a"


def test_files_are_there_once(two_sites: list[DevelSite], store: Path) -> None:
    one, other = two_sites
    one.command("init", "--store", str(store))
    other.command("init", env=other.environment(ROCM_SDK_STORE=str(store)))
    for name in (STATIC, "bin/tool", "lib/cmake/hip/hip-config.cmake"):
        assert (one.tree / name).samefile(other.tree / name)
        assert not (one.tree / name).stat().st_mode & 0o222, "read-only, for all share it"
    assert os.access(one.tree / "bin/tool", os.X_OK)
    assert (other.tree / "bin/hipcc").samefile(other.core / "bin/hipcc")
    assert not (other.tree / "bin/hipcc").samefile(one.tree / "bin/hipcc")
    for site in two_sites:
        site.command("init", "--check")


def test_the_second_extraction_does_not_read_the_archive(two_sites: list[DevelSite], store: Path) -> None:
    one, other = two_sites
    one.command("init", "--store", str(store))
    archive = other.path / "rocm_sdk_devel/_devel.tar.xz"
    archive.write_bytes(b"unreadable")  # RECORD still says what it was
    other.command("init", "--store", str(store))
    other.command("init", "--check")


@pytest.mark.slow
def test_prune_removes_unused_files(two_sites: list[DevelSite], store: Path) -> None:
    one, other = two_sites
    one.command("init", "--store", str(store))
    other.command("init", "--store", str(store))
    assert "removed 0 files" in one.command("store", "prune", "--store", str(store)).stderr
    assert one.command("store", "prune", "--store", str(store), "--quiet").stderr == ""
    for path in one.tree.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.unlink()
    assert "removed 0 files" in one.command("store", "prune", "--store", str(store)).stderr
    (other.tree / STATIC).unlink()
    said = one.command("store", "prune", "--store", str(store)).stderr
    assert "removed 1 files" in said
    assert "the lists of 1 archives" in said
    other.command("init", "--check", check=False)


def test_after_prune_the_archive_is_read_again(two_sites: list[DevelSite], store: Path) -> None:
    one, other = two_sites
    one.command("init", "--store", str(store))
    (one.tree / STATIC).unlink()
    (next(path for path in store.rglob("*") if path.is_file() and path.stat().st_size == 3_000_000)).unlink()
    other.command("init", "--store", str(store))
    other.command("init", "--check")


def test_verify_names_damaged_files(two_sites: list[DevelSite], store: Path) -> None:
    one, _ = two_sites
    one.command("init", "--store", str(store))
    assert one.command("store", "verify", "--store", str(store)).stdout == ""
    (damaged,) = (path for path in store.rglob("*") if path.is_file() and path.stat().st_size == 3_000_000)
    damaged.chmod(0o644)
    with damaged.open("r+b") as file:
        file.write(b"another content")
    result = one.command("store", "verify", env=one.environment(ROCM_SDK_STORE=str(store)), check=False)
    assert (result.returncode, result.stdout) == (1, f"{damaged}\n")
    fix = result.stderr.splitlines()[-1]
    assert fix.startswith("  fix: Remove these files, and extract the trees that contain them again: ")


def test_leftovers_of_a_killed_run_are_pruned(two_sites: list[DevelSite], store: Path) -> None:
    two_sites[0].command("init", "--store", str(store))
    leftovers = [store / ".rocm-sdk-partial-abc_1234", store / ".rocm-sdk-partial-abc_1234.new"]
    for leftover in leftovers:
        leftover.touch()
    two_sites[0].command("store", "prune", "--store", str(store))
    assert not any(leftover.exists() for leftover in leftovers)


def test_same_content_with_and_without_the_executable_bit(make_site: MakeSite, store: Path) -> None:
    site = make_site()
    tree = "_rocm_sdk_devel"
    site.install_devel(
        [
            member(f"{tree}/__init__.py"),
            member(f"{tree}/bin/a", b"same", mode=0o755),
            member(f"{tree}/bin/b", b"same"),
        ]
    )
    site.command("init", "--store", str(store))
    assert os.access(site.tree / "bin/a", os.X_OK)
    assert not (site.tree / "bin/b").stat().st_mode & 0o111


def test_a_store_on_another_file_system(devel_site: DevelSite) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == devel_site.path.stat().st_dev:
        pytest.skip("/dev/shm is not a file system of its own here")
    if not os.access(memory, os.W_OK):
        pytest.skip("this user may not write /dev/shm")
    with tempfile.TemporaryDirectory(dir=memory) as store:
        said = devel_site.command("init", "--store", store).stderr
        assert "is on another file system: its files are copied" in said
        devel_site.command("init", "--check")


@pytest.mark.parametrize("words", [["prune"], ["verify", "--store", "absent"]])
def test_no_store(devel_site: DevelSite, words: list[str]) -> None:
    """An empty variable is none, as for `init`."""
    variables = devel_site.environment(ROCM_SDK_STORE="")
    result = devel_site.command("store", *words, check=False, cwd=devel_site.path, env=variables)
    assert_refused(result, 2, "ROCM_SDK_STORE" if words == ["prune"] else "absent is not a directory")


@pytest.mark.parametrize("closed", ["store", "above/store"])
def test_a_store_that_this_user_may_not_read(open_directory: Path, other_user: OtherUser, closed: str) -> None:
    """The store is there, so this is no wrong usage."""
    store = open_directory / closed
    store.mkdir(parents=True)
    (open_directory / closed.partition("/")[0]).chmod(0o700)
    done = other_user.run("-m", "rocm_sdk", "store", "verify", "--store", store)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"rocm-sdk: cannot read {store}/rocm-sdk-store.json: Permission denied ")
    assert "  fix: use a store that this user may read" in done.stderr


def test_a_store_that_cannot_be_made(devel_site: DevelSite) -> None:
    file = devel_site.path.parent / "file"
    file.touch()
    assert_failed(devel_site.command("init", "--store", str(file), check=False), 1, f"cannot create the store {file}")
    assert not devel_site.tree.exists()


def test_prune_waits_for_an_extraction(two_sites: list[DevelSite], store: Path) -> None:
    two_sites[0].command("init", "--store", str(store))
    code = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.flock(f, fcntl.LOCK_SH); print('.', flush=True); input()"
    )
    command = [sys.executable, "-c", code, str(store / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        user.stdout.readline()
        result = two_sites[0].command("store", "prune", "--store", str(store), "--timeout", "0.1", check=False)
        assert_failed(result, 1, "is not done after 0.1 s")
        user.communicate("\n")

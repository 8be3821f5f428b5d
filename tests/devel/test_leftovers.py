"""Leftovers of killed and earlier runs in site-packages are removed, of any kind, and nothing beside them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from deep_directories import make_deep
from other_user import USER, OtherUser
from programs import completed
from sample_devel import DevelSite, as_root

from rocm_sdk.base.removal import remove, remove_directory

LEFTOVER = ".rocm_sdk_devel.staging-old"


@pytest.mark.always
@pytest.mark.parametrize("depth", [1100, 5000])
def test_a_deep_leftover(devel_site: DevelSite, depth: int) -> None:
    make_deep(devel_site.path / LEFTOVER, depth)
    devel_site.command("init")
    assert not (devel_site.path / LEFTOVER).exists()
    devel_site.command("init", "--check")


@pytest.mark.parametrize("to", ["directory", "file", "nothing"])
def test_a_leftover_that_is_a_link(devel_site: DevelSite, to: str) -> None:
    place = devel_site.path.parent / "place"
    if to == "directory":
        place.mkdir()
        (place / "mine").touch()
    elif to == "file":
        place.touch()
    (devel_site.path / LEFTOVER).symlink_to(place)
    devel_site.command("init")
    assert not os.path.lexists(devel_site.path / LEFTOVER)
    assert (place / "mine").exists() if to == "directory" else place.exists() == (to == "file")


def test_links_in_a_leftover_are_not_followed(devel_site: DevelSite) -> None:
    place = devel_site.path.parent / "place"
    place.mkdir()
    (place / "mine").touch()
    (devel_site.path / LEFTOVER / "tree").mkdir(parents=True)
    (devel_site.path / LEFTOVER / "tree/link").symlink_to(place)
    devel_site.command("init")
    assert (place / "mine").exists()


REMOVE = """
import sys
from rocm_sdk.base.removal import remove
remove(sys.argv[1])
"""


@as_root
@pytest.mark.parametrize("mode", [0o000, 0o500, 0o600])
def test_directories_without_permissions(open_site: DevelSite, other_user: OtherUser, mode: int) -> None:
    inner = open_site.path / "top/middle/inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for path in (inner, inner.parent, inner.parent.parent):
        os.chown(path, USER, USER)
        path.chmod(mode)
    os.chown(open_site.path, USER, USER)
    run = other_user.run("-c", REMOVE, open_site.path / "top", **open_site.variables)
    assert (run.returncode, run.stderr) == (0, "")
    assert list(open_site.path.iterdir()) == []


def test_what_is_no_directory(tmp_path: Path) -> None:
    remove(str(tmp_path / "nothing"))
    remove_directory(str(tmp_path / "nothing"))
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(NotADirectoryError):
        remove_directory(str(tmp_path / "link"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    make_deep(tmp_path / "deep", 50)
    remove(str(tmp_path / "deep"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize("limit", [15, 4, 6, 9, 12])
def test_few_descriptors(make_site: Callable[..., DevelSite], limit: int) -> None:
    """Whatever fails for the lack of them, what is said is true, and the next call completes it."""
    site = make_site()
    site.install_sdk()
    command = ["sh", "-c", f'ulimit -n {limit}; exec "$0" -m rocm_sdk init', sys.executable]
    run = completed(command, env=site.environment())
    if run.returncode == 0:
        assert run.stdout == f"{site.tree}\n"
    assert "nothing was changed" not in run.stderr or not site.tree.exists()
    if "rocm-sdk: cannot" in run.stderr:
        assert "the next `rocm-sdk init` completes it" in run.stderr
    site.command("init", "--check")
    assert not list(site.path.glob(".rocm_sdk_devel.staging-*"))

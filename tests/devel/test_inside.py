"""`rocm_sdk.base.inside`: a name never leads out of the directory that it is relative to."""

import os
from pathlib import Path

import pytest

from rocm_sdk.base.inside import UnsafeNameError, open_inside, parent_inside, parts_of, read_inside

UNSAFE = ["", "/", "/etc/passwd", "..", ".", "../a", "a/..", "a/../b", "a//b", "a/", "./a", "a\0b", "a/.\0"]


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names(tmp_path: Path, name: str) -> None:
    for call in (parts_of, lambda name: open_inside(str(tmp_path), name)):
        with pytest.raises(UnsafeNameError):
            call(name)
    with pytest.raises(UnsafeNameError), parent_inside(str(tmp_path), name, make_mode=0o777):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file(tmp_path: Path) -> None:
    with parent_inside(str(tmp_path), "a/b/c", make_mode=0o700) as (parent, last):
        os.close(os.open(last, os.O_CREAT | os.O_WRONLY, dir_fd=parent))
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700
    (tmp_path / "a/b/c").write_bytes(b"content")
    assert read_inside(str(tmp_path), "a/b/c", 7) == b"content"
    with pytest.raises(ValueError, match="larger than 6 bytes"):
        read_inside(str(tmp_path), "a/b/c", 6)


@pytest.mark.parametrize("link", ["a", "a/b", "a/b/c"])
def test_links_are_not_followed(tmp_path: Path, link: str) -> None:
    """Not even to places inside."""
    (tmp_path / "in/a/b").mkdir(parents=True)
    (tmp_path / "in/a/b/c").write_text("content")
    (tmp_path / "in" / link).rename(tmp_path / "in/moved")
    (tmp_path / "in" / link).symlink_to(tmp_path / "in/moved")
    with pytest.raises(OSError, match="a/b/c"):
        open_inside(str(tmp_path / "in"), "a/b/c")


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_only_regular_files(tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "x") if kind == "pipe" else (tmp_path / "x").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        open_inside(str(tmp_path), "x")


def test_descriptors_are_closed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("a/b", "a/b/c", "x/y"):
        with pytest.raises(FileNotFoundError):
            open_inside(str(tmp_path), name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before

"""A file that must not take the place of another gets its name in one step."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocm_sdk.base import moves


@pytest.fixture(params=["in one step", "of a file system that only replaces"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(one: str, other: str, _flag: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), one, None, other)

    if request.param != "in one step":
        monkeypatch.setattr(moves, "_renameat2", refused)


@pytest.mark.usefixtures("_way")
def test_one_of_many_gets_the_name(tmp_path: Path) -> None:
    def moved(number: int) -> bool:
        path = tmp_path / f"{number}"
        path.write_text(f"{number}")
        try:
            moves.move_to_free_name(str(path), str(tmp_path / "name"))
        except FileExistsError:
            path.unlink()
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(moved, range(400)))
    assert results.count(True) == 1
    assert (tmp_path / "name").read_text() == str(results.index(True))
    assert [path.name for path in tmp_path.iterdir()] == ["name"]


@pytest.mark.usefixtures("_way")
def test_nothing_stays_of_a_failure(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        moves.move_to_free_name(str(tmp_path / "absent"), str(tmp_path / "name"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("taken", ["file", "directory", "link to nothing"])
def test_a_name_that_is_taken(tmp_path: Path, taken: str) -> None:
    path, name = tmp_path / "new", tmp_path / "name"
    path.touch()
    if taken == "file":
        name.write_text("theirs")
    elif taken == "directory":
        name.mkdir()
    else:
        name.symlink_to("nothing")
    with pytest.raises(FileExistsError):
        moves.move_to_free_name(str(path), str(name))
    assert path.exists()
    assert name.is_symlink() or name.is_dir() or name.read_text() == "theirs"

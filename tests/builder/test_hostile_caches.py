"""Files that another user has prepared in an output or a cache are neither used nor removed."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from other_user import USER
from test_archives import pack

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.archives import unpack


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return pack(usual_tree(tmp_path / "tree").root / "base_lib_generic", "xz")


def a_file_of_it(cache: Path) -> Path:
    return next(path for path in sorted(cache.rglob("*")) if path.is_file() and path.parent.parent.parent != cache)


def change(cache: Path) -> str:
    path = a_file_of_it(cache)
    facts, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    return "is not what an earlier run has put there"


def add(cache: Path) -> str:
    (a_file_of_it(cache).parent / "new").write_text("planted")
    return "is not what an earlier run has put there"


def take_away(cache: Path) -> str:
    a_file_of_it(cache).unlink()
    return "is not what an earlier run has put there"


def make_a_program(cache: Path) -> str:
    a_file_of_it(cache).chmod(0o755 if a_file_of_it(cache).stat().st_mode & 0o100 == 0 else 0o644)
    return "is not what an earlier run has put there"


def put_a_link(cache: Path) -> str:
    path = a_file_of_it(cache)
    path.rename(cache / "elsewhere")
    path.symlink_to(cache / "elsewhere")
    return "is not what an earlier run has put there"


def lose_the_note(cache: Path) -> str:
    (note,) = cache.glob("*/content.json")
    note.unlink()
    return "is not what an earlier run has put there"


def open_the_cache(cache: Path) -> str:
    cache.chmod(0o777)
    return f"{cache}: is not used: others than its owner may write to it"


def open_the_artifact(cache: Path) -> str:
    (place,) = cache.iterdir()
    place.chmod(0o770)
    return "others than its owner may write to it"


def link_the_cache(cache: Path) -> str:
    cache.rename(cache.with_name("elsewhere"))
    cache.symlink_to("elsewhere")
    return f"{cache}: is not used: it is not a directory"


def link_the_artifact(cache: Path) -> str:
    (place,) = cache.iterdir()
    place.rename(cache.with_name("elsewhere"))
    place.symlink_to(cache.with_name("elsewhere"))
    return "is not used: it is not a directory"


def give_the_cache_away(cache: Path) -> str:
    os.chown(cache, USER, USER)
    return f"it belongs to nobody .user {USER}."


def give_the_artifact_away(cache: Path) -> str:
    for path in [*cache.glob("*"), *cache.rglob("*")]:
        os.chown(path, USER, USER, follow_symlinks=False)
    return f"it belongs to nobody .user {USER}."


ATTACKS: list[Callable[[Path], str]] = [change, add, take_away, make_a_program, put_a_link, lose_the_note]
ATTACKS += [open_the_cache, open_the_artifact, link_the_cache, link_the_artifact]
ATTACKS += [give_the_cache_away, give_the_artifact_away] if os.geteuid() == 0 else []  # only root can


@pytest.mark.parametrize("attack", ATTACKS)
def test_unpacked_artifacts(archive: Path, tmp_path: Path, attack: Callable[[Path], str]) -> None:
    cache = tmp_path / "out/.artifacts"
    made = unpack(archive, cache)
    assert unpack(archive, cache) == made
    cause = attack(cache)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with pytest.raises(PackagingError, match=cause) as caught:
        unpack(archive, cache)
    assert caught.value.fix
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_an_artifact_that_another_has_prepared(archive: Path, tmp_path: Path) -> None:
    """The other user knows the digest of the archive, and makes files that are to be in packages."""
    cache = tmp_path / "out/.artifacts"
    place = unpack(archive, tmp_path / "other").parent
    cache.mkdir(parents=True)
    shutil.copytree(place, cache / place.name, symlinks=True)
    (cache / place.name).chmod(0o755)
    (cache / place.name / "content.json").unlink()
    with pytest.raises(PackagingError, match="is not what an earlier run has put there"):
        unpack(archive, cache)


def test_the_cache_is_for_its_owner(archive: Path, tmp_path: Path) -> None:
    """Whatever the umask is."""
    before = os.umask(0)
    try:
        place = unpack(archive, tmp_path / "out/.artifacts").parent
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == place.parent.stat().st_mode & 0o777 == 0o700

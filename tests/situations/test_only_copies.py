"""Places of packages times damages: a fix that is printed loses nothing where it fails, and mends where it works."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from installed_places import LIBRARIES, NOWHERE, PLACES, Place, made, target_of_a_user
from of_packages import killed_upgrade
from other_user import OtherUser, open_directory
from sdk_environment import served
from situations import BLAS, HIP, METADATA, link_to, remove, replace_by

from rocm_sdk.base.value_text import is_words

Damage = Callable[[Place], object]

DAMAGES: dict[str, Damage] = {
    "core was interrupted": lambda place: killed_upgrade(place, "core"),
    "libraries were interrupted": lambda place: killed_upgrade(place, "libraries"),
    "the metadata of core is lost": lambda place: remove(place.site / METADATA["core"]),
    "the metadata of libraries is lost": lambda place: remove(place.site / METADATA["libraries"]),
    "RECORD of core is no text": lambda place: (place.site / METADATA["core"] / "RECORD").write_bytes(b"\xff\xfe\0"),
    "the metadata of core is a file": lambda place: replace_by(place.site / METADATA["core"], Path.touch),
    "HIP is missing": lambda place: (place.site / HIP).unlink(),
    "HIP is a FIFO": lambda place: replace_by(place.site / HIP, os.mkfifo),
    "HIP is a directory": lambda place: replace_by(place.site / HIP, Path.mkdir),
    "rocBLAS is a link that leads nowhere": lambda place: link_to(place.site / BLAS, "/nowhere/librocblas.so.5"),
    "the libraries are missing": lambda place: remove(place.site / BLAS.partition("/")[0]),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest.fixture(scope="module")
def places(index: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Place]]:
    kept: dict[str, Place] = {}

    def place(name: str) -> Place:
        if name not in kept:
            kept[name] = made(tmp_path_factory.mktemp("place"), index, PLACES[name])
        kept[name].set_back()
        return kept[name]

    yield place
    for each in kept.values():
        shutil.rmtree(each.top.parent)


def fail_and_mend(place: Place, index: str, damage: Damage) -> None:
    damage(place)
    place.be_owned()
    before, damaged = place.contents(), place.test()
    fixes = [found["fix"] for found in damaged.problems]
    assert fixes and not any(map(is_words, fixes)), damaged.problems
    for fix in fixes:  # no index answers
        assert place.run(fix).returncode != 0
    assert before <= place.contents(), "the fix fails, and what it replaces is lost"
    place.set_back()
    damage(place)
    place.be_owned()
    for fix in fixes:
        done = place.run(fix.replace(NOWHERE, index))
        assert done.returncode == 0, f"{fix}\n{done.stderr}"
    mended = place.test()
    assert mended.problems == []
    assert mended.loaded == LIBRARIES >= damaged.loaded


# Each damage where packages lie in a directory of their own, and of each form of fix one elsewhere.
OF_EACH = ("core was interrupted", "the metadata of core is lost", "HIP is a FIFO", "the libraries are missing")


@pytest.mark.parametrize(
    ("name", "damage"), [(name, damage) for name in PLACES for damage in (DAMAGES if name == "target" else OF_EACH)]
)
def test_a_fix_loses_nothing(places: Callable[[str], Place], index: str, name: str, damage: str) -> None:
    fail_and_mend(places(name), index, DAMAGES[damage])


def test_a_fix_that_failed_can_be_tried_again(places: Callable[[str], Place], index: str) -> None:
    """Nothing of the first try is in its way, and what somebody else has there is not touched."""
    place = places("target")
    (place.site / HIP).unlink()
    (fix,) = (found["fix"] for found in place.test().problems)
    for _ in range(2):
        assert place.run(fix).returncode != 0
        (place.site / ".new").mkdir(exist_ok=True)  # as a try that was killed leaves it
    (place.site / ".new/mine").touch()
    assert place.run(fix.replace(NOWHERE, index)).returncode != 0
    assert [path.name for path in (place.site / ".new").iterdir()] == ["mine"]
    (place.site / ".new/mine").unlink()
    assert place.run(fix.replace(NOWHERE, index)).returncode == 0
    assert place.test().problems == []


@pytest.fixture(scope="module")
def of_a_user(index: str) -> Iterator[Callable[[OtherUser], Place]]:
    made: list[Place] = []
    with open_directory() as directory:

        def place(other: OtherUser) -> Place:
            if not made:
                made.append(target_of_a_user(directory, index, other))
            made[0].set_back()
            return made[0]

        yield place


@pytest.mark.parametrize("damage", OF_EACH)
def test_a_fix_of_an_ordinary_user(
    of_a_user: Callable[[OtherUser], Place], other_user: OtherUser, index: str, damage: str
) -> None:
    fail_and_mend(of_a_user(other_user), index, DAMAGES[damage])

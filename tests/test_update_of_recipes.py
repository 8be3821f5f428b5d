"""packaging/update: the recipes get a version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import completed
from test_recipes import RECIPES, versions_of


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    shutil.copytree(RECIPES, tmp_path / "packaging")
    return tmp_path / "packaging"


def update(recipes: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1800000000"} | variables
    return completed([sys.executable, str(recipes / "update"), *words], env=environment)


def contents(recipes: Path) -> dict[str, bytes]:
    return {str(path.relative_to(recipes)): path.read_bytes() for path in recipes.rglob("*") if path.is_file()}


def test_all_recipes_move(recipes: Path) -> None:
    before = contents(recipes)
    done = update(recipes, "7.8.9")
    assert (done.returncode, done.stderr) == (0, "")
    assert versions_of(recipes) == {"7.8.9"}
    assert "> - 7.8.9-1\n- New version.\n\n* " in (recipes / "rpm/rocm-sdk-loader.spec").read_text()
    assert "Fri, 15 Jan 2027 08:00:00 +0000" in (recipes / "debian/changelog").read_text()
    after = contents(recipes)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed == {line.removeprefix("packaging/") for line in done.stdout.splitlines()}
    assert update(recipes, "7.8.9").returncode == 0
    assert contents(recipes) == after


@pytest.mark.parametrize(
    ("words", "date", "status", "said"),
    [
        (["7.8"], "1800000000", 2, "'7.8' is no version\n  fix: "),
        (["7.8.9"], "today", 2, "SOURCE_DATE_EPOCH=today is no number of seconds\n  fix: "),
        (["7.8.9"], "1800000000", 1, "rocm-sdk-loader.spec: 2 lines say the version\n  fix: "),
        ([], "1800000000", 2, "usage: packaging/update VERSION"),
    ],
    ids=["version", "date", "recipe", "none"],
)
def test_nothing_changes(recipes: Path, words: list[str], date: str, status: int, said: str) -> None:
    if status == 1:
        with (recipes / "rpm/rocm-sdk-loader.spec").open("a") as file:
            file.write("Version: 1\n")
    before = contents(recipes)
    done = update(recipes, *words, SOURCE_DATE_EPOCH=date)
    assert done.returncode == status
    assert said in done.stderr
    assert contents(recipes) == before

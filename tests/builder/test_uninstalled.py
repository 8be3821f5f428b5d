"""Packages are uninstalled in many orders: what is left is whole each time, and in the end nothing is left."""

import random
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from environments import installer_command


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", str(usual_tree(directory / "artifacts").root)]
    subprocess.run([*command, "--no-loader", "--output", str(directory / "dist"), "--version", "7.10.0"], check=True)
    return sorted((directory / "dist").glob("*.whl"))


def uv(python: Path, verb: str, *words: str | Path) -> None:
    subprocess.run([*installer_command("uv", python, verb), "-q", *map(str, words)], check=True)


def missing_files(installed: Distribution) -> list[str]:
    return [str(file) for file in installed.files or () if not Path(str(file.locate())).exists()]


def orders(wheels: list[Path]) -> list[list[str]]:
    """Return orders of the packages: each package is first once, the others are at random behind it."""
    names = [path.name.partition("-")[0] for path in wheels]
    chance = random.Random(5)
    return [[first, *chance.sample([name for name in names if name != first], len(names) - 1)] for first in names]


@pytest.mark.slow
def test_in_many_orders(wheels: list[Path], tmp_path: Path) -> None:
    assert len(wheels) == 6
    for number, order in enumerate(orders(wheels)):
        environment = tmp_path / str(number)
        venv.create(environment)
        python = environment / "bin/python"
        (site,) = environment.glob("lib/python*/site-packages")
        before = set(environment.rglob("*"))
        uv(python, "install", "--no-deps", "--no-index", *wheels)
        for index, name in enumerate(order):
            uv(python, "uninstall", name)
            left = list(distributions(path=[str(site)]))
            assert {each.name.replace("-", "_") for each in left} == set(order[index + 1 :])
            assert {each.name: missing_files(each) for each in left if missing_files(each)} == {}, order
        left_over = {path for path in environment.rglob("*") if path.name not in {"__pycache__", ".lock"}} - before
        assert left_over == set(), order  # except uv's lock

"""`rocm-sdk install` adopts what it installs: no further command is needed, and what it shows is what it does."""

import json
import os
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from package_index import serve, write_wheel
from programs import completed

from rocm_sdk_build.output.index import write_index

pytestmark = pytest.mark.slow

OURS = "rocm-sdk-loader"
TARGETS = ("gfx942", "gfx1100")

# Environment is a class of conftest.py, which tests cannot import.
Environment = Any


@pytest.fixture(scope="module")
def index(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of an index with AMD's packages in two versions, and no other package."""
    directory = tmp_path_factory.mktemp("index")
    for wheel in wheels.glob("*.whl"):
        if not wheel.name.startswith("rocm_sdk_loader"):
            (directory / wheel.name).symlink_to(wheel)
    for version in ("7.10.0", "7.11.0"):
        for target in TARGETS:
            write_wheel(directory, f"rocm-sdk-device-{target}", version)
    write_index(directory)
    yield from serve(directory)


def install(environment: Environment, index: str, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ROCM_"))}
    command = [str(environment.directory / "bin/rocm-sdk"), "install", "sdk", "--gpu", "gfx1100", *words]
    variables = {"ROCM_SDK_INDEX": index, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    variables["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    choosing = ["--installer", environment.installer]
    return completed([*command, *choosing], env=kept | variables)


def codes(environment: Environment) -> set[str]:
    """Return the problem codes that the self test reports; E-PKG-006: files have two owners."""
    return {each["code"] for each in json.loads(environment.command("test", "--json").stdout)["problems"]}


@pytest.mark.built_wheel
def test_it_installs_and_adopts(environment: Environment, index: str) -> None:
    environment.install(OURS)
    done = install(environment, index, "--rocm", "7.10.0", "--yes")
    assert "rocm_sdk.adoption\n" in done.stdout
    assert "taken over from rocm==7.10.0: " in done.stdout, done.stdout + done.stderr
    assert environment.problem() == "None"
    assert "E-PKG-006" not in codes(environment)
    upgraded = install(environment, index, "--upgrade", "--yes")
    assert "taken over from rocm==7.11.0: " in upgraded.stdout
    assert environment.problem() == "None"
    nothing = install(environment, index, "--upgrade", "--yes")
    assert (nothing.returncode, "already has all of it, of ROCm 7.11.0" in nothing.stdout) == (0, True), nothing.stderr
    assert "has no newer release" in nothing.stdout


@pytest.mark.built_wheel
def test_what_is_printed_adopts_too(environment: Environment, index: str) -> None:
    environment.install(OURS)
    printed = install(environment, index, "--print")
    assert "rocm_sdk.adoption" in printed.stdout.splitlines()[1]
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    variables = os.environ | {"ROCM_SDK_INDEX": index, "PATH": path}
    subprocess.run(["bash", "-e", "-c", printed.stdout], env=variables, check=True)
    assert environment.problem() == "None"
    said = install(environment, index, "--print", "--format", "requirements")
    assert "rocm_sdk.adoption" in said.stderr
    assert "rocm_sdk.adoption" not in said.stdout


@pytest.mark.built_wheel
def test_what_is_there_is_adopted(environment: Environment, index: str) -> None:
    """All of it came by pip or uv alone."""
    device = write_wheel(environment.directory, "rocm-sdk-device-gfx1100", "7.11.0")
    environment.install("rocm[libraries]==7.11.0", str(device))
    environment.install(OURS)
    assert "claim the same files" in environment.problem()
    asked = install(environment, index)
    assert asked.returncode == 1
    assert "nobody can answer here" in asked.stderr
    done = install(environment, index, "--yes")
    assert (done.returncode, "already has all of it" in done.stdout) == (0, True)
    assert environment.problem() == "None"

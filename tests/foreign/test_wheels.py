"""Wheels that others made, by name and version: the verdict is that of reading their files by hand.

The small ones are in the suite; ROCM_SDK_TEST_FOREIGN=all (`make test-foreign`) takes all, which are 1.5 GB.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from fetched_packages import BUILD
from sample_site import clean_environment

SMALL = {"amdsmi", "hip-python", "pyrsmi", "rocm-bindings-core", "jax-rocm7-plugin"}
SYSTEMS = ("manylinux_2_39_x86_64", "manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64")
NONE = "-"


class Wheel(NamedTuple):
    project: str
    version: str
    first: str | None
    last: str | None
    codes: list[str]


def wheels() -> list[Wheel]:
    rows = []
    for line in Path(__file__).with_name("wheels.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            project, version, first, last, codes = line.split("\t")
            said = [None if text == NONE else text for text in (first, last)]
            rows.append(Wheel(project, version, *said, [] if codes == NONE else codes.split(",")))
    return rows


def fetch(wheel: Wheel) -> Path:
    """The wheel for CPython 3.11, whichever runs the tests: it is read and not installed."""
    directory = BUILD / "wheels-of-the-index" / f"{wheel.project}-{wheel.version}"
    if not list(directory.glob("*.whl")):
        words = ["--no-deps", "--only-binary", ":all:", "--python-version", "3.11", "--dest", str(directory)]
        words += [word for system in SYSTEMS for word in ("--platform", system)]
        words += [word for abi in ("cp311", "abi3", "none") for word in ("--abi", abi)]
        command = [sys.executable, "-m", "pip", "download", "-q", "--retries", "1", *words]
        done = subprocess.run(
            [*command, f"{wheel.project}=={wheel.version}"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"pip cannot fetch {wheel.project}: {done.stderr.strip().splitlines()[-1]}")
    (found,) = directory.glob("*.whl")
    return found


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheels are for x86-64")
@pytest.mark.parametrize("wheel", wheels(), ids=lambda wheel: f"{wheel.project}-{wheel.version}")
def test_what_is_said_of_it(wheel: Wheel, tmp_path: Path) -> None:
    if wheel.project not in SMALL and os.environ.get("ROCM_SDK_TEST_FOREIGN") != "all":
        pytest.skip("it is large: make test-foreign")
    command = [sys.executable, "-m", "rocm_sdk", "check", str(fetch(wheel)), "--sdk", str(tmp_path), "--json"]
    said = subprocess.run(
        [*command, "--gpu", "gfx90a"], env=clean_environment(), capture_output=True, text=True, check=False
    )
    (verdict,) = json.loads(said.stdout)["verdicts"]
    assert verdict["releases"] == {"first": wheel.first, "last": wheel.last}
    codes = [each["code"] for each in verdict["problems"] if each["severity"] != "note"]
    assert [code for code in codes if code != "E-PKG-020"] == wheel.codes  # another CPython runs the tests

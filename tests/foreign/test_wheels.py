"""Wheels that others made, by name and version, whose verdict equals a reading of their files without the loader.

The small ones are in the suite; ROCM_SDK_TEST_FOREIGN=all (`make test-foreign`) takes all, which are 1.5 GB.
"""

import json
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from ended import succeeded
from fetched_packages import BUILD
from sample_site import clean_environment

SMALL = {"amdsmi-7.0.2", "hip-python-10.0.0.0.1.2", "pyrsmi-1.1.0", "rocm-bindings-core-10.0.0.0.1.2"}
SMALL |= {"jax-rocm7-plugin-0.10.2", "rocm-bindings-hip-10.0.0.0.1.2", "pyamdgpuinfo-2.1.8", "numba-hip-0.2.1"}
SYSTEMS = (*(f"manylinux_2_{minor}_x86_64" for minor in (39, 34, 28, 27, 24, 17)), "manylinux2014_x86_64")
NONE = "-"


class Wheel(NamedTuple):
    project: str
    version: str
    first: str | None
    last: str | None
    codes: list[str]

    @property
    def name(self) -> str:
        return f"{self.project}-{self.version}"


def wheels() -> list[Wheel]:
    rows = []
    for line in Path(__file__).with_name("wheels.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            project, version, first, last, codes = line.split("\t")
            said = [None if text == NONE else text for text in (first, last)]
            rows.append(Wheel(project, version, *said, [] if codes == NONE else codes.split(",")))
    return rows


def fetch(wheel: Wheel) -> Path:
    """Return the wheel for CPython 3.11, fetched if it is absent.

    The wheel is for 3.11, whichever version runs the tests: it is read and not installed.
    """
    directory = BUILD / "wheels-of-the-index" / wheel.name
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


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheels are for x86-64")
@pytest.mark.parametrize("wheel", wheels(), ids=lambda wheel: wheel.name)
def test_what_is_said_of_it(wheel: Wheel, tmp_path: Path) -> None:
    if wheel.name not in SMALL and os.environ.get("ROCM_SDK_TEST_FOREIGN") != "all":
        pytest.skip("it is large: make test-foreign")
    command = [sys.executable, "-m", "rocm_sdk", "check", str(fetch(wheel)), "--sdk", str(tmp_path), "--json"]
    said = subprocess.run(
        [*command, "--gpu", "gfx90a"], env=clean_environment(), capture_output=True, text=True, check=False
    )
    (verdict,) = json.loads(said.stdout)["verdicts"]
    assert verdict["releases"] == {"first": wheel.first, "last": wheel.last}
    codes = [each["code"] for each in verdict["problems"] if each["severity"] != "note"]
    assert [code for code in codes if code != "E-PKG-020"] == wheel.codes  # another CPython runs the tests
    if "loads" in verdict["verdict"].partition(";")[0].split()[:1]:
        assert absent_by_ldd(fetch(wheel), tmp_path / "files") == set()


def absent_by_ldd(wheel: Path, directory: Path) -> set[str]:
    """Return the libraries that the linker of this system does not find for the wheel's modules, where pip puts them.

    Libraries that auditwheel adds (NAME.libs) are loaded by the modules, with their RPATH.
    """
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    found = (path for path in directory.rglob("*.so*") if not path.parent.name.endswith(".libs"))
    libraries = [path for path in found if path.read_bytes()[:4] == b"\x7fELF"]
    told = "".join(succeeded(["ldd", str(path)], env=clean_environment()).stdout for path in libraries)
    return {line.split()[0] for line in told.splitlines() if line.endswith("not found")}

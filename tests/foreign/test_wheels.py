"""Wheels that others made: what `check` says of each without an SDK, and with SDKs of three releases.

A row of verdicts.tsv has what a reading of the wheel's files says, by readelf, the wheel's own Python and dlopen. Each
run asks about stand-ins of the wheels (tests/wheel_shapes.py). `make test-foreign` (ROCM_SDK_TEST_FOREIGN=all) asks
about the wheels themselves, 2 GB of the public index, `make test-all` about the small ones.
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
from stand_in_sdks import RELEASES, write
from wheel_shapes import SHAPES, Shape, read, record, stand_in

SMALL = {"amdsmi-7.0.2", "hip_python-10.0.0.0.1.2", "pyrsmi-1.1.0", "rocm_bindings_core-10.0.0.0.1.2"}
SMALL |= {"jax_rocm7_plugin-0.10.2", "rocm_bindings_hip-10.0.0.0.1.2", "pyamdgpuinfo-2.1.8", "numba_hip-0.2.1"}
SMALL |= {"gafime_rocm-0.4.7", "triton_utlx_rocm-3.8.0.post1"}
SYSTEMS = (*(f"manylinux_2_{minor}_x86_64" for minor in (39, 35, 34, 28, 27, 24, 17)), "manylinux2014_x86_64")
SDKS = ("none", *RELEASES)
LOADS = {True: "yes", False: "no", None: "?"}


class Said(NamedTuple):
    """An answer: whether the wheel loads, and the codes of what is wrong."""

    loads: str
    codes: list[str]


class Row(NamedTuple):
    name: str
    releases: tuple[str, str]
    said: dict[str, Said]


def rows() -> list[Row]:
    found = []
    for line in Path(__file__).with_name("verdicts.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, first, last, *cells = line.split("\t")
            words = [cell.split(",") for cell in cells]
            said = {sdk: Said(cell[0], cell[1:]) for sdk, cell in zip(SDKS, words, strict=True)}
            found.append(Row(name, (first, last), said))
    return found


def shape_of(name: str) -> Shape:
    return read((SHAPES / f"{name}.txt").read_text(encoding="utf-8"))


def written(place: Path, shapes: list[Shape]) -> dict[str, Path]:
    (place / "none").mkdir()
    return {"none": place / "none", **{release: write(release, shapes, place / release) for release in RELEASES}}


def asked(sdk: Path, *asked_about: Path) -> list[tuple[tuple[str, str], Said]]:
    """Return the releases that `check` says of each wheel, and the rest of its answer."""
    words = [sys.executable, "-m", "rocm_sdk", "check", *asked_about, "--sdk", sdk, "--gpu", "gfx90a", "--json"]
    done = subprocess.run(words, env=clean_environment(), capture_output=True, text=True, check=False)
    answers = []
    for verdict in json.loads(done.stdout)["verdicts"]:
        codes = sorted({each["code"] for each in verdict["problems"] if each["severity"] != "note"})
        first, last = (verdict["releases"][name] or "-" for name in ("first", "last"))
        answers.append(((first, last), Said(LOADS[verdict["loads"]], codes)))
    return answers


def test_stand_ins(tmp_path: Path) -> None:
    """All in one test: they share the SDKs, which have all that the wheels want of them."""
    wanted = rows()
    shapes = [shape_of(row.name) for row in wanted]
    made = [stand_in(shape, tmp_path) for shape in shapes]
    answers = {sdk: asked(place, *made) for sdk, place in written(tmp_path, shapes).items()}
    for index, row in enumerate(wanted):
        assert {sdk: answers[sdk][index][1] for sdk in SDKS} == row.said, row.name
        assert answers["none"][index][0] == row.releases, row.name


def fetch(name: str) -> Path:
    """Return the wheel for CPython 3.11, or else 3.12, fetched if it is absent.

    That is so whichever version runs the tests: the wheel is read and not installed.
    """
    directory = BUILD / "wheels-of-the-index" / name
    project, _, version = name.rpartition("-")
    for python in ("3.11", "3.12"):
        if list(directory.glob("*.whl")):
            break
        words = ["--no-deps", "--only-binary", ":all:", "--python-version", python, "--dest", str(directory)]
        words += [word for system in SYSTEMS for word in ("--platform", system)]
        words += [word for abi in (f"cp{python.replace('.', '')}", "abi3", "none") for word in ("--abi", abi)]
        command = [sys.executable, "-m", "pip", "download", "-q", "--retries", "1", *words]
        done = subprocess.run([*command, f"{project}=={version}"], capture_output=True, text=True, check=False)
    if not list(directory.glob("*.whl")):
        pytest.skip(f"pip cannot fetch {name}: {done.stderr.strip().splitlines()[-1]}")
    (found,) = directory.glob("*.whl")
    return found


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wheels are for x86-64")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_the_wheel_itself(row: Row, tmp_path: Path) -> None:
    """A stand-in of its shape, as it is now, is answered as the wheel is, with SDKs that have all that it wants."""
    if row.name not in SMALL and os.environ.get("ROCM_SDK_TEST_FOREIGN") != "all":
        pytest.skip("it is large: make test-foreign")
    wheel = fetch(row.name)
    shape = record(wheel, limit=1 << 20)
    assert read(shape.as_text()) == shape
    made = stand_in(shape, tmp_path, for_any_system=False)
    places = written(tmp_path, [shape])
    for sdk in places.values():
        (releases, said), (releases_of_wheel, said_of_wheel) = asked(sdk, made, wheel)
        assert releases == releases_of_wheel
        if "E-PKG-020" not in said_of_wheel.codes:  # another CPython runs the tests
            assert said == said_of_wheel
    ((releases, said),) = asked(places["none"], wheel)
    assert releases == row.releases
    if said.loads == "yes":
        assert absent_by_ldd(wheel, tmp_path / "files") == set()


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

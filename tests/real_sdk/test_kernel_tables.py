"""The tables of kernels of Debian's rocBLAS and hipBLASLt, against the library of msgpack, which reads them whole."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgpack
import pytest

from rocm_sdk import coverage
from rocm_sdk_build.inputs.apt import Apt

pytestmark = pytest.mark.long

BUILD = Path(__file__).resolve().parents[2] / "build/kernel-tables"
GPUS = (
    "gfx803",
    "gfx900",
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx1010",
    "gfx1030",
    "gfx1100",
    "gfx1151",
    "gfx1200",
)


def kernels_of(suite: str, package: str) -> Iterator[Path]:
    """Yield the directory of a package's kernels.

    The unpacked files take gigabytes, and go afterwards.
    """
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no Debian packages to read")
    apt = Apt(BUILD / suite, suite)
    apt.update()
    if apt.available([package]) != [package]:
        pytest.skip(f"Debian's {suite} has no {package}, or there is no network")
    packages = apt.candidates([package])
    apt.confirm_lists()
    (root,) = apt.unpack(packages).values()
    (index, *_) = sorted(root.rglob("TensileLibrary*.dat"))
    yield index.parent
    apt.forget(packages)


@pytest.fixture(scope="module")
def merged() -> Iterator[Path]:
    """Yield a directory with a single index for all processors, with all kernels in it: rocBLAS 5."""
    yield from kernels_of("trixie", "librocblas0")


@pytest.fixture(scope="module", params=["librocblas4", "libhipblaslt1"])
def lazy(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Yield a directory with an index for each processor."""
    yield from kernels_of("sid", request.param)


def conditions(predicate: object) -> Iterator[str]:
    """Yield the processors that a predicate names."""
    if isinstance(predicate, list):
        for each in predicate:
            yield from conditions(each)
    elif isinstance(predicate, dict):
        if predicate["type"] == "Processor":
            yield predicate["value"]
        else:
            yield from conditions(predicate.get("value"))


def tables(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from tables(each)
    elif isinstance(value, dict):
        if value.get("type") == "Placeholder":
            yield value["value"]
        else:
            for each in value.values():
                yield from tables(each)


def rows(index: Path) -> list[tuple[list[str], object]]:
    """Return the processors of each row, and the library with its tables."""
    content = msgpack.unpackb(index.read_bytes())
    assert isinstance(content, dict)
    return [(list(conditions(row["predicate"])), row["library"]) for row in content["library"]["rows"]]


def answers(kernels: Path) -> dict[str, str | None]:
    found = coverage(GPUS, kernels)
    assert found.faults == ()
    (row,) = found.libraries
    assert all(on.missing_table is None for on in row.gpus)
    return {on.gpu: on.tables for on in row.gpus}


def expected(known: list[list[str]]) -> str:
    return "tuned" if any(known) else "fallback" if known else "none"


@pytest.mark.slow
def test_one_index_for_all(merged: Path) -> None:
    known = [processors for processors, _ in rows(merged / "TensileLibrary.dat")]
    has_code = {path.stem.rpartition("-gfx")[2].partition("-")[0] for path in merged.glob("Kernels.so-000-*.hsaco")}
    assert [] in known and len(has_code) > 5
    for gpu, answer in answers(merged).items():
        own = [each for each in known if not each or gpu in each]
        assert answer == (expected(own) if gpu.removeprefix("gfx") in has_code else "none"), gpu


@pytest.mark.slow
def test_an_index_for_each_processor(lazy: Path) -> None:
    said = answers(lazy)
    counts = dict.fromkeys(said.values(), 0)
    for gpu, answer in said.items():
        index = lazy / f"TensileLibrary_lazy_{gpu}.dat"
        own = rows(index) if index.exists() else []
        assert answer == expected([processors for processors, _ in own if not processors or gpu in processors]), gpu
        counts[answer] += 1
        for _, library in own:
            names = list(tables(library))
            assert names
            assert all((lazy / f"{name}.dat").exists() for name in names)
    assert counts["tuned"] > 2
    assert counts["none"] > 1

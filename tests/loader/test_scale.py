"""Cost grows as the number of libraries grows, and no faster: four times as many may not take sixteen times as long."""

import importlib
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_site import CORE, Site, clean_environment
from system_calls import traced

ROOT = "libroctx64.so.4"
FEW, MANY = 1000, 4000
GROWTH = 9.0  # linear: 4, quadratic: 16

# The least of several rounds: what else runs on the machine only adds.
MEASURE = """
    import time, rocm_sdk
    def once():
        start = time.process_time()
        try:
            rocm_sdk.load_plan("roctx64")
        except rocm_sdk.LibraryNotFoundError:
            pass
        return time.process_time() - start
    print(min(once() for _ in range(3)))
"""
MEASURE_MEMORY = """
    import rocm_sdk
    peak = lambda: int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
    open("/proc/self/clear_refs", "w").write("5")
    before = peak()
    plan = rocm_sdk.load_plan("roctx64")
    print(peak() - before, len(plan.steps[0].members))
"""


@pytest.fixture
def write(benchmarks_parent: Path, site: Site) -> Callable[..., None]:
    """write(soname, needed, rpath): a library of the core package."""
    assert benchmarks_parent.is_dir()
    minimal_library = importlib.import_module("benchmarks.minimal_library").minimal_library
    directory = site.path / CORE / "lib"
    directory.mkdir()

    def write(soname: str, *needed: str, rpath: str | None = "$ORIGIN") -> None:
        (directory / soname).write_bytes(minimal_library(soname, needed, rpath))

    return write


def name(index: int) -> str:
    return f"libn{index}.so.1" if index else ROOT


def chain(write: Callable[..., None], count: int) -> None:
    for i in range(count):
        write(name(i), *([name(i + 1)] if i + 1 < count else []))


def fan(write: Callable[..., None], count: int, rpath: str | None = None) -> None:
    write(ROOT, *map(name, range(1, count)), rpath=rpath)
    for i in range(1, count):
        write(name(i), rpath=rpath)


def missing_needs(write: Callable[..., None], count: int) -> None:
    for i in range(count // 4):
        write(name(i), f"libabsent{i}.so.1", *([name(i + 1)] if i + 1 < count // 4 else []))


def missing_library(write: Callable[..., None], count: int) -> None:
    for i in range(1, count + 1):
        write(name(i))


@pytest.mark.parametrize("shape", [chain, fan, missing_needs, missing_library])
def test_time_grows_with_the_number(site: Site, write: Callable[..., None], shape: Callable[..., None]) -> None:
    seconds = []
    for count in (FEW, MANY):
        shape(write, count)
        seconds.append(float(site.output(MEASURE)))
    assert seconds[1] < GROWTH * seconds[0], seconds


def test_memory_of_a_chain_is_bounded(site: Site, write: Callable[..., None]) -> None:
    chain(write, 2000)
    kilobytes, members = map(int, site.output(MEASURE_MEMORY).split())
    assert members == 2000
    assert kilobytes <= 40 << 10


OWN_TIME = 40e-6  # seconds a library: the plan is what loading adds to dlopen
LOAD = """
    import rocm_sdk
    print(len(rocm_sdk.load_plan("roctx64").steps))
    rocm_sdk.preload_libraries("roctx64")
"""
# Calls for each library: the linker opens it, reads its header and maps two segments; each of the two plans opens it
# and reads two places of it.
CALLS = {"openat": 3, "read": 1, "mmap": 2, "pread64": 4}
OTHERS = 200  # calls of the interpreter


@pytest.mark.parametrize("rpath", ["$ORIGIN", None], ids=["rpaths", "anchor"])
def test_a_library_that_needs_a_thousand(
    site: Site, write: Callable[..., None], tmp_path: Path, rpath: str | None
) -> None:
    """One dlopen loads them all, and the linker opens each of them once: through an anchor too."""
    fan(write, FEW, rpath)
    assert float(site.output(MEASURE)) <= OWN_TIME * FEW
    assert site.output(LOAD) == "1"
    command = [sys.executable, "-c", textwrap.dedent(LOAD)]
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    lines = traced(command, ",".join(CALLS), tmp_path / "calls", environment)
    made = Counter(line.split("(")[0].split()[-1] for line in lines)
    over = {name: made[name] - CALLS[name] * FEW for name in CALLS}
    assert all(0 <= number <= OTHERS for number in over.values()), over

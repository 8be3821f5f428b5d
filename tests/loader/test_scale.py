"""Cost grows as the number of libraries grows, and no faster: four times as many may not take sixteen times as much."""

import importlib
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import CORE, Site, clean_environment
from system_calls import traced
from system_programs import need

pytestmark = pytest.mark.slow

# Shortname -> the library that it stands for, from which others are reached.
ROOTS = {"roctx64": "libroctx64.so.4", "rocm_smi64": "librocm_smi64.so.7", "amdhip64": "libamdhip64.so.7"}
NONE, FEW, MANY = 4, 500, 2000
GROWTH = 3.6  # linear: 3, quadratic: 15
OWN = 50_000  # instructions a library: the plan is what loading adds to dlopen

PLAN = """
    import rocm_sdk
    for name in ("roctx64", "rocm_smi64", "amdhip64", "hiprtc"):
        try:
            rocm_sdk.load_plan(name)
        except rocm_sdk.LibraryNotFoundError:
            pass
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
    """Return a function that writes a library of the core package.

    The arguments are the SONAME, the needed SONAMEs, and the RPATH or None.
    """
    assert benchmarks_parent.is_dir()
    minimal_library = importlib.import_module("benchmarks.minimal_library").minimal_library
    directory = site.path / CORE / "lib"
    directory.mkdir()

    def write(soname: str, *needed: str, rpath: str | None = "$ORIGIN") -> None:
        (directory / soname).write_bytes(minimal_library(soname, needed, rpath))

    return write


def names(root: str, count: int) -> list[str]:
    return [ROOTS[root], *(f"lib{root}-{i}.so.1" for i in range(1, count))]


def chain(write: Callable[..., None], count: int, root: str = "roctx64") -> None:
    each = names(root, count)
    for i in range(count):
        write(each[i], *each[i + 1 : i + 2])


def fan(write: Callable[..., None], count: int, root: str = "roctx64", rpath: str | None = None) -> None:
    first, *others = names(root, count)
    write(first, *others, rpath=rpath)
    for each in others:
        write(each, rpath=rpath)


def missing_needs(write: Callable[..., None], count: int, root: str) -> None:
    each = names(root, count // 4)
    for i in range(count // 4):
        write(each[i], f"libabsent{i}.so.1", *each[i + 1 : i + 2])


def instructions(site: Site) -> int:
    """Return the instructions of the plans, and of the interpreter that makes them."""
    need("valgrind")
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    fixed = {"PYTHONPATH": str(site.path), "PYTHONHASHSEED": "0", "ROCM_SDK_READ_AHEAD": "0"}
    done = completed([*command, "-c", textwrap.dedent(PLAN)], env=clean_environment() | fixed)
    assert done.returncode == 0, done.stderr
    return int(re.findall(r"Collected : (\d+)", done.stderr)[0])


def test_instructions_grow_with_the_number(site: Site, write: Callable[..., None]) -> None:
    """A chain, libraries that one needs, needs that are missing, a library that is missing beside all of them.

    The interpreter takes the same for each number.
    """
    counts = []
    for number in (NONE, FEW, MANY):
        chain(write, number, "roctx64")
        fan(write, number, "rocm_smi64")
        missing_needs(write, number, "amdhip64")
        counts.append(instructions(site))
    none, few, many = counts
    assert few - none <= OWN * (FEW + FEW + FEW // 4), counts
    assert many - few < GROWTH * (few - none), counts


@pytest.mark.always
def test_memory_of_a_chain_is_bounded(site: Site, write: Callable[..., None]) -> None:
    chain(write, 2000)
    kilobytes, members = map(int, site.output(MEASURE_MEMORY).split())
    assert members == 2000
    assert kilobytes <= 40 << 10


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
    """A single dlopen loads them all, and the linker opens each library once: through an anchor too."""
    fan(write, 1000, rpath=rpath)
    assert site.output(LOAD) == "1"
    command = [sys.executable, "-c", textwrap.dedent(LOAD)]
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    lines = traced(command, ",".join(CALLS), tmp_path / "calls", environment)
    made = Counter(line.split("(")[0].split()[-1] for line in lines)
    over = {name: made[name] - CALLS[name] * 1000 for name in CALLS}
    assert all(0 <= number <= OTHERS for number in over.values()), over

"""`make budgets`: counts what importing and initialising cost, and compares each count with its row in budgets.tsv.

A count over something is the difference between two processes: the package, and a bare loop that does the same without
it. Counts are the same on each run, so a difference of more than two percent is a change of the sources. Instructions
may differ by five percent: the import takes two percent less in the interpreter of Debian 12's update of October 2026
(3.11.2-6+deb12u9) than in the update of April 2025 (deb12u6). Less is refused as well as more: a budget above what is
needed hides what grows later. The rows hold for one system, which the file names; elsewhere the counts are printed and
not compared. Exit status 0 where nothing differs, else 1.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from sample_machine import Machine

from .load_order import dlopen_order
from .minimal_library import minimal_library
from .observation import FILE_CALLS, complete
from .row_closure import LIBRARY
from .stage import BUILD, SHORTNAMES, SOURCES, Environment, make_stage

ROWS = SOURCES / "budgets.tsv"
TOLERANCE = 0.02
TOLERANCE_OF_INSTRUCTIONS = 0.05  # another build of one release of Python counts for two percent
READ = re.compile(r"^(?:\d+ +)?(?:read|pread64)\(.* = (\d+)$")
# Commands whose looks at the SDK are counted: opens of libraries and of metadata, without opens by programs that a
# command starts. A file counts as often as it is opened, by any name and in any thread.
COMMANDS = ("list", "check --gpu gfx1030", "tree --bindings", "test")
ABSENT = 400  # needs of a library, and directories of its RUNPATH; both are nowhere
MORE = 20  # number of additional GPUs, and reports of nodes, whose cost is counted
LOADS = 5  # loads of real libraries whose median is taken: an odd number
METADATA = frozenset({"_dist_info.py", "dist_info.json", "libraries_dist_info.json", "METADATA", "RECORD"})
OPENED = re.compile(r"^(\d+) +openat\(.* = \d+<([^>]*)>$")
BEGUN = re.compile(r"^\d+ +(?:<\.\.\. )?(?:vfork|fork|clone3?)\b(?!.*CLONE_THREAD).* = (\d+)$")
# glibc takes no variant of its functions that some processors lack. Variables stand in for Python's option -I, which
# would make Python ignore the seed of its hashes.
PINNED = {
    "PATH": "/usr/bin:/bin",
    "PYTHONNOUSERSITE": "1",
    "PYTHONSAFEPATH": "1",
    "ROCM_SDK_READ_AHEAD": "0",  # strace and valgrind make warm files slow
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-AVX512F,-AVX512VL,-AVX512BW,-BMI1,-BMI2,-ERMS,-FSRM,-LZCNT,-MOVBE",
}


class Row(NamedTuple):
    """A count that was agreed on, and the reason for its value."""

    count: int
    reason: str


def system() -> str:
    """Return the facts of the system on which the counts depend, beside the sources."""
    valgrind = subprocess.check_output(["valgrind", "--version"], text=True).strip()
    return (
        f"{platform.machine()}, CPython {platform.python_version()}, {' '.join(platform.libc_ver())}, "
        f"{platform.python_compiler()}, {valgrind}"
    )


def read_rows(path: Path) -> tuple[str, dict[str, Row]]:
    """Return the system that the rows are for, and the rows."""
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines]
    return first.removeprefix("# "), {name: Row(int(count), reason) for name, count, reason in cells}


def write_rows(path: Path, where: str, rows: Mapping[str, Row]) -> None:
    """Write a table of budgets: first the system `where` as a comment, then name, count and reason of each row."""
    lines = [f"# {where}", *(f"{name}\t{row.count}\t{row.reason}" for name, row in rows.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(rows: Mapping[str, Row], counts: Mapping[str, int]) -> dict[str, str]:
    """Return the difference of each name whose count does not fit, in words."""
    found = {name: "nothing counts it any more" for name in rows if name not in counts}
    for name, count in counts.items():
        if name not in rows:
            found[name] = "it has no row"
        elif abs(count - rows[name].count) > tolerance(name) * abs(rows[name].count):
            found[name] = f"{count}, its row says {rows[name].count}"
    return found


def tolerance(name: str) -> float:
    """Return the part of a row's count by which a new count may differ: 0.02 is two percent."""
    return TOLERANCE_OF_INSTRUCTIONS if ": instructions" in name else TOLERANCE


def revised(rows: Mapping[str, Row], counts: Mapping[str, int], reason: str) -> dict[str, Row]:
    """Return the rows with the counts that differ."""
    different = differences(rows, counts)
    return {name: Row(count, reason) if name in different else rows[name] for name, count in counts.items()}


def take_counts(environment: Environment, scratch: Path) -> dict[str, int]:
    """Return all counts by the names of their rows, as strace and valgrind give them; `scratch` gets their files."""
    bare_import = pinned(environment, "import_module", "bare_package")
    own_import = pinned(environment, "import_module", "rocm_sdk")
    loop = pinned(environment, "open_all", *dlopen_order(environment))
    initialize = pinned(environment, "initialize", "rocm_sdk", *SHORTNAMES)
    plan = pinned(environment, "show_plan", *SHORTNAMES)
    loop_calls, own_calls = (calls(line, scratch) for line in (loop, initialize))
    return {
        "import: instructions over an empty package": instructions(own_import) - instructions(bare_import),
        "init: instructions over a loop of dlopen": instructions(initialize) - instructions(loop),
        "init: calls on files over a loop of dlopen": len(own_calls) - len(loop_calls),
        "init: bytes read over a loop of dlopen": bytes_read(own_calls) - bytes_read(loop_calls),
        "plan: bytes allocated over an import": allocated_bytes(plan) - allocated_bytes(own_import),
        **{name: count for words in COMMANDS for name, count in opens(environment, words, scratch).items()},
        **opens_of_closure(environment, scratch),
        f"plan: calls on files for {ABSENT} absent libraries and directories": calls_of_absence(environment, scratch),
        f"gpus: calls on files for {MORE} more": calls_of_gpus(environment, scratch),
        f"test --merge: instructions for {MORE} more reports": instructions_of_merge(environment, scratch),
    }


def instructions_of_real_load() -> dict[str, int]:
    """Return the instructions for five libraries of Debian's ROCm, of which LLVM alone has 46,000 symbols.

    There are none where no apt-get fetches Debian's ROCm. The instructions of a load differ by 0.2 percent from run to
    run (a constructor of libhsa-runtime64 reads a clock in a loop), which is five percent of the difference.
    """
    counts = {}
    stage = make_stage(BUILD / "budget-stage", is_smoke=False)
    for shape in () if stage.has_sample_sdk else stage.shapes:
        environment = stage.environment(shape)
        loop = pinned(environment, "without_end", "open_all", *dlopen_order(environment))
        initialize = pinned(environment, "without_end", "initialize", "rocm_sdk", *SHORTNAMES)
        name = f"init of Debian's ROCm, {shape.value}: instructions over a loop of dlopen"
        own, bare = (median(instructions(line) for _ in range(LOADS)) for line in (initialize, loop))
        counts[name] = own - bare
    return counts


def opens(environment: Environment, words: str, scratch: Path) -> dict[str, int]:
    """Return how often a command opens libraries of the SDK, and files with facts of the SDK."""
    return opens_of(words, command(environment, *words.split()), environment, scratch)


def opens_of_closure(environment: Environment, scratch: Path) -> dict[str, int]:
    """Return the same counts for `closure`, whose program is where the benchmarks are."""
    words = ("closure", "--library", LIBRARY, "--no-proof", "--output", str(scratch / "closure"))
    line = [sys.executable, "-m", "rocm_sdk_build", *words]
    return opens_of("closure", line, environment, scratch, ROCM_SDK_ROOT=str(environment.site))


def command(environment: Environment, *words: str) -> list[str]:
    """Return the command line of `rocm-sdk`."""
    return [str(environment.python), str(environment.python.with_name("rocm-sdk")), *words]


def opens_of(
    name: str, line: Sequence[str], environment: Environment, scratch: Path, **variables: str
) -> dict[str, int]:
    """Return how often a command opens libraries of the environment's SDK, and files with facts of the SDK."""
    record = scratch / "opens"
    traced = ["strace", "-f", "-y", "-qq", "-o", str(record), "-e", "trace=openat,fork,vfork,clone,clone3", *line]
    complete(traced, (0, 1, 3), **PINNED, **variables)
    lines = record.read_text(encoding="utf-8", errors="replace").splitlines()
    programs = {found[1] for found in map(BEGUN.match, lines) if found}
    opened = [Path(found[2]) for found in map(OPENED.match, lines) if found and found[1] not in programs]
    of_sdk = [path for path in opened if path.is_relative_to(environment.site)]
    libraries = [path for path in of_sdk if ".so" in path.name and "_rocm_sdk_" in path.as_posix()]
    metadata = [path for path in of_sdk if path.name in METADATA and "loader" not in path.parent.name]
    return {f"{name}: opens of libraries": len(libraries), f"{name}: opens of metadata": len(metadata)}


def calls_of_absence(environment: Environment, scratch: Path) -> int:
    """Return the calls on files of a plan for a library that needs many others, with many directories in its RUNPATH.

    The linker remembers an absent directory: for each need, it asks the system's directories alone.
    """
    counts = []
    for count in (0, ABSENT):
        file = scratch / f"needs-{count}.so"
        needs = tuple(f"libabsent{number}.so" for number in range(count))
        directories = ":".join(f"/nonexistent/{number}" for number in range(count))
        file.write_bytes(minimal_library(file.name, needs, directories or None))
        code = "import sys, rocm_sdk; rocm_sdk.load_plan(files=sys.argv[1:])"
        counts.append(len(calls([str(environment.python), "-W", "ignore", "-c", code, str(file)], scratch)))
    return counts[1] - counts[0]


def calls_of_gpus(environment: Environment, scratch: Path) -> int:
    """Return the calls on files for more GPUs; three files are read for each GPU."""
    counts = []
    for count in (1, 1 + MORE):
        machine = Machine(scratch / f"machine-{count}")
        machine.cpu(0)
        for node in range(1, count + 1):
            machine.gpu(node, "gfx942", num_xcc=8)
        line = [*command(environment, "gpus"), "--json"]
        counts.append(len(calls(line, scratch, ROCM_SDK_ROOTFS=str(machine.root))))
    return counts[1] - counts[0]


def instructions_of_merge(environment: Environment, scratch: Path) -> int:
    """Return the instructions for more reports of one outcome, as most nodes of a cluster have it."""
    report = json.loads(complete(command(environment, "test", "--json"), (0, 1), **PINNED).stdout)
    counts = []
    for count in (MORE, 2 * MORE):
        directory = scratch / f"reports-{count}"
        directory.mkdir()
        for node in range(count):
            report["node"]["host"] = report["node"]["name"] = f"node{node:03}"
            (directory / f"{node:03}.json").write_text(json.dumps(report), encoding="utf-8")
        counts.append(instructions(command(environment, "test", "--merge", str(directory)), (0, 1)))
    return counts[1] - counts[0]


def pinned(environment: Environment, action: str, *arguments: str) -> list[str]:
    """Return the command line of a measured process that heeds PINNED."""
    return [word for word in environment.command(action, *arguments) if word != "-I"]


def instructions(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> int:
    """Return the number of instructions that callgrind counts."""
    counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *arguments]
    said = complete(counted, statuses, **PINNED).stderr
    return int(re.findall(r"Collected : (\d+)", said)[0])


def allocated_bytes(arguments: Sequence[str]) -> int:
    """Return the bytes that malloc allocates, through which Python allocates here too."""
    said = complete(["valgrind", "--leak-check=no", *arguments], PYTHONMALLOC="malloc", **PINNED).stderr
    return int(re.findall(r"allocs, [\d,]+ frees, ([\d,]+) bytes allocated", said)[0].replace(",", ""))


def calls(arguments: Sequence[str], scratch: Path, **environment: str) -> list[str]:
    """Return the calls that look for, open, list and read files, a line for each."""
    record = scratch / "strace"
    traced = ["strace", "-f", "-qq", "-o", str(record), "-e", f"trace={FILE_CALLS},read,pread64", *arguments]
    complete(traced, **PINNED, **environment)
    return record.read_text(encoding="utf-8", errors="replace").splitlines()


def bytes_read(lines: Sequence[str]) -> int:
    """Return the bytes that the read(2) and pread64(2) calls in strace's lines have read; failed calls read none."""
    return sum(int(match[1]) for match in map(READ.match, lines) if match)


def main() -> int:
    """Print the counts, then compare the rows or, with --reason, write them; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets", description=__doc__)
    parser.add_argument("--reason", help="write the counts that differ into the file, with this reason")
    parser.add_argument("--must-compare", action="store_true", help="fail on a system that the rows are not for")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-sdk-budgets-", dir="/tmp") as directory:  # a path of one length
        stage = make_stage(Path(directory, "stage"), is_smoke=True)
        counts = take_counts(stage.environment(stage.shapes[0]), Path(directory)) | instructions_of_real_load()
    where, rows = read_rows(ROWS) if ROWS.exists() else (system(), {})
    for name, count in counts.items():
        print(f"{name}: {count}")
    if options.reason:
        write_rows(ROWS, system(), revised(rows if where == system() else {}, counts, options.reason))
        return 0
    if where != system():
        print(f"nothing is compared: {ROWS.name} is for {where}; this is {system()}", file=sys.stderr)
        return int(options.must_compare)
    found = differences(rows, counts)
    for name, words in found.items():
        print(f"{ROWS.name}: {name}: {words}", file=sys.stderr)
    if found:
        print("if that is meant: make budgets REASON='why', and commit the file", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

"""`make tier`: measures what each case reaches in a copy of the sources, and writes the first tier to tests/tiers.tsv.

usage: python3.13 tests/tier [--steps measure,choose,mutants] [PYTEST ARGUMENT...]

The steps, one after the other:
    measure   run the usual tests, or those that are named, with the instruments of this directory. What was measured
              before stays in build/reach, of other tests and of those whose sources changed
    choose    write the rows: those by hand, what kills a mutation that nothing else kills, and what reaches most
    mutants   run each row of tests/mutants/table.py against the first tier. Where it notices nothing, find a usual case
              that does, and choose again with that
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from choosing import KILLS, REACHES, chosen_cases, rows_of
from reach import Measured, Run
from source_copy import ROOT, refresh
from tiers import FIRST, TABLE, is_defined, names, read_rows, written

COPY = ROOT / "build/tier"
REACH = COPY / "build/reach"
KILLERS = ROOT / "build/killers.tsv"
STEPS = ("measure", "choose", "mutants")
PACKAGES = ("rocm_sdk", "builder/rocm_sdk_build", "variant_provider/rocm_sdk_variant_provider")
# Programs of C have the instruments, and each command of rocm-sdk-build starts an interpreter, which has them.
SETTINGS = {"ROCM_SDK_TEST_C": "reach", "ROCM_SDK_TEST_STARTS": "real"}
PYTEST = "build/venv-develop/bin/pytest"


def make(*words: str) -> None:
    """Run make in the copy."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.run(["make", "-s", "-C", str(COPY), *words], env=inherited, check=True)


def prepare() -> None:
    """Compile the copy with the instruments, and put the recorder into its environment."""
    refresh(COPY)
    for name in ("current", "maps", "blocks"):
        (REACH / name).mkdir(parents=True, exist_ok=True)
        (REACH / name).chmod(0o1777)  # other users reach code, too
    make("develop", f"PYTHON={sys.executable}")
    for path in (REACH / "blocks").iterdir():
        path.unlink()
    make("-j2", "VARIANT=reach", "in-place", "c-programs")
    write_files()
    (site,) = (COPY / "build/venv-develop").glob("lib/python*/site-packages")
    (site / "reach_recorder.py").unlink(missing_ok=True)
    (site / "reach_recorder.py").symlink_to(COPY / "tests/tier/recorder.py")
    # A proof of a closure runs this interpreter where it cannot read the recorder.
    (site / "reach.pth").write_text("exec('try: import reach_recorder\\nexcept Exception: pass')\n")


def write_files() -> None:
    """Give each measured file its bytes in a map: those that it had, unless it has more lines now."""
    table = REACH / "files.tsv"
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()] if table.exists() else []
    places = {name: (int(base), int(count)) for base, count, name in rows}
    end = max((base + count for base, count in places.values()), default=1 << 18)
    for package in PACKAGES:
        for path in sorted((COPY / package).rglob("*.py")):
            name = path.relative_to((COPY / package).parent).as_posix()
            count = len(path.read_text(encoding="utf-8").splitlines()) + 2
            if places.get(name, (0, 0))[1] < count:
                places[name] = end, count
                end += count
    lines = (f"{base}\t{count}\t{name}\n" for name, (base, count) in places.items())
    table.write_text("".join(lines), encoding="utf-8")


def measure(arguments: list[str]) -> None:
    """Run the tests that are named, or all."""
    prepare()
    options = ["--numprocesses=2", "--dist=loadgroup", "--only=usual", f"--reach={REACH}", "-q", *arguments]
    # A case that fails under the instruments has reached something, too.
    subprocess.run([PYTEST, *options], cwd=COPY, env=os.environ | SETTINGS, check=False)
    Run(REACH, COPY).keep()


def collected() -> set[str]:
    """Return the names of all cases that this interpreter has."""
    command = [PYTEST, "--collect-only", "-q", "--only=usual"]
    output = subprocess.run(command, cwd=COPY, check=True, capture_output=True, text=True).stdout
    return {line.removeprefix("tests/") for line in output.splitlines() if line.startswith("tests/")}


def choose() -> None:
    """Write the table."""
    refresh(COPY)
    measured = Measured(REACH)
    usual = collected()
    cases = {name: case for name, case in measured.cases.items() if name in usual}
    by_hand = [row for row in read_rows(TABLE.read_text(encoding="utf-8")) if row.why not in {REACHES, KILLS}]
    gone = [row.name for row in by_hand if not is_defined(row.name)]
    if gone:
        sys.exit(f"tests/tiers.tsv: {', '.join(gone)}: nothing has this name; a row by hand is to follow a move")
    killers = read_killers()
    kills = {case for case in cases if not killers.isdisjoint(names(case))}
    kept = kills | {case for case in cases for row in by_hand if row.tier == FIRST and row.name in names(case)}
    chosen = chosen_cases(cases, kept)
    TABLE.write_text(written(rows_of(chosen, cases, by_hand, kills)), encoding="utf-8")
    reached = everything = 0
    for name, case in cases.items():
        everything |= case.reached
        reached |= case.reached if name in chosen else 0
    share = reached.bit_count() / everything.bit_count()
    seconds = sum(cases[name].seconds for name in chosen)
    print(f"{len(chosen)} of {len(cases)} cases, {seconds:.0f} processor seconds, reach {share:.1%}")
    if unmeasured := usual - {*cases}:
        print(f"not measured: {len(unmeasured)} cases, such as {min(unmeasured)}")


def read_killers() -> frozenset[str]:
    """Return what noticed a mutation in an earlier step."""
    rows = KILLERS.read_text(encoding="utf-8").splitlines() if KILLERS.exists() else []
    return frozenset(row.partition("\t")[2] for row in rows)


def try_mutations() -> None:
    """Run the table of mutations against the first tier, in two copies, and choose again with what it missed."""
    KILLERS.unlink(missing_ok=True)
    command = [sys.executable, str(ROOT / "tests/mutants"), "--first-tier"]
    shares = [
        subprocess.Popen([*command, f"--share={i}/2", f"--copy={ROOT / 'build/mutants'}-{i}"], text=True)
        for i in (1, 2)
    ]
    for share in shares:
        share.wait()
    choose()


def main() -> int:
    """Take the steps that the command names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", default=",".join(STEPS), metavar="STEP,STEP...")
    options, arguments = parser.parse_known_args()
    steps = options.steps.split(",")
    if not {*steps} <= {*STEPS}:
        parser.error(f"the steps are {', '.join(STEPS)}")
    if sys.version_info[:2] not in {(3, 12), (3, 13)}:
        parser.error("CPython 3.12 or 3.13 tells of lines and branches as this needs: make tier PYTHON=python3.13")
    if "measure" in steps:
        measure(arguments)
    if "choose" in steps:
        choose()
    if "mutants" in steps:
        try_mutations()
    return 0


if __name__ == "__main__":
    sys.exit(main())

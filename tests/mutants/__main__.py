"""`make mutants`: applies each mutation of the table to a copy of the sources and runs the tests that should notice.

usage: python3 tests/mutants [WORD]      only rows whose file or text has this word

A mutation is killed where one of its tests fails. Exit status 0 where all are killed, 1 where one survives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from table import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/mutants"
SECONDS = 300  # of one test; a mutation may make it hang


def main(words: list[str]) -> int:
    """Runs the chosen rows and prints one line for each."""
    chosen = [row for row in MUTATIONS if all(word in f"{row.file} {row.before} {row.after}" for word in words)]
    tests = sorted({test for row in chosen for test in row.tests})
    make_copy()
    compile_copy(tests)
    run_tests(tests, must_pass=True)
    survivors = 0
    for row in chosen:
        began = time.monotonic()
        is_killed = try_mutation(row)
        survivors += not is_killed
        verdict = "killed  " if is_killed else "SURVIVED"
        print(f"{verdict}  {time.monotonic() - began:4.0f} s  {row.file}: {row.after.strip() or 'removed'}", flush=True)
    print(f"{len(chosen)} mutations, {survivors} survived")
    return int(survivors > 0)


def make_copy() -> None:
    """Copies the files that git knows or would take."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, COPY / name
        if source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def compile_copy(tests: Sequence[str]) -> bool:
    """Whether it compiles, as far as the tests need."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    wheel = ["wheel"] if any(test.startswith("tests/adoption") for test in tests) else []
    command = ["make", "-s", "VARIANT=gcc", "develop", "c-programs", *wheel]
    result = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0 and "error:" not in result.stderr:
        sys.exit(f"the copy cannot be made:\n{result.stdout}{result.stderr}")
    return result.returncode == 0


def try_mutation(row: Mutation) -> bool:
    """Whether a test notices; the copy is as before afterwards."""
    file = COPY / row.file
    text = file.read_text(encoding="utf-8")
    if text.count(row.before) != 1:
        sys.exit(f"tests/mutants/table.py: {row.file} has {text.count(row.before)} times: {row.before}")
    file.write_text(text.replace(row.before, row.after), encoding="utf-8")
    try:
        if not compile_copy(row.tests):
            sys.exit(f"tests/mutants/table.py: {row.file} does not compile with: {row.after}")
        return not run_tests(row.tests)
    finally:
        file.write_text(text, encoding="utf-8")
        compile_copy(row.tests)


def run_tests(tests: Sequence[str], *, must_pass: bool = False) -> bool:
    """Whether all pass: C programs (test_plan) and pytest's paths (tests/devel/test_lock.py)."""
    for test in tests:
        command = ["build/venv-develop/bin/pytest", "-q", "-x", "-p", "no:xdist", test]
        if not test.startswith("tests/"):
            command = [f"build/c/gcc/tests/c/{test}"]
        try:
            result = subprocess.run(command, cwd=COPY, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            result = subprocess.CompletedProcess(command, -1, "it hangs", "")
        if result.returncode != 0:
            if must_pass:
                sys.exit(f"{test} fails without a mutation:\n{result.stdout}{result.stderr}")
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

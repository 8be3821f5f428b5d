"""`make mutants`: applies mutations to a copy of the sources, one at a time, and runs the tests that should notice.

usage: python3 tests/mutants [--first-tier] [--generated N] [--seed S] [--copy DIR] [--share 1/2] [WORD...]

Without --generated: the rows of the table. With it: N of the mutations that `generate` makes of each module of the
table, picked by the seed. Words choose rows or modules by their file or text; of two shares each has every second.
A mutation is killed where one of its tests fails. C programs that notice nothing are tried under the sanitizers, too.
What survives that is argued, where argued.py says why it changes nothing. Exit status 0 where none survives, else 1.

With --first-tier, only what the first tier (tests/tiers.tsv) has of a row's tests counts. Where that notices nothing,
the mutation is missed, and the rest of these tests says which case notices it. build/killers.tsv gets what noticed
each; where that is in the tier, the next run takes it for killed.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from argued import ARGUED
from first_tier import is_noticed, note, tests_in_tier
from generate import changes
from source_copy import ROOT, refresh
from table import MODULES, MUTATIONS

SECONDS = 300  # of one test; a mutation may make it hang
KILLED, SANITIZED, SURVIVED, ARGUED_AWAY, NOT_COMPILED = "killed", "sanitized", "SURVIVED", "argued", "not compiled"
USAGE = 4  # status of pytest
MISSED = "MISSED"  # by the first tier, while another test notices it


class Mutant(NamedTuple):
    """A file as it is mutated, the lines that say how, and the tests of which one must fail."""

    file: str
    text: str
    before: str
    after: str
    tests: tuple[str, ...]


class Copy:
    """The copy of the sources in which mutations are tried."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def compile(self, tests: Sequence[str], variant: str = "gcc") -> bool:
        """Return whether the copy compiles, as far as the tests need."""
        programs = [f"build/c/{variant}/tests/c/{test}" for test in tests if not test.startswith("tests/")]
        develop = ["develop"] if len(programs) < len(tests) else []
        wheel = ["wheel"] if any(test.startswith("tests/adoption") for test in tests) else []
        command = ["make", "-s", f"VARIANT={variant}", *develop, *programs, *wheel]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        result = subprocess.run(
            command, cwd=self.directory, env=environment, capture_output=True, text=True, check=False
        )
        if result.returncode != 0 and "error:" not in result.stderr:
            sys.exit(f"the copy cannot be made:\n{result.stdout}{result.stderr}")
        return result.returncode == 0

    def verdict(self, mutant: Mutant, *, of_first_tier: bool) -> tuple[str, str]:
        """Return what becomes of a mutation, and the test that notices it; the copy is as before afterwards."""
        file = self.directory / mutant.file
        text = file.read_text(encoding="utf-8")
        # Python's sources are used in place; only the adoption is tested as a wheel.
        compiles = file.suffix != ".py" or any(test.startswith("tests/adoption") for test in mutant.tests)
        file.write_text(mutant.text, encoding="utf-8")
        try:
            if compiles and not self.compile(mutant.tests):
                return NOT_COMPILED, ""
            if killer := self.killer(tests_in_tier(mutant.tests) if of_first_tier else mutant.tests):
                return KILLED, killer
            if of_first_tier and (killer := self.killer(mutant.tests)):
                return MISSED, killer
            return SURVIVED if self.passes_sanitized(mutant) else SANITIZED, ""
        finally:
            file.write_text(text, encoding="utf-8")
            if compiles:
                self.compile(mutant.tests)

    def passes_sanitized(self, mutant: Mutant) -> bool:
        """Return whether the C programs among the tests notice nothing under the sanitizers either."""
        tests = [test for test in mutant.tests if mutant.file.endswith(".c") and not test.startswith("tests/")]
        return not self.compile(tests, "asan") or not self.killer(tests, "asan")

    def killer(self, tests: Sequence[str], variant: str = "gcc") -> str:
        """Return the first test that fails, of C programs (test_plan) and pytest's paths (tests/devel/test_lock.py)."""
        programs = [test for test in tests if not test.startswith("tests/")]
        for program in programs:
            if self.run([f"build/c/{variant}/tests/c/{program}"]).returncode != 0:
                return program
        paths = [test for test in tests if test.startswith("tests/")]
        if not paths:
            return ""
        run = self.run(["build/venv-develop/bin/pytest", "-q", "-x", "-p", "no:xdist", *paths])
        if run.returncode == USAGE:
            sys.exit(f"tests/mutants/table.py names a test that is not there:\n{run.stderr}")
        failed = re.search(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", run.stdout, re.MULTILINE)
        return (
            ""
            if run.returncode == 0
            else failed[1]
            if failed
            else f"{paths[0]} or a later one: status {run.returncode}"
        )

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Return the result of a command in the copy; one that hangs has failed."""
        try:
            return subprocess.run(
                command, cwd=self.directory, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "it hangs", "")


def rows(words: Sequence[str]) -> Iterator[Mutant]:
    """Yield the chosen rows of the table."""
    for row in MUTATIONS:
        if all(word in f"{row.file} {row.before} {row.after}" for word in words):
            text = (ROOT / row.file).read_text(encoding="utf-8")
            if text.count(row.before) != 1:
                sys.exit(f"tests/mutants/table.py: {row.file} has {text.count(row.before)} times: {row.before}")
            mutated = text.replace(row.before, row.after)
            yield Mutant(row.file, mutated, row.before.strip(), row.after.strip(), row.tests)


def generated(words: Sequence[str], count: int, seed: str) -> Iterator[Mutant]:
    """Yield `count` mutations of each chosen module."""
    for file, tests in MODULES.items():
        if not all(word in file for word in words):
            continue
        text = (ROOT / file).read_text(encoding="utf-8")
        found = changes(file, text)
        for change in random.Random(f"{seed} {file}").sample(found, min(count, len(found))):
            mutated = text[: change.start] + change.after + text[change.end :]
            before = text.splitlines()[change.line - 1].strip()
            after = mutated.splitlines()[change.line - 1].strip()
            yield Mutant(file, mutated, before, after, tests)


def main() -> int:
    """Try the chosen mutations and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generated", type=int, default=0, metavar="N")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--copy", type=Path, default=ROOT / "build/mutants", metavar="DIR")
    parser.add_argument("--first-tier", action="store_true")
    parser.add_argument("--share", default="1/1", metavar="N/M")
    parser.add_argument("word", nargs="*")
    options = parser.parse_args()
    count, words = options.generated, options.word
    share, shares = map(int, options.share.split("/"))
    chosen = [*(generated(words, count, options.seed) if count else rows(words))][share - 1 :: shares]
    copy = Copy(options.copy)
    refresh(copy.directory)
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    copy.compile(tests)
    if not options.first_tier and (test := copy.killer(tests)):
        sys.exit(f"{test} fails without a mutation")
    counts: Counter[str] = Counter()
    for mutant in chosen:
        change = f"{mutant.file}: {mutant.before}  ->  {mutant.after or 'removed'}".replace("\n", " ")
        if options.first_tier and is_noticed(change):
            counts[KILLED] += 1
            continue
        began = time.monotonic()
        verdict, killer = copy.verdict(mutant, of_first_tier=options.first_tier)
        if verdict == SURVIVED and (mutant.file, mutant.before, mutant.after) in ARGUED:
            verdict = ARGUED_AWAY
        counts[verdict] += 1
        if options.first_tier and killer:
            if copy.killer([killer]):
                sys.exit(f"{killer} fails without a mutation")
            note(change, killer)
        print(f"{verdict:12}  {time.monotonic() - began:4.0f} s  {change}  {killer}", flush=True)
    print(f"{len(chosen)} mutations: {', '.join(f'{number} {verdict}' for verdict, number in counts.items())}")
    return int(counts[SURVIVED] + counts[MISSED] > 0 or (not count and counts[NOT_COMPILED] > 0))


if __name__ == "__main__":
    sys.exit(main())

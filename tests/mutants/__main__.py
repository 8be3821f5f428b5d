"""`make mutants`: applies mutations to a copy of the sources, one at a time, and runs the tests that should notice.

usage: python3 tests/mutants [--generated N] [--seed S] [--copy DIR] [WORD...]

Without --generated: the rows of the table. With it: N of the mutations that `generate` makes of each module of the
table, picked by the seed. Words choose rows or modules by their file or text. A mutation is killed where one of its
tests fails; C programs that notice nothing are tried under the sanitizers as well. What survives that is argued, where
the table says why it changes nothing. Exit status 0 where none survives, else 1.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from generate import changes
from table import ARGUED, MODULES, MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300  # of one test; a mutation may make it hang
KILLED, SANITIZED, SURVIVED, ARGUED_AWAY, NOT_COMPILED = "killed", "sanitized", "SURVIVED", "argued", "not compiled"


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

    def refresh(self) -> None:
        """Copies the files that git knows or would take.

        What is copied is dated now: make compiles again what a killed run has compiled of a mutation.
        """
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        for name in filter(None, names.split("\0")):
            source, target = ROOT / name, self.directory / name
            if source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def compile(self, tests: Sequence[str], variant: str = "gcc") -> bool:
        """Whether it compiles, as far as the tests need."""
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

    def verdict(self, mutant: Mutant) -> str:
        """What becomes of a mutation; the copy is as before afterwards."""
        file = self.directory / mutant.file
        text = file.read_text(encoding="utf-8")
        # Python's sources are used in place; only the adoption is tested as a wheel.
        compiles = file.suffix != ".py" or any(test.startswith("tests/adoption") for test in mutant.tests)
        file.write_text(mutant.text, encoding="utf-8")
        try:
            if compiles and not self.compile(mutant.tests):
                return NOT_COMPILED
            if not self.passes(mutant.tests):
                return KILLED
            return SURVIVED if self.passes_sanitized(mutant) else SANITIZED
        finally:
            file.write_text(text, encoding="utf-8")
            if compiles:
                self.compile(mutant.tests)

    def passes_sanitized(self, mutant: Mutant) -> bool:
        """Whether the C programs among the tests notice nothing under the sanitizers either."""
        tests = [test for test in mutant.tests if mutant.file.endswith(".c") and not test.startswith("tests/")]
        return not self.compile(tests, "asan") or self.passes(tests, "asan")

    def passes(self, tests: Sequence[str], variant: str = "gcc", *, must_pass: bool = False) -> bool:
        """Whether all pass: C programs (test_plan) and pytest's paths (tests/devel/test_lock.py)."""
        for test in tests:
            command = ["build/venv-develop/bin/pytest", "-q", "-x", "-p", "no:xdist", test]
            if not test.startswith("tests/"):
                command = [f"build/c/{variant}/tests/c/{test}"]
            try:
                result = subprocess.run(
                    command, cwd=self.directory, capture_output=True, text=True, timeout=SECONDS, check=False
                )
            except subprocess.TimeoutExpired:
                result = subprocess.CompletedProcess(command, -1, "it hangs", "")
            if result.returncode != 0:
                if must_pass:
                    sys.exit(f"{test} fails without a mutation:\n{result.stdout}{result.stderr}")
                return False
        return True


def rows(words: Sequence[str]) -> Iterator[Mutant]:
    """The chosen rows of the table."""
    for row in MUTATIONS:
        if all(word in f"{row.file} {row.before} {row.after}" for word in words):
            text = (ROOT / row.file).read_text(encoding="utf-8")
            if text.count(row.before) != 1:
                sys.exit(f"tests/mutants/table.py: {row.file} has {text.count(row.before)} times: {row.before}")
            mutated = text.replace(row.before, row.after)
            yield Mutant(row.file, mutated, row.before.strip(), row.after.strip(), row.tests)


def generated(words: Sequence[str], count: int, seed: str) -> Iterator[Mutant]:
    """`count` mutations of each chosen module."""
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
    """Tries the chosen mutations and prints one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generated", type=int, default=0, metavar="N")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--copy", type=Path, default=ROOT / "build/mutants", metavar="DIR")
    parser.add_argument("word", nargs="*")
    options = parser.parse_args()
    count, words = options.generated, options.word
    chosen = [*(generated(words, count, options.seed) if count else rows(words))]
    copy = Copy(options.copy)
    copy.refresh()
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    copy.compile(tests)
    copy.passes(tests, must_pass=True)
    counts: Counter[str] = Counter()
    for mutant in chosen:
        began = time.monotonic()
        verdict = copy.verdict(mutant)
        if verdict == SURVIVED and (mutant.file, mutant.before, mutant.after) in ARGUED:
            verdict = ARGUED_AWAY
        counts[verdict] += 1
        change = f"{mutant.before}  ->  {mutant.after or 'removed'}"
        print(f"{verdict:12}  {time.monotonic() - began:4.0f} s  {mutant.file}: {change}", flush=True)
    print(f"{len(chosen)} mutations: {', '.join(f'{number} {verdict}' for verdict, number in counts.items())}")
    return int(counts[SURVIVED] > 0 or (not count and counts[NOT_COMPILED] > 0))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The tests of the files that changed since a commit, as words for pytest, by the table `touched.tsv`.

usage: touched_tests.py COMMIT      e.g. origin/main

A changed file is one that the commits since then, the index or the work tree changed, added or removed. The exit status
is 1 for a changed file that the table does not know, 2 for a commit that git does not know.
"""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts/touched.tsv"


def read_table() -> dict[str, list[str]]:
    """Return the tests of each beginning of a path."""
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {beginning: tests.split() for beginning, tests in rows}


def changed_files(commit: str) -> list[str]:
    """Return the files that differ from a commit, including files that git does not track yet.

    Raises:
        subprocess.CalledProcessError: git does not know the commit; git has said so.
    """
    asked = (
        ["diff", "--name-only", "--no-renames", "-z", commit],
        ["ls-files", "--others", "--exclude-standard", "-z"],
    )
    answers = [subprocess.check_output(["git", *words], cwd=ROOT, text=True) for words in asked]
    return sorted({name for answer in answers for name in answer.split("\0") if name})


def tests_of(files: Iterable[str], table: Mapping[str, list[str]]) -> list[str]:
    """Return the tests of these files as paths below tests/, without paths that lie in another path of the answer.

    Raises:
        LookupError: the table has no row for a file.
    """
    found = set()
    for file in files:
        beginnings = [each for each in table if file.startswith(each)]
        if not beginnings and not (ROOT / file).exists():
            continue  # its directory went with it
        if not beginnings:
            raise LookupError(f"scripts/touched.tsv: no row for {file}")
        beginning = max(beginnings, key=len)
        for word in table[beginning]:
            found.add(own_tests(file, beginning) if word == "itself" else word)
    found -= {"-", ""}
    return sorted(each for each in found if not any(each.startswith(f"{other}/") for other in found))


def own_tests(file: str, beginning: str) -> str:
    """Return the changed file of tests, or the directory of what its tests share; "" if it was removed."""
    own = Path(file if Path(file).match("test_*.py") else beginning)
    return own.relative_to("tests").as_posix() if (ROOT / own).exists() else ""


def main() -> int:
    """Print the tests of the commit that the command names."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: touched_tests.py COMMIT", file=sys.stderr)
        return 2
    try:
        tests = tests_of(changed_files(sys.argv[1]), read_table())
    except subprocess.CalledProcessError:
        return 2
    except LookupError as error:
        print(f"{error}; add one", file=sys.stderr)
        return 1
    print(*(f"tests/{test}" for test in tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())

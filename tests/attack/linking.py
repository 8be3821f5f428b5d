"""Attacks the verdicts on files, by random sets of libraries and programs.

`check`, `tree` and preload_for must say what the dynamic linker does with them.

usage: python tests/attack/linking.py [--rounds N] [--seed S]
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from linked_verdicts import DifferencesError, compare_set

SETS_PER_ROUND = 10


def main() -> int:
    """Compare ten sets a round; the status says whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    differing = 0
    for seed in range(options.seed, options.seed + options.rounds * SETS_PER_ROUND):
        with tempfile.TemporaryDirectory(prefix="rocm-sdk-linking-") as directory:
            try:
                counts += compare_set(seed, Path(directory))
            except DifferencesError as error:
                differing += 1
                print(error)
    for what, count in sorted(counts.items()):
        print(f"{count:7} {what}")
    print(f"{differing} of {options.rounds * SETS_PER_ROUND} sets differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

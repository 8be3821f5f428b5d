"""The recorder of public names: `make promises`.

Nothing is recorded if the changelog does not name a difference.

usage: python -m promised [--check]      --check: record nothing; fail if the tables are not what is public
"""

from __future__ import annotations

import sys
from pathlib import Path

from .changelog import demand, is_announced, newest_items
from .present import PRESENT
from .tables import RECORDED, differences, read_table, table_text

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"


def main(words: list[str]) -> int:
    """Record or check the tables, and return the exit status.

    The status is 0 if the tables were recorded, or are equal with --check; 1 if not; 2 for wrong usage.
    """
    if words not in ([], ["--check"]):
        print("usage: python -m promised [--check]", file=sys.stderr)
        return 2
    items = newest_items(CHANGELOG.read_text(encoding="utf-8"))
    tables = {name: make() for name, make in PRESENT.items()}
    found = {}
    for name, table in tables.items():
        path = RECORDED / f"{name}.tsv"
        nothing = {} if words else table  # a kind of table that has not been recorded before
        found[name] = differences(read_table(path) if path.exists() else nothing, table)
    if words:
        for each in (each for changes in found.values() for each in changes):
            print(f"{each.name}: {each.kind}, and not recorded: make promises", file=sys.stderr)
        return int(any(found.values()))
    missing = [each for changes in found.values() for each in changes if not is_announced(each, items)]
    for each in missing:
        print(demand(each), file=sys.stderr)
    if missing:
        return 1
    for name, table in tables.items():
        new = RECORDED / f"{name}.tsv.new"
        new.write_text(table_text(table), encoding="utf-8")
        new.replace(RECORDED / f"{name}.tsv")
        print(f"{name}.tsv: {len(table)} rows, {len(found[name])} differences")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

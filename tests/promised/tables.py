"""Tables of what is promised: a row has the name of something public, and what is promised of it.

A recorded table is a text: `NAME<tab>WHAT`, one row per line, sorted by names. A name has parts, from the outside in,
with blanks, dots or `[]` between them: `rocm-sdk path --tool`, `rocm_sdk.Gpu`, `rocm-sdk tree --json steps[].path`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

RECORDED = Path(__file__).resolve().parent / "recorded"

Table = dict[str, str]  # name -> what is promised of it

# Parts that say where something is, and not what it is.
_PLACES = {"", "rocm_sdk", "rocm-sdk", "rocm-sdk-build", "--json"}


class Difference(NamedTuple):
    """A row that is not as it was; `was` or `now` is None where the row is not there."""

    name: str
    was: str | None
    now: str | None

    @property
    def kind(self) -> str:
        """The kind of the difference: `added`, `removed` or `changed`."""
        return "added" if self.was is None else "removed" if self.now is None else "changed"

    @property
    def words(self) -> tuple[str, ...]:
        """The last two parts of the name, or the only one, which a line about the difference names."""
        return tuple(part for part in re.split(r"[ .]|\[\]", self.name) if part not in _PLACES)[-2:]


def read_table(path: Path) -> Table:
    """Return a recorded table; raise ValueError if the file is not one."""
    table: Table = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name, tab, what = line.partition("\t")
        if not tab or not name or name in table:
            raise ValueError(f"{path}:{number}: {'two rows of ' + name if name in table else 'no NAME<tab>WHAT'}")
        table[name] = what
    return table


def table_text(table: Table) -> str:
    """Return the text of a table."""
    return "".join(f"{name}\t{' '.join(what.split())}\n" for name, what in sorted(table.items()))


def differences(was: Table, now: Table) -> list[Difference]:
    """Return the differences; parts of something that came or went as a whole are left out."""
    found = [Difference(name, was.get(name), now.get(name)) for name in sorted({*was, *now})]
    found = [each for each in found if each.was != each.now]
    whole = {(each.name, each.kind) for each in found if each.kind != "changed"}
    return [each for each in found if not any((outer, each.kind) in whole for outer in _around(each.name))]


def _around(name: str) -> list[str]:
    """Return the names of all that a name is a part of."""
    return [name[: match.start()] for match in re.finditer(r" |\.|\[\]", name)]

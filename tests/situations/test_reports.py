"""The table of reports, which says what each test of this directory is for."""

import re
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = ["report", "situation", "right answer", "test"]


def rows() -> list[list[str]]:
    lines = (HERE / "reports.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_each_row_has_its_test() -> None:
    """A row without its test fails, as does one that lacks a column or stands twice."""
    head, *found = rows()
    assert head == COLUMNS
    assert [row for row in found if len(row) != len(COLUMNS) or not all(row)] == []
    assert len({(row[1], row[3]) for row in found}) == len(found)
    lacking = [row[3] for row in found if row[3].partition("::")[2] not in names_in(row[3].partition("::")[0])]
    assert lacking == []


def test_each_file_has_a_row() -> None:
    named = {row[3].partition("::")[0] for row in rows()[1:]}
    assert {path.name for path in HERE.glob("test_*.py")} - named == {Path(__file__).name}


def names_in(name: str) -> list[str]:
    path = HERE / name
    return re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE) if path.exists() else []

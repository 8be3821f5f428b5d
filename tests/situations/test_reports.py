"""The table of reports, which says what tests of this directory and others are for."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_each_report_has_its_test() -> None:
    lines = [line for line in (HERE / "reports.tsv").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    named = [line.split("\t")[3].partition("::") for line in lines[1:]]
    assert [
        each for each in named if not re.search(rf"^def {each[2]}\b", (HERE / each[0]).read_text(), re.MULTILINE)
    ] == []

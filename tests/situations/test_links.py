"""Links of pages, of the README and of the changelog: each leads to a heading that is there."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
INCLUDED = re.compile(r"^```\{include\} (\S+)$", re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub and Sphinx give the headings of a page, with those of pages that it includes."""
    text = page.read_text(encoding="utf-8")
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).lower() for each in HEADING.findall(FENCE.sub("", text))]
    own = {re.sub(r"[^\w\- ]", "", each).strip().replace(" ", "-") for each in plain}
    return own.union(*(anchors((page.parent / name).resolve()) for name in INCLUDED.findall(text)))


@pytest.mark.parametrize(
    "page", [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_a_link_leads_to_a_heading(page: Path) -> None:
    """Sphinx looks at the links of its pages alone, and not at links of the README and the changelog."""
    lost = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        name, _, place = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if re.match(r"\w+:", target) or path.suffix != ".md" or path.is_relative_to(ROOT / "docs/codes"):
            continue  # Sphinx makes the pages of codes
        if not path.is_file() or (place and place not in anchors(path)):
            lost.append(target)
    assert lost == []


# ---- the table of reports, which says what tests of this directory and others are for


HERE = Path(__file__).parent


def test_each_report_has_its_test() -> None:
    lines = [line for line in (HERE / "reports.tsv").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    named = [line.split("\t")[3].partition("::") for line in lines[1:]]
    assert [
        each for each in named if not re.search(rf"^def {each[2]}\b", (HERE / each[0]).read_text(), re.MULTILINE)
    ] == []

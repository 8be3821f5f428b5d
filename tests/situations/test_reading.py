"""The way of a reader through the pages: the things that a reader finds, and the distance to them."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
FRONT = ("README.md", "docs/index.md")
SCHEMES = ("light", "dark")
LINKS = 2  # from the front page to the answer
WORDS = 2000
READERS = ("a user with one GPU", "a framework developer", "a packager", "a cluster administrator")
# All words of a page count, also words of its tables and blocks: a reader scrolls past them, too. Nobody reads these
# two from the beginning to the end.
LONG = {
    "dependencies.md": "a row for each dependency, which a search for its name finds",
    "json.md": "a section for each document, which a search for its command finds",
}
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
ROW = re.compile(r"^\| (.+?) \| (.+?) \| \[(.+?)\]\((.+?)\) \| (.+?) \|$", re.MULTILINE)
INCLUDED = re.compile(r"^```\{include\} (\S+)$", re.MULTILINE)


@cache
def text_of(page: Path) -> str:
    """Return the text of a page, with the pages that it includes."""
    text = page.read_text(encoding="utf-8")
    return "\n".join([text, *(text_of((page.parent / name).resolve()) for name in INCLUDED.findall(text))])


def anchor(heading: str) -> str:
    """Return the anchor that GitHub and Sphinx give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def sections(page: Path) -> dict[str, str]:
    """Return the text below each heading of a page, up to the next of its rank, by the anchor."""
    text = text_of(page)
    blank = FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    found = [(len(each[1]), anchor(each[2]), each.start(), each.end()) for each in HEADING.finditer(blank)]
    below = {}
    for i, (rank, name, _, begin) in enumerate(found):
        end = next((start for other, _, start, _ in found[i + 1 :] if other <= rank), len(text))
        below.setdefault(name, text[begin:end])
    return below


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the pages of the project to which a page leads, with the anchors; those in blocks are no links."""
    found = []
    origins = [page, *((page.parent / name).resolve() for name in INCLUDED.findall(page.read_text(encoding="utf-8")))]
    for origin in origins:
        for target in LINK.findall(FENCE.sub("", origin.read_text(encoding="utf-8"))):
            path, _, name = target.partition("#")
            if not re.match(r"\w+:", target) and (not path or path.endswith(".md")):
                found.append(((origin.parent / path).resolve() if path else origin, name))
    return found


def distances(front: Path) -> dict[Path, int]:
    """Return the number of links to each page that can be reached from a front page."""
    steps, now = {front: 0}, [front]
    while now:
        page = now.pop(0)
        for target, _ in links(page) if page.is_file() else ():
            if target not in steps:
                steps[target] = steps[page] + 1
                now.append(target)
    return steps


def questions() -> list[tuple[str, str, str, str, str]]:
    return ROW.findall((ROOT / "docs/development.md").read_text(encoding="utf-8").partition("## Twenty questions\n")[2])


def test_each_kind_of_reader_has_five_questions() -> None:
    found = questions()
    assert [who for who, *_ in found] == [who for who in READERS for _ in range(5)]
    assert len({question for _, question, *_ in found}) == len(found)


@pytest.mark.parametrize("front", FRONT)
@pytest.mark.parametrize(("heading", "target", "word"), [pytest.param(*row[2:], id=row[1]) for row in questions()])
def test_an_answer_is_found(front: str, heading: str, target: str, word: str) -> None:
    """In two links at most, below the heading that the table names, with a word that only an answer has."""
    name, _, place = target.partition("#")
    page = ROOT / "docs" / name
    assert distances(ROOT / front)[page] <= LINKS
    assert anchor(heading) == place
    assert word.strip("`") in sections(page)[place]


def test_a_lost_answer_is_noticed(tmp_path: Path) -> None:
    """The reader of pages follows links, and knows where a section ends."""
    (tmp_path / "a.md").write_text("# A\n\n[b](b.md#two)\n\n```sh\n[c](c.md)\n# no heading\n```\n")
    (tmp_path / "b.md").write_text("# B\n\n## One `x`\n\nfirst\n\n### Deep\n\ndeep\n\n## Two\n\nsecond [c](c.md)\n")
    (tmp_path / "c.md").write_text("# C\n")
    assert distances(tmp_path / "a.md") == {tmp_path / "a.md": 0, tmp_path / "b.md": 1, tmp_path / "c.md": 2}
    found = sections(tmp_path / "b.md")
    assert list(found) == ["b", "one-x", "deep", "two"]
    assert "deep" in found["one-x"]
    assert "second" not in found["one-x"]
    assert list(sections(tmp_path / "a.md")) == ["a"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_not_too_long(page: Path) -> None:
    words = len(text_of(page).split())
    if page.name in LONG:
        assert words > WORDS, "it is no exception any more"
    else:
        assert words <= WORDS, "divide it by what its readers want to do"


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *PAGES], ids=lambda page: page.name)
def test_a_link_leads_to_a_heading(page: Path) -> None:
    """Sphinx looks at the links of its pages alone, and not at links of the README and the changelog."""
    lost = []
    for target, place in links(page):
        if target.is_relative_to(ROOT / "docs/codes"):
            continue  # Sphinx makes these pages
        if not target.is_file() or (place and place not in sections(target)):
            lost.append(f"{target.relative_to(ROOT)}#{place}")
    assert lost == []


def test_the_picture_is_the_same_in_light_and_dark() -> None:
    """The pictures differ in their colours alone.

    A picture has words for a screen reader, and letters that can be read where a page is 420 wide.
    """
    light, dark = ((ROOT / f"docs/_static/idea-{scheme}.svg").read_text(encoding="utf-8") for scheme in SCHEMES)
    assert light != dark
    assert re.sub("#[0-9a-f]{6}", "", light) == re.sub("#[0-9a-f]{6}", "", dark)
    assert re.search(r'width="420".* aria-labelledby="title desc"', light)
    assert all(re.search(rf'<{name} id="{name}">\w[^<]{{20,}}</{name}>', light) for name in ("title", "desc"))
    assert min(map(int, re.findall(r"(\d+)px", light))) >= 12
    for page in ("README.md", "docs/how-it-works.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert all(f"_static/idea-{scheme}.svg" in text for scheme in SCHEMES)

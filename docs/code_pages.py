"""Writes the pages of the codes from the table of problems.

`codes/CODE.md` is written before Sphinx looks for pages. Lists are put in where a page says
`<!-- the list of codes -->` or
`<!-- the table of fixes -->`.
"""

from pathlib import Path

from sphinx.application import Sphinx

from rocm_sdk.problems import ENTRIES, in_general
from rocm_sdk.problems.page import markdown


def _write_pages(app: Sphinx) -> None:
    directory = Path(app.srcdir, "codes")
    directory.mkdir(exist_ok=True)
    for stale in {path.name for path in directory.glob("*.md")} - {f"{code}.md" for code in ENTRIES}:
        (directory / stale).unlink()
    for code in ENTRIES:
        page, text = directory / f"{code}.md", markdown(code) + "\n"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _list() -> str:
    """A line for each code: its title, and the first sentence of its page."""
    lines = ["| code | what is wrong | how it comes about |", "|---|---|---|"]
    for code, entry in ENTRIES.items():
        sentence = _escaped(entry.about.partition(". ")[0].rstrip("."))
        lines.append(f"| [{code}](codes/{code}.md) | {_escaped(in_general(entry.code).title)} | {sentence}. |")
    return "\n".join(lines)


def _fixes() -> str:
    """A line for each fix."""
    lines = ["| code | cause | system | fix |", "|---|---|---|---|"]
    for code, entry in ENTRIES.items():
        cause = _escaped(in_general(entry.code).cause)
        for fix in entry.fixes:
            system = fix.system or ("elsewhere" if len({each.system for each in entry.fixes}) > 1 else "")
            lines.append(f"| [{code}](codes/{code}.md) | {cause} | {system} | {_escaped(fix.text)} |")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def _put_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = source[0].replace("<!-- the list of codes -->", _list())
    source[0] = source[0].replace("<!-- the table of fixes -->", _fixes())


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_pages)
    app.connect("source-read", _put_in)
    return {"parallel_read_safe": True}

"""Writes the page of each code, `codes/CODE.md`, from the registry of codes, before Sphinx looks for pages."""

from pathlib import Path

from sphinx.application import Sphinx

from rocm_sdk.problems import ENTRIES
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


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_pages)
    return {"parallel_read_safe": True}

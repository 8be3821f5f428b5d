"""Looks at the built pages in a browser: in three widths, light and dark.

Nothing may be cut off, or wider than the window. axe finds no fault in contrast, labels, order and keyboard; contrast,
which takes nearly all of its time and depends on no width, in one width of the pages of the documentation. No page
has a path of the machine that built it. Each fix is shown as the table has it. The search finds pages. A page that is
known to be bad is tried first.

usage: check_pages.py DIRECTORY      (build/docs; needs Chromium)
"""

from __future__ import annotations

import html
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe
from chromium import COLOUR_SCHEMES, find_chromium
from playwright.sync_api import Page, sync_playwright

from rocm_sdk.problems import ENTRIES

if TYPE_CHECKING:
    from rocm_sdk._native import Code

ROOT = Path(__file__).resolve().parent.parent
WIDTHS = (1280, 800, 420)  # a desk, half of it or a tablet, a phone
BAD_PAGE = """<title>bad</title><pre style='width:9em'>a line that is longer than its box</pre><img src=x>
<p>faint in the dark</p><style>@media (prefers-color-scheme: dark) { p { color: #222; background: #111 } }</style>"""
# Elements whose text goes on beyond their box, and cannot be scrolled to by keyboard.
CUT_OFF = """() => [...document.querySelectorAll("pre, td, th, p, li, h1, h2, h3, dt, summary")]
    .filter(each => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1 && each.tabIndex !== 0)
    .map(each => each.textContent.trim().slice(0, 60))"""
# What a reader types into the search -> the title of a page that it must name.
SEARCHES = {
    "anchor": "How loading works",
    "W-GPU-017": "W-GPU-017: /dev/kfd cannot be opened",
    "sbatch": "ROCm on a cluster",
}
# Scheme of colours, and whether the window is the widest -> the options of axe; None: all is known from another look.
_RULES: dict[tuple[str, bool], dict[str, Any] | None] = {
    ("light", True): {},
    ("light", False): {"rules": {"color-contrast": {"enabled": False}}},
    ("dark", True): {"runOnly": ["color-contrast"]},
    ("dark", False): None,
}


def main() -> int:
    """Check the pages of the directory that the command line names; return 1 if a page has a fault."""
    directory = Path(sys.argv[1])
    browser = find_chromium()
    pages = [path for path in sorted(directory.glob("*.html")) if path.stem not in ("genindex", "search")]
    pages += sorted((directory / "codes").glob("*.html"))[::20]  # they are all of one form
    if browser is None or len(pages) < 2:
        print("check_pages: there is no Chromium, or there are no pages: make docs", file=sys.stderr)
        return 1
    with ProcessPoolExecutor(len(COLOUR_SCHEMES), get_context("spawn")) as workers:  # axe takes a second for a page
        looks = workers.map(_look, COLOUR_SCHEMES, repeat(browser), repeat(pages))
        faults = [fault for look in looks for fault in look]
    with _window(browser) as window:
        faults += [fault for words in SEARCHES for fault in _search(window, directory / "search.html", words)]
    faults += [fault for path in sorted(directory.rglob("*.html")) for fault in _paths(path)]
    faults += [fault for code in ENTRIES for fault in _fixes(directory / "codes" / f"{code}.html", code)]
    print("\n".join(faults))
    print(f"{len(pages)} pages in {len(WIDTHS)} widths: {len(faults)} faults")
    return 1 if faults else 0


@contextmanager
def _window(browser: str, scheme: str = "light") -> Iterator[Page]:
    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        window.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        yield window


def _look(scheme: str, browser: str, pages: list[Path]) -> list[str]:
    """Return the faults of all pages in a scheme of colours; only that, if those of a bad page are not found."""
    with tempfile.TemporaryDirectory() as scratch, _window(browser, scheme) as window:
        bad = Path(scratch, "bad.html")
        bad.write_text(BAD_PAGE, encoding="utf-8")
        found = [*_faults(window, bad, scheme, has_all_rules=True)]
        if len(found) < 2 * len(WIDTHS) or any("contrast" in each for each in found) != (scheme == "dark"):
            return [f"{scheme}: the faults of a bad page are not found"]
        return [f"{scheme}: {fault}" for path in pages for fault in _faults(window, path, scheme)]


def _faults(window: Page, path: Path, scheme: str, *, has_all_rules: bool = False) -> Iterator[str]:
    for width in WIDTHS:
        window.set_viewport_size({"width": width, "height": 900})
        window.goto(path.resolve().as_uri())
        rules = {} if has_all_rules else _RULES[scheme, width == WIDTHS[0]]
        for each in Axe().run(window, options=rules).response["violations"] if rules is not None else ():
            yield f"{path.name} at {width}: {each['id']}: {each['nodes'][0]['html'][:100]}"
        for text in window.evaluate(CUT_OFF):
            yield f"{path.name} at {width}: cut off: {text}"
        if (found := window.evaluate("document.documentElement.scrollWidth")) > width:
            yield f"{path.name} at {width}: {found} wide"


def _search(window: Page, page: Path, words: str) -> Iterator[str]:
    window.goto(f"{page.resolve().as_uri()}?q={words}")
    window.get_by_text("Search finished").wait_for()
    titles = window.locator("#search-results li a").all_inner_texts()
    if SEARCHES[words] not in titles:
        yield f"the search for {words} names {titles}"


def _text_of(path: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8")))


def _fixes(path: Path, code: Code) -> Iterator[str]:
    """Yield the fixes of a code that its page does not show as the table has them, so that they cannot be pasted."""
    text = " ".join(_text_of(path).split())
    for fix in ENTRIES[code].fixes:
        shown = fix.text if fix.is_command else fix.text[1:]  # "Otherwise" may stand before a sentence
        if " ".join(shown.split()) not in text and shown.replace("`", "") not in text:
            yield f"{path.name}: shows otherwise: {fix.text}"


def _paths(path: Path) -> Iterator[str]:
    text = _text_of(path)
    for place in (f"{ROOT}/", f"{Path.home()}/", f"{tempfile.gettempdir()}/docs-"):
        if place in text:
            yield f"{path.name}: has the path {place}"


if __name__ == "__main__":
    sys.exit(main())

"""The form of the pages that commands write: alike for all, light and dark, on paper too, with nothing from elsewhere.

Pages need no script. A table is as wide as the page; in a narrow window each row is a card, whose cells have the
headings before them. A part that is wider than the window scrolls by itself, also by keyboard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape
from time import strftime

from .value_text import harmless

_STYLE = """\
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1b1b; --faint: #59636e; --line: #c8ced4;
  --error: #b71c1c; --note: #2a56c6; --bar: #0969da }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e3e6e9; --faint: #a3acb5; --line: #454d55;
  --error: #ff8a80; --note: #8ab4f8; --bar: #58a6ff } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
  color: var(--ink); background: var(--paper) }
h1, h2, .about { overflow-wrap: anywhere } h1 { font-size: 1.4rem; margin-bottom: .2rem }
h2 { font-size: 1.1rem; margin-top: 2rem } .about { color: var(--faint); margin-top: 0 } a { color: var(--note) }
.wide { overflow-x: auto } .wide:focus { outline: 2px solid var(--note) }
table { border-collapse: collapse; width: 100% } thead th { border-bottom: 2px solid var(--line) }
th, td { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top }
td { border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
@media (max-width: 40rem) { table, tbody, tr, td { display: block } thead { display: none }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0 }
  td, td.number { border: 0; padding: 0; text-align: left }
  td:not(:first-child)::before { content: attr(data-heading) " "; color: var(--faint) } }
@media print { body { margin: 0; max-width: none; font-size: 11px } .wide { overflow: visible }
  h2, tr { break-inside: avoid } }
"""


def element_text(value: object) -> str:
    """Return a value as the text of an element: nothing in it is markup, or moves a terminal."""
    return escape(harmless(str(value)))


def page(title: str, about: str, parts: Iterable[str], style: str = "") -> Iterator[str]:
    """Yield a page, in parts.

    title, about: texts; about says what was looked at, and the time is added. parts: HTML. style: CSS beside the style
    of all pages.
    """
    head = element_text(title)
    yield (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{head}</title>'
        f"<style>{_STYLE}{style}</style></head><body><main>"
        f'<h1>{head}</h1><p class="about">{element_text(about)} {strftime("%Y-%m-%d %H:%M %Z")}</p>'
    )
    yield from parts
    yield "</main></body></html>\n"


def table(
    label: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()
) -> Iterator[str]:
    """Yield a table, in parts.

    label: a name of the content, for who hears the page. rows: HTML. numbers: the headings of columns of numbers.
    """
    kinds = [' class="number"' if each in numbers else "" for each in headings]
    head = "".join(f'<th scope="col"{kind}>{escape(each)}</th>' for each, kind in zip(headings, kinds, strict=True))
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
    yield f"<thead><tr>{head}</tr></thead><tbody>"
    names = [f' data-heading="{escape(each)}"' for each in headings]
    for row in rows:
        cells = (f"<td{kind}{name}>{cell}</td>" for cell, kind, name in zip(row, kinds, names, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"

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
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1b1b; --faint: #59636e; --line: #c8ced4; --shade: #f1f4f7;
  --error: #b71c1c; --warning: #8a5200; --note: #2a56c6; --good: #1b6e22; --error-shade: #fbdcdc;
  --warning-shade: #fff0c9; --good-shade: #e3f2e6; --absent-shade: #e4e4e4; --grid: #d1d9e0; --bar: #0969da;
  --bar-anchor: #bc4c00; --bar-later: #8250df; --bar-member: #8c959f; --size-bar: #6e7781 }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e3e6e9; --faint: #a3acb5; --line: #454d55;
  --shade: #23282d; --error: #ff8a80; --warning: #ffb74d; --note: #8ab4f8; --good: #81c784; --error-shade: #5a1f1f;
  --warning-shade: #4d3a10; --good-shade: #1f3a24; --absent-shade: #3a3f44; --grid: #3a424a; --bar: #58a6ff;
  --bar-anchor: #ffa657; --bar-later: #d2a8ff; --bar-member: #8b949e; --size-bar: #9aa4ae } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
  color: var(--ink); background: var(--paper) }
h1, h2, .about { overflow-wrap: anywhere } h1 { font-size: 1.4rem; margin-bottom: .2rem }
h2 { font-size: 1.1rem; margin-top: 2rem } .about { color: var(--faint); margin-top: 0 } a { color: var(--note) }
.wide { overflow-x: auto } .wide:focus { outline: 2px solid var(--note) }
table { border-collapse: collapse; width: 100% } thead th { border-bottom: 2px solid var(--line) }
th, td { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top }
td { border-bottom: 1px solid var(--line) }
td { overflow-wrap: anywhere } td:has(.bar) { width: 45% }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.bar { display: block; height: .8rem; margin-top: .3rem; min-width: 2px; background: var(--size-bar) }
.bar.kept { background: var(--bar) }
@media (max-width: 40rem) { table, tbody, tr, td { display: block } thead { display: none }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0 }
  td, td.number { border: 0; padding: 0; text-align: left } td:has(.bar) { width: auto }
  td:not(:first-child)::before { content: attr(data-heading) " "; color: var(--faint) } }
code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
@media print { body { margin: 0; max-width: none; font-size: 11px } .wide { overflow: visible } h2, section, tr
  { break-inside: avoid } }
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


def bar(share: float, kind: str = "") -> str:
    """Return a bar, as a part of its cell. share: from 0 to 1; kind: "kept", or a word for a part that is left out."""
    return f'<span class="bar {kind}" style="width:{share:.2%}"></span>'

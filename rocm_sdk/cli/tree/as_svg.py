"""The tree as a picture: a row for each file, with its size and its time of loading, as numbers and bars.

A bar twice as long stands for twice as much; a number that is too small for a bar has its text, and a line.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence, Set
from html import escape
from typing import NamedTuple

from rocm_sdk.base.html_page import element_text, page
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.fit.coverage_words import named

from .as_text import time_text
from .bindings import Arrow
from .plan_tree import File, Tree

_HEAD, _LINE, _MARGIN, _INDENT = 41, 17, 16, 18  # pixels: above the legend; a line of it
_AXIS = 40  # pixels, between the legend and the rows
_LETTER, _VALUE_WIDTH, _GAP = 7.3, 76, 12  # pixels
_LEAST_BAR = 1.0  # pixels
_MOST_TICKS = 4


class _Layout(NamedTuple):
    """A form of the picture. Lengths in pixels."""

    name: str  # class of the picture in a page
    width: int
    row: int
    bars_top: int  # where the bars are in a row: beside the name, or below it
    longest_name: int  # letters


_WIDE = _Layout("broad", 960, 22, 4, 44)
_NARROW = _Layout("narrow", 400, 44, 24, 46)
_LAYOUTS = (_WIDE, _NARROW)
_PAGE_STYLE = """\
.wide svg { height: auto; max-width: none } .wide > .broad { display: block; width: 100% }
.wide > .narrow { display: none; width: 100%; max-width: 30rem }
@media (max-width: 47rem) { .wide > .broad { display: none } .wide > .narrow { display: block } }"""
# In a page the colours are the page's; alone the picture is light.
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: var(--ink, #1f2328) } .title { font-size: 17px; font-weight: 600 }
.faint { fill: var(--faint, #59636e); font-size: 12px } .value { text-anchor: end; font-variant-numeric: tabular-nums }
.tick { text-anchor: middle } .grid { stroke: var(--grid, #d1d9e0) } .paper { fill: var(--paper, #ffffff) }
.row { fill: transparent } .open { fill: var(--bar, #0969da) } .anchor { fill: var(--bar-anchor, #bc4c00) }
.read { fill: var(--good, #1b6e22) } .later { fill: var(--bar-later, #8250df) }
.member { fill: var(--bar-member, #8c959f) }
.arrow { fill: none; stroke-width: 1.6 } .fault { stroke: var(--error, #cf222e) }
.harmless { stroke: var(--faint, #8c959f) } .head-fault { fill: var(--error, #cf222e) }
.head-harmless { fill: var(--faint, #8c959f) }"""

# Kind of a row -> the meaning of its colour.
_KINDS = {
    "read": "asked about, and not of the SDK",
    "open": "opened, the linker finds what it needs",
    "anchor": "opened through an anchor",
    "later": "opened because another opens it at run time",
    "member": "comes with the library above it",
}


# Answer to "is the arrow a fault?" -> its class, and the meaning of its colour. An arrow goes from a library to the
# file that answers.
_ARROWS = {
    True: ("fault", "calls or variables of another file"),
    False: ("harmless", "the same code in both"),
}
_ARROW_SPACE = 44  # pixels, left of the names

# Marks of the legend, 20 pixels wide.
_BOX = '<rect class="{kind}" x="5" width="11" height="11" rx="2"/>'
_ARROW = '<path class="arrow {kind}" d="M0 6 h14"/><path class="head-{kind}" d="M20 6 l-8 -4 v8 z"/>'


class Cell(NamedTuple):
    """A number of a row: the value of its bar, and its text."""

    value: float
    text: str


class Row(NamedTuple):
    """A file: its kind, its numbers in the order of the columns (None: it has none), and more about it."""

    file: File
    kind: str
    cells: tuple[Cell | None, ...]
    note: str


class Column(NamedTuple):
    """The numbers of one kind, and where they are drawn."""

    title: str
    x: float  # where its texts begin; the bars follow them
    width: float  # of the longest bar
    most: float

    @property
    def bars(self) -> float:
        """The place where the bars begin, in pixels."""
        return self.x + _VALUE_WIDTH

    def length(self, value: float) -> float:
        """Return the length of a bar, in pixels."""
        return max(_LEAST_BAR, value / self.most * self.width)


def as_svg(tree: Tree, arrows: Sequence[Arrow] = ()) -> str:
    """Return an SVG document without references to other files. arrows: bindings to other files than meant."""
    return _picture(tree, arrows, f"<style>{_STYLE}</style>", _WIDE, hovers=False)


def as_html(tree: Tree, arrows: Sequence[Arrow] = (), names: Sequence[str] = ()) -> str:
    """Return the picture in a page, twice: in a narrow window the bars are below the names.

    The row under the pointer is marked, and described below the picture. names: the names that were asked about; none:
    the whole SDK.
    """
    hover = ".note { display: none } g:hover > .note { display: inline } g:hover > .row { fill: var(--shade) }"
    pictures = (_picture(tree, arrows, f"<style>{_STYLE}\n{hover}</style>", each, hovers=True) for each in _LAYOUTS)
    title = f"Files that {named(names) or 'the whole SDK'} brings into a process"
    about = "Each file once, in the order in which it comes in."
    label = f"Picture: {element_text(title)}"
    wide = f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{"".join(pictures)}</div>'
    return "".join(page(title, about, [wide], _PAGE_STYLE))


def _picture(tree: Tree, arrows: Sequence[Arrow], style: str, layout: _Layout, *, hovers: bool) -> str:
    rows = list(_rows(tree))
    drawn_arrows = _placed(rows, arrows)
    legend, top = _legend(rows, {fault for _, _, fault in drawn_arrows}, layout.width)
    margin = _MARGIN + (_ARROW_SPACE if drawn_arrows else 0)
    bottom = top + layout.row * len(rows)
    height = bottom + 2 * _WIDE.row
    names = max([12, *(min(len(row.file.name), layout.longest_name) for row in rows)])
    left = margin + _INDENT + names * _LETTER if layout is _WIDE else margin
    columns = _columns(tree, rows, left, layout.width)
    counts = [counted(len(tree.files), "file"), size_text(tree.size), time_text(tree.seconds)]
    title = ", ".join(filter(None, counts))
    drawn = (
        _row(row, (margin, top + layout.row * number), columns, layout, bottom if hovers else None)
        for number, row in enumerate(rows)
    )
    size = f'viewBox="0 0 {layout.width} {height}" width="{layout.width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{layout.name}" {size}>',
            f"<title>Files that loading brings into a process: {escape(title)}</title>",
            style,
            f'<rect class="paper" width="{layout.width}" height="{height}"/>',
            f'<text class="title" x="{_MARGIN}" y="28">{escape(title)}</text>',
            *legend,
            *(line for column in columns for line in _axis(column, top, bottom)),
            *drawn,
            *_drawn_arrows(drawn_arrows, margin, top, layout),
            "</svg>",
        ]
    )


def _rows(tree: Tree) -> Iterator[Row]:
    """Yield each file once, in the order in which it comes in."""
    seen: set[str] = set()
    has_times = tree.seconds is not None
    for branch in tree.branches:
        step = branch.step
        if branch.file.path not in seen:
            kind = "later" if not step.requested else step.method if step.method in _KINDS else "open"
            time = Cell(branch.seconds, time_text(branch.seconds)) if branch.seconds is not None else None
            note = f"{branch.file.location}, {size_text(branch.file.size)}; {step.method}: {step.reason}"
            yield Row(branch.file, kind, (*((time,) if has_times else ()), _size(branch.file)), note)
        for file in branch.brings:
            note = f"{file.location}, {size_text(file.size)}; comes with {branch.file.name}"
            yield Row(file, "member", (*((None,) if has_times else ()), _size(file)), note)
        seen.update(each.path for each in (branch.file, *branch.brings))


def _size(file: File) -> Cell:
    return Cell(file.size, size_text(file.size))


def _columns(tree: Tree, rows: Sequence[Row], left: float, width: int) -> list[Column]:
    """Return the columns of times and sizes that there are, side by side, from `left` on."""
    titles = ["time in dlopen", "size of the file"] if tree.seconds is not None else ["size of the file"]
    each = (width - _MARGIN - left) / len(titles)
    columns = []
    for number, title in enumerate(titles):
        most = max((cell.value for row in rows if (cell := row.cells[number]) is not None), default=0.0)
        columns.append(Column(title, left + number * each, each - _VALUE_WIDTH - _GAP, most or 1.0))
    return columns


def _ticks(column: Column) -> list[float]:
    """Return round numbers from 0 to the longest bar or a little less, as far apart as their texts need."""
    most = max(2, min(_MOST_TICKS, int(column.width / _VALUE_WIDTH)))
    power = 10.0 ** math.floor(math.log10(column.most))
    steps = (factor * power for factor in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0))
    step = next(step for step in steps if column.most / step < most)
    return [number * step for number in range(int(column.most / step + 1e-9) + 1)]


def _placed(rows: list[Row], arrows: Sequence[Arrow]) -> list[tuple[int, int, bool]]:
    """Return the arrows between files of the picture: both rows, and whether it is a fault.

    Faults come last, above others.
    """
    place = {os.path.realpath(row.file.path): number for number, row in enumerate(rows)}
    found = [
        (place[library], place[bound_to], arrow.is_fault)
        for arrow in arrows
        if (library := os.path.realpath(arrow.library)) in place
        and (bound_to := os.path.realpath(arrow.bound_to)) in place
    ]
    return sorted(found, key=lambda arrow: arrow[2])


def _drawn_arrows(arrows: list[tuple[int, int, bool]], margin: int, top: int, layout: _Layout) -> Iterator[str]:
    """Yield arcs left of the names; a longer one reaches further out."""
    for start, end, is_fault in arrows:
        name = _ARROWS[is_fault][0]
        y, target = (top + layout.row * row + _WIDE.row // 2 for row in (start, end))
        out = margin - 8 - min(_ARROW_SPACE - 8, 10 + 2 * abs(end - start))
        yield f'<path class="arrow {name}" d="M{margin - 4} {y} C{out} {y} {out} {target} {margin - 10} {target}"/>'
        yield f'<path class="head-{name}" d="M{margin - 3} {target} l-8 -4 v8 z"/>'


def _legend(rows: list[Row], arrows: Set[bool], width: int) -> tuple[list[str], int]:
    """Return the meanings of the colours, on as many lines as it takes, and where the rows begin."""
    kinds = [kind for kind in _KINDS if any(row.kind == kind for row in rows)]
    marks = [(_BOX.format(kind=kind), _KINDS[kind]) for kind in kinds]
    marks += [(_ARROW.format(kind=kind), text) for is_fault, (kind, text) in _ARROWS.items() if is_fault in arrows]
    x, y, drawn = float(_MARGIN), _HEAD, []
    for mark, text in marks:
        room = 44 + len(text) * 6.4
        if x + room > width and x > _MARGIN:
            x, y = float(_MARGIN), y + _LINE
        words = f'<text class="faint" x="24" y="10">{escape(text)}</text>'
        drawn.append(f'<svg x="{x:.0f}" y="{y}" overflow="visible">{mark}{words}</svg>')
        x += room
    return drawn, y + _LINE + _AXIS


def _axis(column: Column, top: int, bottom: int) -> Iterator[str]:
    is_time = column.title == "time in dlopen"
    yield f'<text class="faint" x="{column.x:.0f}" y="{top - 24}">{column.title}</text>'
    for tick in _ticks(column):
        x = column.bars + (column.length(tick) if tick else 0)
        text = (time_text(tick) if is_time else size_text(int(tick))) if tick else "0"
        yield f'<line class="grid" x1="{x:.1f}" y1="{top - 2}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text class="faint tick" x="{x:.1f}" y="{top - 8}">{text}</text>'


def _row(row: Row, place: tuple[int, int], columns: Sequence[Column], layout: _Layout, note_y: int | None) -> str:
    """Return one row, whose name begins at `place`, x and the upper edge.

    note_y: where its note appears while the pointer is on it; None: nowhere.
    """
    margin, y = place
    x = margin if row.kind != "member" else margin + _INDENT
    longest = layout.longest_name
    name = row.file.name if len(row.file.name) <= longest else f"{row.file.name[: longest - 1]}\u2026"
    note = element_text(row.note)
    parts = [
        f'<rect class="row" x="0" y="{y}" width="{layout.width}" height="{layout.row}"/>',
        f"<title>{note}</title>",
        f'<text x="{x}" y="{y + 15}">{element_text(name)}</text>',
    ]
    for column, cell in zip(columns, row.cells, strict=True):
        if cell is not None:
            upper = y + layout.bars_top
            text = f'<text class="value faint" x="{column.bars - _GAP:.0f}" y="{upper + 11}">{cell.text}</text>'
            size = f'x="{column.bars:.1f}" y="{upper}" width="{column.length(cell.value):.1f}" height="14" rx="1"'
            parts += [text, f'<rect class="{row.kind}" {size}/>']
    if note_y is not None:
        parts.append(f'<text class="note faint" x="{_MARGIN}" y="{note_y + 26}">{note}</text>')
    return f"<g>{''.join(parts)}</g>"

"""The tree as a picture: a row for each file, with its size and the time that loading it took, as numbers and bars.

The scales are logarithmic: a library of 900 MB stands beside one of 20 kB, and both show.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence, Set
from html import escape
from typing import NamedTuple

from rocm_sdk.base.html_page import element_text, page
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.gpu_support.words import named

from .as_text import time_text
from .bindings import Arrow
from .plan_tree import File, Tree

_WIDTH, _ROW, _TOP, _MARGIN, _INDENT = 960, 22, 98, 16, 18
_LETTER, _LONGEST_NAME, _VALUE_WIDTH, _GAP = 7.3, 44, 76, 12  # width of a letter in pixels; letters; pixels
_LEAST_BAR = 2.0  # pixels
_LEAST = {"size of the file": 1e3, "time in dlopen": 1e-5}  # where a scale begins at the latest
_MOST_TICKS = 5
# In a page the colours are those of the page; alone the picture is light.
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

# Kind of a row -> what its colour says.
_KINDS = {
    "read": "asked about, and not of the SDK",
    "open": "opened, the linker finds what it needs",
    "anchor": "opened through an anchor",
    "later": "opened because another opens it at run time",
    "member": "comes with the library above it",
}


# Whether an arrow is a fault -> its class, and what its colour says. It goes from a library to the file that answers.
_ARROWS = {
    True: ("fault", "calls or variables of another file"),
    False: ("harmless", "the same code in both"),
}
_ARROW_SPACE = 44  # pixels, left of the names

# Marks of the legend, 20 pixels wide.
_BOX = '<rect class="{kind}" x="5" width="11" height="11" rx="2"/>'
_ARROW = '<path class="arrow {kind}" d="M0 6 h14"/><path class="head-{kind}" d="M20 6 l-8 -4 v8 z"/>'


class Cell(NamedTuple):
    """A number of a row: what its bar shows, and its text."""

    value: float
    text: str


class Row(NamedTuple):
    """A file: its kind, its numbers in the order of the columns (None: it has none), and more about it."""

    file: File
    kind: str
    cells: tuple[Cell | None, ...]
    note: str


class Column(NamedTuple):
    """Numbers of one kind: where they are drawn, and their logarithmic scale."""

    title: str
    x: float  # where its texts begin; the bars follow them
    width: float  # of the longest bar
    least: float
    most: float

    @property
    def bars(self) -> float:
        """Where the bars begin."""
        return self.x + _VALUE_WIDTH

    def length(self, value: float) -> float:
        """Of a bar, in pixels."""
        share = math.log(max(value, self.least) / self.least) / math.log(self.most / self.least)
        return max(_LEAST_BAR, share * self.width)


def as_svg(tree: Tree, arrows: Sequence[Arrow] = ()) -> str:
    """An SVG document without references to other files. arrows: what binds elsewhere."""
    return _picture(tree, arrows, f"<style>{_STYLE}</style>", hovers=False)


def as_html(tree: Tree, arrows: Sequence[Arrow] = (), names: Sequence[str] = ()) -> str:
    """The same in a page: the row under the pointer is marked, and described below the picture.

    names: what was asked about; none: the whole SDK.
    """
    hover = ".note { display: none } g:hover > .note { display: inline } g:hover > .row { fill: var(--shade) }"
    picture = _picture(tree, arrows, f"<style>{_STYLE}\n{hover}</style>", hovers=True)
    title = f"What {named(names) or 'the whole SDK'} brings into a process"
    about = "Each file once, in the order in which it comes in. The scales are logarithmic."
    wide = f'<div class="wide" tabindex="0" role="region" aria-label="Picture: {element_text(title)}">{picture}</div>'
    return "".join(page(title, about, [wide], ".wide svg { display: block; min-width: 44rem; height: auto }"))


def _picture(tree: Tree, arrows: Sequence[Arrow], style: str, *, hovers: bool) -> str:
    rows = list(_rows(tree))
    drawn_arrows = _placed(rows, arrows)
    margin = _MARGIN + (_ARROW_SPACE if drawn_arrows else 0)
    height = _TOP + _ROW * len(rows) + 2 * _ROW
    names = max([12, *(min(len(row.file.name), _LONGEST_NAME) for row in rows)])
    columns = _columns(tree, rows, margin + _INDENT + names * _LETTER)
    counts = [counted(len(tree.files), "file"), size_text(tree.size), time_text(tree.seconds)]
    title = ", ".join(filter(None, counts))
    bottom = _TOP + _ROW * len(rows)
    drawn = (
        _row(row, (margin, _TOP + _ROW * number), columns, bottom if hovers else None)
        for number, row in enumerate(rows)
    )
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            f"<title>What loading brings into a process: {escape(title)}</title>",
            style,
            f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
            f'<text class="title" x="{_MARGIN}" y="28">{escape(title)}</text>',
            *_legend(rows, {fault for _, _, fault in drawn_arrows}),
            *(line for column in columns for line in _axis(column, bottom)),
            *drawn,
            *_drawn_arrows(drawn_arrows, margin),
            "</svg>",
        ]
    )


def _rows(tree: Tree) -> Iterator[Row]:
    """Each file once, in the order in which it comes in."""
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


def _columns(tree: Tree, rows: Sequence[Row], left: float) -> list[Column]:
    """What there is of times and sizes, side by side, from `left` on."""
    titles = ["time in dlopen", "size of the file"] if tree.seconds is not None else ["size of the file"]
    width = (_WIDTH - _MARGIN - left) / len(titles)
    columns = []
    for number, title in enumerate(titles):
        values = [cell.value for row in rows if (cell := row.cells[number]) is not None and cell.value > 0]
        least = min([*values, _LEAST[title]])
        most = max([*values, 10 * least])
        columns.append(Column(title, left + number * width, width - _VALUE_WIDTH - _GAP, _power_below(least), most))
    return columns


def _power_below(value: float) -> float:
    return float(10.0 ** math.floor(math.log10(value)))


def _ticks(column: Column) -> list[float]:
    """Powers of ten, from the beginning of the scale to the longest bar or a little less."""
    count = math.floor(math.log10(column.most / column.least) + 1e-9) + 1
    step = math.ceil(count / _MOST_TICKS)
    return [column.least * 10.0**number for number in range(0, count, step)]


def _placed(rows: list[Row], arrows: Sequence[Arrow]) -> list[tuple[int, int, bool]]:
    """The arrows between files of the picture: both rows, and whether it is a fault. Faults come last, above others."""
    place = {os.path.realpath(row.file.path): number for number, row in enumerate(rows)}
    found = [
        (place[library], place[bound_to], arrow.is_fault)
        for arrow in arrows
        if (library := os.path.realpath(arrow.library)) in place
        and (bound_to := os.path.realpath(arrow.bound_to)) in place
    ]
    return sorted(found, key=lambda arrow: arrow[2])


def _drawn_arrows(arrows: list[tuple[int, int, bool]], margin: int) -> Iterator[str]:
    """Arcs left of the names; a longer one reaches further out."""
    for start, end, is_fault in arrows:
        name = _ARROWS[is_fault][0]
        y, target = (_TOP + _ROW * row + _ROW // 2 for row in (start, end))
        out = margin - 8 - min(_ARROW_SPACE - 8, 10 + 2 * abs(end - start))
        yield f'<path class="arrow {name}" d="M{margin - 4} {y} C{out} {y} {out} {target} {margin - 10} {target}"/>'
        yield f'<path class="head-{name}" d="M{margin - 3} {target} l-8 -4 v8 z"/>'


def _legend(rows: list[Row], arrows: Set[bool]) -> Iterator[str]:
    """What the colours say, on as many lines as it takes."""
    kinds = [kind for kind in _KINDS if any(row.kind == kind for row in rows)]
    marks = [(_BOX.format(kind=kind), _KINDS[kind]) for kind in kinds]
    marks += [(_ARROW.format(kind=kind), text) for is_fault, (kind, text) in _ARROWS.items() if is_fault in arrows]
    x, y = float(_MARGIN), 41
    for mark, text in marks:
        width = 44 + len(text) * 6.4
        if x + width > _WIDTH:
            x, y = float(_MARGIN), y + 17
        words = f'<text class="faint" x="24" y="10">{escape(text)}</text>'
        yield f'<svg x="{x:.0f}" y="{y}" overflow="visible">{mark}{words}</svg>'
        x += width


def _axis(column: Column, bottom: int) -> Iterator[str]:
    is_time = column.title == "time in dlopen"
    yield f'<text class="faint value" x="{column.bars - _GAP:.0f}" y="{_TOP - 24}">{column.title}</text>'
    for tick in _ticks(column):
        x = column.bars + (column.length(tick) if tick > column.least else 0)
        text = time_text(tick) if is_time else size_text(int(tick))
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP - 2}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text class="faint tick" x="{x:.1f}" y="{_TOP - 8}">{text}</text>'


def _row(row: Row, place: tuple[int, int], columns: Sequence[Column], note_y: int | None) -> str:
    """One row, whose name begins at `place`, x and the upper edge. note_y: where its note appears while the pointer is
    on it; None: nowhere.
    """
    margin, y = place
    x = margin if row.kind != "member" else margin + _INDENT
    name = row.file.name if len(row.file.name) <= _LONGEST_NAME else f"{row.file.name[: _LONGEST_NAME - 1]}\u2026"
    note = element_text(row.note)
    parts = [
        f'<rect class="row" x="0" y="{y}" width="{_WIDTH}" height="{_ROW}"/>',
        f"<title>{note}</title>",
        f'<text x="{x}" y="{y + 15}">{element_text(name)}</text>',
    ]
    for column, cell in zip(columns, row.cells, strict=True):
        if cell is not None:
            text = f'<text class="value faint" x="{column.bars - _GAP:.0f}" y="{y + 15}">{cell.text}</text>'
            width = column.length(cell.value)
            size = f'x="{column.bars:.1f}" y="{y + 4}" width="{width:.1f}" height="14" rx="2"'
            parts += [text, f'<rect class="{row.kind}" {size}/>']
    if note_y is not None:
        parts.append(f'<text class="note faint" x="{_MARGIN}" y="{note_y + 26}">{note}</text>')
    return f"<g>{''.join(parts)}</g>"

"""The tree as a picture: a row for each file, and a bar as long as it takes to load, or as it is large."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from html import escape
from typing import NamedTuple

from rocm_sdk.base.html_page import page_start
from rocm_sdk.base.value_text import counted, harmless, size_text

from .as_text import time_text
from .bindings import Arrow
from .plan_tree import File, Tree

_WIDTH, _ROW, _TOP, _MARGIN, _INDENT = 960, 22, 98, 16, 18
_LETTER, _LONGEST_NAME, _VALUE_WIDTH = 7.3, 44, 84  # width of a letter in pixels; letters; pixels
_TICKS = 5
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .title { font-size: 17px; font-weight: 600 }
.faint { fill: #59636e; font-size: 12px } .value { text-anchor: end; font-variant-numeric: tabular-nums }
.tick { text-anchor: middle } .grid { stroke: #d1d9e0 } .paper { fill: #ffffff } .row { fill: transparent }
.open { fill: #0969da } .anchor { fill: #bc4c00 } .later { fill: #8250df } .member { fill: #afb8c1 }
.arrow { fill: none; stroke-width: 1.6 } .fault { stroke: #cf222e } .harmless { stroke: #8c959f }
.head-fault { fill: #cf222e } .head-harmless { fill: #8c959f }"""

# Kind of a row -> what its colour says.
_KINDS = {
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


class Row(NamedTuple):
    """A file: its kind, the length of its bar and what it says in text, and more about it."""

    file: File
    kind: str
    length: float | None
    value: str
    note: str


def as_svg(tree: Tree, arrows: Sequence[Arrow] = ()) -> str:
    """An SVG document without references to other files. arrows: what binds elsewhere."""
    return _picture(tree, arrows, f"<style>{_STYLE}</style>", hovers=False)


def as_html(tree: Tree, arrows: Sequence[Arrow] = ()) -> str:
    """The same in a page: the row under the pointer is marked, and described below the picture."""
    hover = ".note { display: none } g:hover > .note { display: inline } g:hover > .row { fill: #f1f4f7 }"
    picture = _picture(tree, arrows, f"<style>{_STYLE}\n{hover}</style>", hovers=True)
    title = "What loading brings into a process"
    start = page_start(title, "body { background: #fff } svg { max-width: 100%; height: auto }")
    return f"{start}<h1>{title}</h1>\n{picture}</main></body></html>"


def _picture(tree: Tree, arrows: Sequence[Arrow], style: str, *, hovers: bool) -> str:
    rows = list(_rows(tree))
    drawn_arrows = _placed(rows, arrows)
    margin = _MARGIN + (_ARROW_SPACE if drawn_arrows else 0)
    height = _TOP + _ROW * len(rows) + 2 * _ROW
    names = max([12, *(min(len(row.file.name), _LONGEST_NAME) for row in rows)])
    left = margin + _INDENT + names * _LETTER + _VALUE_WIDTH + 12
    longest = max([row.length or 0 for row in rows] or [0]) or 1
    ticks = _ticks(longest)
    scale = (_WIDTH - 2 * _MARGIN - left) / max(longest, ticks[-1])
    counts = [counted(len(tree.files), "file"), size_text(tree.size), time_text(tree.seconds)]
    title = ", ".join(filter(None, counts))
    bottom = _TOP + _ROW * len(rows)
    drawn = (
        _row(row, (margin, _TOP + _ROW * number), left, scale, bottom if hovers else None)
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
            *_axis(tree, ticks, left, scale, bottom),
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
            kind = "later" if not step.requested else "anchor" if step.method == "anchor" else "open"
            length, value = (branch.seconds, time_text(branch.seconds)) if has_times else _size(branch.file)
            note = f"{branch.file.location}, {size_text(branch.file.size)}; {step.method}: {step.reason}"
            yield Row(branch.file, kind, length, value or "-", note)
        for file in branch.brings:
            length, value = (None, "") if has_times else _size(file)
            note = f"{file.location}, {size_text(file.size)}; comes with {branch.file.name}"
            yield Row(file, "member", length, value, note)
        seen.update(each.path for each in (branch.file, *branch.brings))


def _size(file: File) -> tuple[float, str]:
    return file.size, size_text(file.size)


def _ticks(longest: float) -> list[float]:
    """Round values from 0 to the longest bar or a little less."""
    step = 10.0 ** len(str(int(longest))) if longest >= 1 else 1.0
    while step * _TICKS > longest:
        step /= 2 if str(step).lstrip("0.")[0] in "12" else 2.5
    return [step * number for number in range(int(longest / step) + 1)]


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
    kinds = [kind for kind in _KINDS if any(row.kind == kind and row.length is not None for row in rows)]
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


def _axis(tree: Tree, ticks: list[float], left: float, scale: float, bottom: int) -> Iterator[str]:
    what = "time in dlopen" if tree.seconds is not None else "size of the file"
    yield f'<text class="faint value" x="{left - 12:.0f}" y="{_TOP - 8}">{what}</text>'
    for tick in ticks:
        x = left + tick * scale
        text = "0" if tick == 0 else time_text(tick) if tree.seconds is not None else size_text(int(tick))
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP - 2}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text class="faint tick" x="{x:.1f}" y="{_TOP - 8}">{text}</text>'


def _row(row: Row, place: tuple[int, int], left: float, scale: float, note_y: int | None) -> str:
    """One row, whose name begins at `place`, x and the upper edge. note_y: where its note appears while the pointer is
    on it; None: nowhere.
    """
    margin, y = place
    x = margin if row.kind != "member" else margin + _INDENT
    name = row.file.name if len(row.file.name) <= _LONGEST_NAME else f"{row.file.name[: _LONGEST_NAME - 1]}\u2026"
    note = escape(harmless(row.note))
    parts = [
        f'<rect class="row" x="0" y="{y}" width="{_WIDTH}" height="{_ROW}"/>',
        f"<title>{note}</title>",
        f'<text x="{x}" y="{y + 15}">{escape(harmless(name))}</text>',
        f'<text class="value faint" x="{left - 12:.0f}" y="{y + 15}">{row.value}</text>',
    ]
    if row.length is not None:
        width = max(1.0, row.length * scale)
        parts.append(f'<rect class="{row.kind}" x="{left:.1f}" y="{y + 4}" width="{width:.1f}" height="14" rx="2"/>')
    if note_y is not None:
        parts.append(f'<text class="note faint" x="{_MARGIN}" y="{note_y + 26}">{note}</text>')
    return f"<g>{''.join(parts)}</g>"

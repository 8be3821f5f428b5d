"""The tree as a picture: a row for each file, with a bar as long as the file is large."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape

from rocm_sdk.problems.text import size_text

from .as_text import time_text
from .plan_tree import File, Tree

_WIDTH, _ROW, _TOP, _INDENT = 960, 22, 56, 24
_SIZE_COLUMN, _TIME_COLUMN, _BAR_COLUMN = 470, 560, 580
_STYLE = """\
text { font: 13px sans-serif; fill: #1f2328 } .head { font-size: 17px; font-weight: bold } .faint { fill: #656d76 }
.number { text-anchor: end; font-variant-numeric: tabular-nums } .step { fill: #cf222e } .file { fill: #8c959f }"""


class Row(NamedTuple):
    """A file, whether it is a step, its time, and what a pointer over it tells."""

    file: File
    is_step: bool
    time: str
    note: str


def as_svg(tree: Tree) -> str:
    """An SVG document that refers to nothing outside of itself."""
    rows = list(_rows(tree))
    height = _TOP + _ROW * len(rows) + 12
    scale = (_WIDTH - _BAR_COLUMN - 12) / max([1, *(row.file.size for row in rows)])
    title = ", ".join(filter(None, [f"{len(tree.files)} files", size_text(tree.size), time_text(tree.seconds)]))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">'
    )
    body = [_drawing(row, _TOP + _ROW * number, scale) for number, row in enumerate(rows)]
    return "\n".join(
        [
            head,
            f"<title>Load plan: {escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text class="head" x="12" y="30">{escape(title)}</text>',
            *body,
            "</svg>",
        ]
    )


def _rows(tree: Tree) -> Iterator[Row]:
    for branch in tree.branches:
        reason = f"{branch.step.method}: {branch.step.reason}"
        yield Row(branch.file, True, time_text(branch.seconds), f"{branch.file.location}\n{reason}")
        for file in branch.brings:
            yield Row(file, False, "", f"{file.location}\ncomes with {branch.file.name}")


def _drawing(row: Row, y: int, scale: float) -> str:
    """One row, with its upper edge at `y`; `scale` is the length of a bar per byte."""
    x, kind = (12, "step") if row.is_step else (12 + _INDENT, "file")
    size, length = size_text(row.file.size), max(1, row.file.size * scale)
    return (
        f'<g><title>{escape(row.note)}</title><text x="{x}" y="{y + 15}">{escape(row.file.name)}</text>'
        f'<text class="number faint" x="{_SIZE_COLUMN}" y="{y + 15}">{size}</text>'
        f'<text class="number faint" x="{_TIME_COLUMN}" y="{y + 15}">{row.time}</text>'
        f'<rect class="{kind}" x="{_BAR_COLUMN}" y="{y + 4}" width="{length:.1f}" height="14"/></g>'
    )

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
    """A file, whether it is a step, whether it comes in here or with an earlier row, its time, and its tooltip."""

    file: File
    is_step: bool
    is_new: bool
    time: str
    note: str


def as_svg(tree: Tree) -> str:
    """An SVG document without references to other files."""
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
    seen: set[str] = set()
    for branch in tree.branches:
        step, file = branch.step, branch.file
        note = f"{file.location}\n{step.method}: {step.reason}"
        yield Row(file, True, file.path not in seen, time_text(branch.seconds), note)
        for brought in branch.brings:
            yield Row(brought, False, True, "", f"{brought.location}\ncomes with {file.name}")
        seen.update(each.path for each in (file, *branch.brings))


def _drawing(row: Row, y: int, scale: float) -> str:
    """One row, with its upper edge at `y`; `scale` is the length of a bar per byte. Only a new file has a bar."""
    x, kind = (12, "step") if row.is_step else (12 + _INDENT, "file")
    size, length = size_text(row.file.size), max(1, row.file.size * scale)
    bar = f'<rect class="{kind}" x="{_BAR_COLUMN}" y="{y + 4}" width="{length:.1f}" height="14"/>' if row.is_new else ""
    return (
        f'<g><title>{escape(row.note)}</title><text x="{x}" y="{y + 15}">{escape(row.file.name)}</text>'
        f'<text class="number faint" x="{_SIZE_COLUMN}" y="{y + 15}">{size}</text>'
        f'<text class="number faint" x="{_TIME_COLUMN}" y="{y + 15}">{row.time}</text>{bar}</g>'
    )

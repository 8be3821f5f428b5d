"""The report of a closure as a page: a picture in which each file's area is its size, and the tables behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.html_page import page, table
from rocm_sdk.base.value_text import size_text
from rocm_sdk_build.closure.closure import Made
from rocm_sdk_build.code.pieces import write_all
from rocm_sdk_build.files.new_file import new_file

from .report import data_of, group_sizes, libraries_of

_WIDTH, _HEIGHT = 1200.0, 640.0
_LETTER = 7.2  # width of one, in the picture's units
_LEFT_OUT = "left out"
# Fill and text of an area, by what is in it; each pair has a contrast of more than 4.5.
_COLOURS = {"library": ("#1d4e89", "#ffffff"), "data": ("#2a6f4e", "#ffffff"), _LEFT_OUT: ("#e4e4e4", "#333333")}
_STYLE = ".wide svg { display: block; min-width: 44rem; width: 100%; height: auto }"


class Area(NamedTuple):
    """A rectangle of the picture. sort is a key of the colours."""

    name: str
    size: int
    sort: str


class Placed(NamedTuple):
    """Where an area lies, in the picture's units."""

    area: Area
    x: float
    y: float
    width: float
    height: float


def write_page(made: Made, path: Path) -> None:
    """Writes the page; a file that is there is replaced."""
    with new_file(str(path)) as new:
        write_all(new, page_of(made).encode(), 0)


def page_of(made: Made) -> str:
    """The page as a text without anything from elsewhere."""
    gpus = f" for {', '.join(made.request.gpus)}" if made.request.gpus else ""
    about = f"{size_text(made.size_before)} → {size_text(made.size)}{gpus}."
    return "".join(page(f"Closure {made.request.output.name}", about, _parts(made), _STYLE))


def _parts(made: Made) -> Iterator[str]:
    libraries = [
        (os.path.basename(e.kept.file.path), size_text(e.kept.file.size), size_text(e.size), e.kept.reason)
        for e in libraries_of(made)
    ]
    data = [(kind, str(count), size_text(size), why) for kind, (count, size, why) in data_of(made).items()]
    left = [(reason, str(count), size_text(size)) for reason, (count, size) in group_sizes(made).items()]
    yield _picture(made)
    yield from _table("Libraries", ("library", "before", "after", "why"), libraries)
    yield from _table("Data", ("data", "files", "size", "why"), data)
    yield from _table("Left out", ("reason", "files", "size"), left)


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"<h2>{title}</h2>"
    if rows:
        cells = (tuple(map(escape, row)) for row in rows)
        yield from table(title, headings, cells, {"before", "after", "files", "size"})
    else:
        yield "<p>None.</p>"


# ---- the picture ----


def _picture(made: Made) -> str:
    areas = [Area(os.path.basename(e.kept.file.path), e.size, "library") for e in libraries_of(made) if e.size]
    areas += [Area(kind, size, "data") for kind, (_, size, _) in data_of(made).items() if size]
    kept = sum(area.size for area in areas)
    if gone := made.size_before - made.size:
        areas.append(Area(_LEFT_OUT, max(gone, 0), _LEFT_OUT))
    placed = list(squarified([area for area in areas if area.size > 0], 0.0, 0.0, _WIDTH, _HEIGHT))
    label = f"Sizes of files: {size_text(kept)} are kept, {size_text(max(gone, 0))} are left out"
    shapes = "".join(map(_shape, placed))
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Picture of the sizes">'
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{escape(label)}" '
        f'font-family="system-ui,sans-serif" font-size="13">{shapes}</svg></div>'
    )


def _shape(placed: Placed) -> str:
    fill, text = _COLOURS[placed.area.sort]
    told = f"{placed.area.name} {size_text(placed.area.size)}"
    letters = int((placed.width - 10) / _LETTER)
    shown = ""
    if placed.height > 20 and letters >= 6:
        name = placed.area.name if len(placed.area.name) <= letters else f"{placed.area.name[: letters - 1]}…"
        name = told if len(told) <= letters else name
        shown = f'<text x="{placed.x + 5:.1f}" y="{placed.y + 16:.1f}" fill="{text}">{escape(name)}</text>'
    return (
        f'<g><title>{escape(told)}</title><rect x="{placed.x:.1f}" y="{placed.y:.1f}" width="{placed.width:.1f}" '
        f'height="{placed.height:.1f}" fill="{fill}" stroke="#ffffff"/>{shown}</g>'
    )


def squarified(areas: Sequence[Area], x: float, y: float, width: float, height: float) -> Iterator[Placed]:
    """Fills a rectangle with the areas, each as near to a square as rows of them allow.

    The algorithm is that of Bruls, Huizing and van Wijk (2000).
    """
    rest = sorted(areas, key=lambda area: (-area.size, area.name))
    total = sum(area.size for area in rest)
    while rest and width > 0 and height > 0:
        scale = width * height / total
        side = min(width, height)
        row = [rest[0]]
        for area in rest[1:]:
            if _worst([*row, area], side, scale) > _worst(row, side, scale):
                break
            row.append(area)
        sum_of_row = sum(area.size for area in row)
        depth = sum_of_row * scale / side
        at = 0.0
        for area in row:
            length = area.size * scale / depth
            if width >= height:
                yield Placed(area, x, y + at, depth, length)
            else:
                yield Placed(area, x + at, y, length, depth)
            at += length
        x, width = (x + depth, width - depth) if width >= height else (x, width)
        y, height = (y, height) if side == height else (y + depth, height - depth)
        total -= sum_of_row
        rest = rest[len(row) :]


def _worst(row: Sequence[Area], side: float, scale: float) -> float:
    """The ratio of the sides of the flattest rectangle."""
    total = sum(area.size for area in row) * scale
    ratios = ((side * side * area.size * scale / total**2) for area in row)
    return max(max(ratio, 1 / ratio) for ratio in ratios)

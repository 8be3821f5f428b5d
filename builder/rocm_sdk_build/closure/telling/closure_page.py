"""The report of a closure as a page: kept and left out parts as bars of one scale, and the tables behind them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.html_page import bar, page, table
from rocm_sdk.base.value_text import size_text
from rocm_sdk_build.closure.closure import Made
from rocm_sdk_build.files.new_file import new_file
from rocm_sdk_build.files.pieces import write_all

from .report import data_of, group_sizes, libraries_of

_SHOWN = 24  # bars; smaller parts share one


class Part(NamedTuple):
    """A part of the SDK: a library, a kind of data, or the files that were left out for one reason."""

    name: str
    size: int  # bytes
    kind: str  # "kept", or "" for a part that is left out


def write_page(made: Made, path: Path) -> None:
    """Write the page; an existing file is replaced."""
    with new_file(str(path)) as new:
        write_all(new, page_of(made).encode(), 0)


def page_of(made: Made) -> str:
    """Return the page as a text without anything from elsewhere."""
    gpus = f" for {', '.join(made.request.gpus)}" if made.request.gpus else ""
    about = f"{size_text(made.size_before)} → {size_text(made.size)}{gpus}."
    return "".join(page(f"Closure {made.request.output.name}", about, _parts(made)))


def _parts(made: Made) -> Iterator[str]:
    libraries = [
        (os.path.basename(e.kept.file.path), size_text(e.kept.file.size), size_text(e.size), e.kept.reason)
        for e in libraries_of(made)
    ]
    data = [(kind, str(count), size_text(size), why) for kind, (count, size, why) in data_of(made).items()]
    left = [(reason, str(count), size_text(size)) for reason, (count, size) in group_sizes(made).items()]
    yield from _sizes(made)
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


def _sizes(made: Made) -> Iterator[str]:
    """Yield the largest parts of the SDK as bars; each bar shows the share of the whole."""
    parts = [Part(os.path.basename(each.kept.file.path), each.size, "kept") for each in libraries_of(made)]
    parts += [Part(kind, size, "kept") for kind, (_, size, _) in data_of(made).items()]
    parts += [Part(f"left out: {reason}", size, "") for reason, (_, size) in group_sizes(made).items()]
    if cut := sum(each.kept.file.size - each.size for each in made.site.files):
        parts.append(Part("left out: GPU code in files that are kept", max(cut, 0), ""))
    parts = [part for part in parts if part.size]
    parts.sort(key=lambda part: (-part.size, part.name))
    for kind, name in (("kept", "other kept parts"), ("", "other parts that are left out")):
        if rest := [part for part in parts[_SHOWN:] if part.kind == kind]:
            parts.append(Part(f"{name} ({len(rest)})", sum(part.size for part in rest), kind))
    shown = parts[:_SHOWN] + [part for part in parts[_SHOWN:] if part.name.startswith("other ")]
    whole = max(made.size_before, 1)
    rows = [
        (escape(each.name), size_text(each.size), f"{each.size / whole:.1%}{bar(each.size / whole, each.kind)}")
        for each in shown
    ]
    yield "<h2>Sizes</h2><p>Each bar is a part of the SDK as it was; what is kept has another colour.</p>"
    yield from table("Sizes", ("part", "size", "of the SDK"), rows, {"size"})

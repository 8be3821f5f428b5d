"""The tree as a page: each file below the one that brings it in, with its part of the whole in per cent and as a bar.

One library may be a hundred times as large as all others together, so bars count in powers of ten: a bar that is a
fifth longer stands for ten times as much. The numbers beside them are exact.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

from rocm_sdk.base.html_page import element_text, page, table
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.errors import PackageNotInstalledError
from rocm_sdk.fit.coverage_words import named
from rocm_sdk.installed.view import current

from .as_text import nested, reason_of, time_text
from .plan_tree import File, Tree

_DECADES = 5  # of a bar: from a hundred-thousandth of the whole to all of it
_DEEPEST = 12  # files further down stand below each other
_SIZE_PART, _TIME_PART = "of all bytes", "of the time"
_STYLE = """\
.file { padding-left: calc(1.4rem * var(--depth)) }
.faint { display: block; color: var(--faint); font-size: .85rem } .fault { color: var(--error); display: block }
td:has(.scale) { min-width: 9rem }
.scale { display: block; height: .7rem; background: repeating-linear-gradient(to right, var(--line) 0 1px,
  transparent 1px 20%); border-right: 1px solid var(--line) } .scale > span { display: block; height: 100%;
  background: var(--bar) }
"""


def as_html(tree: Tree, names: Sequence[str] = ()) -> str:
    """Return the page. names: the names that were asked about; none: the whole SDK."""
    sdk, place = _sdk()
    title = f"{sdk}: files that {named(names) or 'the whole SDK'} bring{'s' if len(names) < 2 else ''} into a process"
    facts = (counted(len(tree.files), "file"), size_text(tree.size), time_text(tree.seconds))
    about = f"{place}{', '.join(filter(None, facts))}."
    return "".join(page(title, about, _parts(tree), _STYLE))


def _sdk() -> tuple[str, str]:
    """Return the name of the SDK, and the sentence that tells its place."""
    try:
        installation = current()
        return f"ROCm SDK {installation.sdk.facts()['version']}", f"{installation.site}: "
    except PackageNotInstalledError:
        return "No ROCm SDK", ""


def _parts(tree: Tree) -> Iterator[str]:
    has_times = tree.seconds is not None
    headings = ("file", "size", _SIZE_PART, *(("time", _TIME_PART) if has_times else ()), "directory")
    rows = (row if has_times else (*row[:3], row[-1]) for row in _rows(tree))
    yield (
        "<p>Each file stands once, below the one that brings it in. A line of a bar stands for ten times as much as"
        " the one before it: 0.01 %, 0.1 %, 1 %, 10 %, all.</p>"
    )
    yield from table("Files", headings, rows, {"size", "time"})
    if tree.missing:
        yield f'<p class="fault">In neither the SDK nor the system: {element_text(", ".join(tree.missing))}</p>'


def _rows(tree: Tree) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row: name, size and time with their parts of the whole, directory."""
    seen: set[str] = set()
    for branch in tree.branches:
        if branch.file.path not in seen:
            reason = f'<span class="faint">{element_text(reason_of(branch))}</span>'
            yield _row(tree, branch.file, 0, branch.seconds, reason)
        for start, file in nested(branch):
            yield _row(tree, file, len(start) // 3 + 1, None, "")
        seen.update(each.path for each in (branch.file, *branch.brings))


def _row(tree: Tree, file: File, depth: int, seconds: float | None, more: str) -> tuple[str, ...]:
    name = element_text(file.name) if depth else f"<strong>{element_text(file.name)}</strong>"
    cell = f'<div class="file" style="--depth:{min(depth, _DEEPEST)}">{name}{more}</div>'
    whole = tree.seconds
    time = (time_text(seconds), _part(seconds / whole)) if seconds is not None and whole else ("", "")
    directory = element_text(os.path.dirname(file.location))
    return (cell, size_text(file.size), _part(file.size / (tree.size or 1)), *time, directory)


def _part(share: float) -> str:
    """Return a part of the whole as a number and a bar."""
    length = max(0.0, 1 + math.log10(share) / _DECADES) if share > 0 else 0.0
    number = f"{share:.1%}" if share >= 0.1 else f"{share:.2%}" if share >= 0.01 else f"{max(share * 100, 0.001):.1g}%"
    return f'{number}<span class="scale"><span style="width:{min(length, 1):.1%}"></span></span>'

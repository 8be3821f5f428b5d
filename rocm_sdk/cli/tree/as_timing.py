"""The measurements of `rocm-sdk tree --timing`, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from rocm_sdk.base.value_text import counted, harmless, size_text
from rocm_sdk.terminal.output import tell, tell_table

from .as_text import time_text
from .plan_tree import Tree
from .timing import Times, Timing

_NUMBERS = frozenset({"size", "warm", "cold", "waits", "touches"})
_KINDS = 3  # kinds that are named of a file


def tell_timing(tree: Tree, timing: Timing) -> None:
    """Print a row for each file, the sum, and the time of the whole call."""
    headings = ["library", "size", "warm", "cold", "waits", "touches", "what for"]
    rows = [*_rows(tree, timing), _sum(tree, timing)]
    if timing.cold is None:
        headings, rows = _without_cold(headings), [_without_cold(row) for row in rows]
    tell_table(headings, rows, _NUMBERS)
    tell("")
    for line in _notes(timing):
        tell(harmless(line))


def _without_cold(row: list[str]) -> list[str]:
    return [*row[:3], *row[5:]]


def _rows(tree: Tree, timing: Timing) -> Iterator[list[str]]:
    for branch in tree.branches:
        path = branch.file.path
        for file in (branch.file, *branch.brings):
            touched = timing.touched.get(file.path, {})
            times = _times(timing, path) if file is branch.file else ["", "", ""]
            name = file.name if file is branch.file else f"  {file.name}"
            yield [harmless(name), size_text(file.size), *times, _touches(touched), _what_for(touched)]


def _sum(tree: Tree, timing: Timing) -> list[str]:
    total: dict[str, int] = {}
    for each in timing.touched.values():
        for kind, size in each.items():
            total[kind] = total.get(kind, 0) + size
    total = dict(sorted(total.items(), key=lambda row: -row[1]))
    times = _times(timing, None)
    return [counted(len(tree.files), "file"), size_text(tree.size), *times, _touches(total), _what_for(total)]


def _times(timing: Timing, path: str | None) -> list[str]:
    """Return warm, cold, and the difference, of a library; path None: of all."""

    def time_of(load: Times | None) -> float | None:
        return None if load is None else sum(load.steps.values()) if path is None else load.steps.get(path)

    warm, cold = time_of(timing.warm), time_of(timing.cold)
    waits = max(0.0, cold - warm) if cold is not None and warm is not None else None
    return [time_text(warm), time_text(cold), time_text(waits)]


def _touches(touched: Mapping[str, int]) -> str:
    return size_text(sum(touched.values())) if touched else ""


def _what_for(touched: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {size_text(size)}" for kind, size in islice(touched.items(), _KINDS))


def _notes(timing: Timing) -> Iterator[str]:
    def shown(load: Times) -> str:
        return time_text(load.whole)

    if timing.cold is None:
        yield f"the whole call: {shown(timing.warm)}"
        yield f"cold could not be tried: {timing.why_not_cold}"
        return
    listed = f", with the page list {shown(timing.listed)}" if timing.listed is not None else ""
    unlisted = f", reading ahead {shown(timing.unlisted)}" if timing.unlisted is not None else ""
    yield f"the whole call: warm {shown(timing.warm)}, cold {shown(timing.cold)}{listed}{unlisted}"
    if timing.listed is None:
        yield "without a page list: rocm-sdk init --record-pages writes one, by which cold loads read ahead"
    if timing.stayed:
        yield f"in memory all the time: {', '.join(timing.stayed)}"

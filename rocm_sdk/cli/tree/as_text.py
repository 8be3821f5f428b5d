"""The tree for people."""

import os
from collections.abc import Iterator
from typing import TextIO

from rocm_sdk.base.value_text import counted, harmless, size_text
from rocm_sdk.terminal.style import can_show, style

from .plan_tree import Branch, Tree

_COLUMNS = ("library", "size", "time", "directory")
_ASCII = str.maketrans("│├└─", "||`-")


def as_text(tree: Tree, stream: TextIO) -> str:
    """A row for each file, the reason below each step, the sum at the end; `stream` is where it will be printed."""
    strong, faint = style("bold", stream), style("faint", stream)
    total = (counted(len(tree.files), "file"), size_text(tree.size), time_text(tree.seconds), "")
    entries = [entry for branch in tree.branches for entry in _entries(branch)]
    rows = [(_COLUMNS, ""), *entries, (total, "")]
    widths = [max(len(row[column]) for row, _ in rows) for column in range(3)]
    lines = []
    for number, ((name, size, time, directory), reason) in enumerate(rows):
        cells = [name.ljust(widths[0]), size.rjust(widths[1]), time.rjust(widths[2]), directory]
        if tree.seconds is None:
            del cells[2]
        line = harmless("  ".join(cells))
        lines.append(strong(line.rstrip()) if number in {0, len(rows) - 1} else line.rstrip())
        if reason:
            lines.append(faint(harmless(reason)))
    text = "\n".join(lines)
    return text if can_show(text, stream) else text.translate(_ASCII)


def time_text(seconds: float | None) -> str:
    """A time in milliseconds; "" for None."""
    return "" if seconds is None else f"{seconds * 1e3:.2f} ms"


def _entries(branch: Branch) -> Iterator[tuple[tuple[str, str, str, str], str]]:
    directory = os.path.dirname(branch.file.location)
    bar = "│" if branch.brings else " "
    answer = getattr(branch.step, "answer", None)
    reason = f"{bar}    {branch.step.method}: {branch.step.reason}{f'; {answer}' if answer else ''}"
    yield (branch.file.name, size_text(branch.file.size), time_text(branch.seconds), directory), reason
    for file in branch.brings:
        corner = "└─" if file is branch.brings[-1] else "├─"
        yield (f"{corner} {file.name}", size_text(file.size), "", os.path.dirname(file.location)), ""

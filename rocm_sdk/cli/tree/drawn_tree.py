"""The tree, for people and for programs.

For people each file is below the first one that needs it (DT_NEEDED), as the linker brings it in.
"""

import json
import os
from collections.abc import Iterator
from typing import Any, TextIO

from rocm_sdk.base.value_text import counted, harmless, size_text
from rocm_sdk.terminal.style import can_show, row_lines, style, width_of, wrapped

from .plan_tree import Branch, File, Tree

_COLUMNS = ("library", "size", "time", "directory")
_BELOW = "│    "  # the beginning of the line below a step
_ASCII = str.maketrans("│├└─", "||`-")
_SCHEMA = 1  # incremented when the meaning of a field changes


def as_text(tree: Tree, stream: TextIO) -> str:
    """Return a row for each file, the reason below each step, the sum at the end.

    stream: the place where the text will be printed.
    """
    strong, faint = style("bold", stream), style("faint", stream)
    total = (counted(len(tree.files), "file"), size_text(tree.size), time_text(tree.seconds), "")
    entries = [entry for branch in tree.branches for entry in _entries(branch)]
    rows = [(_COLUMNS, ""), *entries, (total, "")]
    widths = [max(len(row[column]) for row, _ in rows) for column in range(3)]
    lines = []
    columns = width_of(stream)
    for number, ((name, size, time, directory), reason) in enumerate(rows):
        cells = [name.ljust(widths[0]), size.rjust(widths[1]), time.rjust(widths[2])]
        if tree.seconds is None:
            del cells[2]
        paint = strong if number in {0, len(rows) - 1} else str
        parts = ["".join(part) for part in row_lines(harmless("  ".join(cells)), harmless(directory), columns)]
        lines += [paint(part.rstrip()) for part in parts]
        if reason:
            start = reason[: len(_BELOW)]
            lines += map(faint, wrapped(harmless(reason[len(start) :]), columns, f"{start}  ", start))
    text = "\n".join(lines)
    return text if can_show(text, stream) else text.translate(_ASCII)


def time_text(seconds: float | None) -> str:
    """Return a time in milliseconds; "" for None."""
    return "" if seconds is None else f"{seconds * 1e3:.2f} ms"


def _entries(branch: Branch) -> Iterator[tuple[tuple[str, str, str, str], str]]:
    directory = os.path.dirname(branch.file.location)
    reason = f"{'│' if branch.brings else ' '}{_BELOW[1:]}{reason_of(branch)}"
    yield (branch.file.name, size_text(branch.file.size), time_text(branch.seconds), directory), reason
    for start, file in nested(branch):
        yield (f"{start} {file.name}", size_text(file.size), "", os.path.dirname(file.location)), ""


def reason_of(branch: Branch) -> str:
    """Return how a file is opened, and why so."""
    answer = getattr(branch.step, "answer", None)
    return f"{branch.step.method}: {branch.step.reason}{f'; {answer}' if answer else ''}"


def nested(branch: Branch) -> Iterator[tuple[str, File]]:
    """Yield the files that come with a step, each with the lines that lead to it: three letters for each level.

    A chain of needs is not deeper than it has files.
    """
    parents = dict(zip(branch.step.members, branch.step.brought_by, strict=False))  # () is not known
    drawn = {branch.file.path, *(file.path for file in branch.brings)}
    children: dict[str, list[File]] = {}
    for file in branch.brings:  # a file whose parent is not known this way is the library's own
        parent = parents.get(file.path, "")
        children.setdefault(parent if parent in drawn else branch.file.path, []).append(file)
    todo = [("", file, number == 0) for number, file in enumerate(reversed(children.get(branch.file.path, ())))]
    while todo:
        start, file, is_last = todo.pop()
        yield f"{start}{'└─' if is_last else '├─'}", file
        below = f"{start}{'   ' if is_last else '│  '}"
        todo += [(below, each, number == 0) for number, each in enumerate(reversed(children.get(file.path, ())))]


def as_json(tree: Tree) -> str:
    """Return the tree as one JSON object; docs/commands.md describes the form."""
    content = {
        "schema": _SCHEMA,
        "steps": [_step(branch) for branch in tree.branches],
        "missing": tree.missing,
        "files": len(tree.files),
        "bytes": tree.size,
        "seconds": tree.seconds,
    }
    return json.dumps(content, indent=2)


def _step(branch: Branch) -> dict[str, Any]:
    step = branch.step
    return {
        "shortname": step.shortname,
        "soname": step.soname,
        **_file(branch.file),
        "method": step.method,
        "reason": step.reason,
        "rtld_global": step.rtld_global,
        "requested": step.requested,
        "seconds": branch.seconds,
        "needed": step.needed,
        "outside": step.outside,
        "missing": step.missing,
        "names": dict(step.names),
        "answer": getattr(step, "answer", None),
        "brings": [_file(file) for file in branch.brings],
    }


def _file(file: File) -> dict[str, Any]:
    return {"path": file.path, "bytes": file.size}

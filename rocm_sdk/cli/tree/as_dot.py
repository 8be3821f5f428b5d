"""The tree as a graph in Graphviz' language."""

from collections.abc import Iterator

from rocm_sdk.base.value_text import size_text

from .as_text import time_text
from .plan_tree import Branch, Tree


def as_dot(tree: Tree) -> str:
    """Return a directed graph.

    Boxes are files, solid arrows DT_NEEDED entries of a step, dotted arrows its other files.
    """
    return "\n".join(
        ["digraph rocm_sdk {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];', *_lines(tree), "}"]
    )


def _lines(tree: Tree) -> Iterator[str]:
    steps = {branch.file.path: branch for branch in tree.branches}
    for file in tree.files.values():
        lines = [file.name, size_text(file.size)]
        step = steps.get(file.path)
        if step is not None and step.seconds is not None:
            lines.append(time_text(step.seconds))
        style = "filled" if step is not None else "solid"
        yield f"  {_quoted(file.path)} [label={_quoted(*lines)}, style={style}];"
    for branch in tree.branches:
        yield from _edges(branch)


def _edges(branch: Branch) -> Iterator[str]:
    start = _quoted(branch.file.path)
    for path in branch.step.needed:
        yield f"  {start} -> {_quoted(path)};"
    for file in branch.brings:
        if file.path not in branch.step.needed:
            yield f"  {start} -> {_quoted(file.path)} [style=dotted];"


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'

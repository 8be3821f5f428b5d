"""The comparison as a page: a cell for each node, and the differences."""

from __future__ import annotations

from collections.abc import Iterator

from rocm_sdk.base.html_page import element_text, page, table
from rocm_sdk.base.value_text import counted
from rocm_sdk.doctor.report.complete_file import complete_file

from .comparison import Group, Merged

_STYLE = """
ul.nodes { list-style: none; padding: 0; display: flex; flex-wrap: wrap }
ul.nodes li { padding: .1rem .4rem; margin: .1rem; border: 1px solid var(--line) }
ul.nodes li { font: 13px/1.5 ui-monospace, monospace } ul.nodes a { color: inherit } .norm { color: var(--faint) }
ul.nodes .other { background: var(--warning-shade); font-weight: 600 }
ul.nodes .error { background: var(--error-shade); font-weight: 600 } .absent { background: var(--absent-shade) }
"""


def write_page(path: str, merged: Merged) -> None:
    """Write the page, which gets its name when it is complete. Raise OSError."""
    with complete_file(path) as file:
        file.writelines(part.encode("utf-8", errors="backslashreplace") for part in _page(merged))


def _page(merged: Merged) -> Iterator[str]:
    title = f"{counted(merged.report_count, 'report')}: {counted(len(merged.groups), 'outcome')}"
    return page(title, "Reports of rocm-sdk test, compared.", _parts(merged), _STYLE)


def _parts(merged: Merged) -> Iterator[str]:
    yield '<ul class="nodes">'
    for number, group in enumerate(merged.groups):
        kind = "error" if group.errors else "norm" if group.is_norm else "other"
        for name in group.names:
            shown = element_text(name) if group.is_norm else f'<a href="#group{number}">{element_text(name)}</a>'
            yield f'<li class="{kind}">{shown}</li>'
    yield from (f'<li class="absent">{element_text(node)} (no report)</li>' for node in merged.absent)
    yield "</ul>"
    for number, group in enumerate(merged.groups):
        yield from _group(group, number)
    if merged.unreadable:
        yield "<h2>Not readable</h2><ul>"
        yield from (f"<li>{element_text(each.file)}: {element_text(each.why)}</li>" for each in merged.unreadable)
        yield "</ul>"


def _group(group: Group, number: int) -> Iterator[str]:
    word = "the largest group" if group.is_norm else element_text(", ".join(group.names[:3]))
    yield f'<h2 id="group{number}">{counted(group.report_count, group.of)}: {word}</h2>'
    if group.errors:
        yield f"<ul>{''.join(f'<li>{element_text(each)}</li>' for each in group.errors)}</ul>"
    if group.differences:
        rows = (
            (element_text(each.what), element_text(each.value), element_text(each.norm)) for each in group.differences
        )
        yield from table(f"Differences: {word}", ("what", "here", "largest group"), rows)
    if group.is_norm and not group.errors:
        yield "<p>No errors. The other groups are compared with it.</p>"
    if group.untold:
        yield f"<p>Not told: {element_text(group.untold)}.</p>"

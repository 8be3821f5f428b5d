"""The comparison as a page: a cell for each node, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rocm_sdk.base.html_page import page_start
from rocm_sdk.base.value_text import counted, harmless
from rocm_sdk.doctor.report.complete_file import complete_file

from .comparison import Group, Merged

_STYLE = """
body{color:#1b1b1b;background:#fff}ul.nodes{list-style:none;padding:0;display:flex;flex-wrap:wrap}
ul.nodes li{padding:.1rem .4rem;margin:.1rem;font:13px/1.5 ui-monospace,monospace;border:1px solid #767676}
.norm{background:#e3f2e6}.other{background:#fff0c9}.error{background:#fbdcdc}.absent{background:#e4e4e4}
th{border-bottom:2px solid #1b1b1b}
"""


def write_page(path: str, merged: Merged) -> None:
    """Writes the page, which gets its name when it is complete. Raises OSError."""
    with complete_file(path) as file:
        file.writelines(part.encode("utf-8", errors="backslashreplace") for part in _page(merged))


def _page(merged: Merged) -> Iterator[str]:
    title = f"{counted(merged.report_count, 'report')}: {counted(len(merged.groups), 'outcome')}"
    yield f"{page_start(title, _STYLE)}<h1>{title}</h1>"
    yield '<ul class="nodes">'
    for group in merged.groups:
        kind = "error" if group.errors else "norm" if group.is_norm else "other"
        yield from (f'<li class="{kind}">{_text(name)}</li>' for name in group.names)
    yield from (f'<li class="absent">{_text(node)} (no report)</li>' for node in merged.absent)
    yield "</ul>"
    for group in merged.groups:
        yield from _group(group)
    if merged.unreadable:
        yield "<h2>Not readable</h2><ul>"
        yield from (f"<li>{_text(each.file)}: {_text(each.why)}</li>" for each in merged.unreadable)
        yield "</ul>"
    yield "</main></body></html>\n"


def _group(group: Group) -> Iterator[str]:
    word = "the largest group" if group.is_norm else _text(", ".join(group.names[:3]))
    yield f"<h2>{counted(group.report_count, group.of)}: {word}</h2>"
    if group.errors:
        yield f"<ul>{''.join(f'<li>{_text(each)}</li>' for each in group.errors)}</ul>"
    if group.differences:
        yield "<table><thead><tr><th>what</th><th>here</th><th>largest group</th></tr></thead><tbody>"
        for each in group.differences:
            yield f"<tr><td>{_text(each.what)}</td><td>{_text(each.value)}</td><td>{_text(each.norm)}</td></tr>"
        yield "</tbody></table>"
    if group.untold:
        yield f"<p>Not told: {_text(group.untold)}.</p>"


def _text(value: str) -> str:
    return escape(harmless(value))

"""A problem in a page: its code and title, the cause and the fix."""

from __future__ import annotations

from collections.abc import Iterator

from rocm_sdk.base.html_page import element_text
from rocm_sdk.base.value_text import is_words
from rocm_sdk.problems import Problem

from .text import breaks_text

STYLE = """
.problem { border-left: 4px solid var(--line); padding: .25rem 0 .25rem 1rem; margin: 1rem 0 }
.problem > * { overflow-wrap: anywhere } .problem .title { font-size: 1rem; font-weight: 400; margin: 0 }
.code { font-weight: 600; margin-right: .5rem } .error { color: var(--error) } .good { color: var(--good) }
span.warning { color: var(--warning) }
.problem.error, .problem.warning, .problem.note { color: inherit } .problem.error { border-color: var(--error) }
.problem.warning { border-color: var(--warning) } .problem.note { border-color: var(--note) }
.error > .title > .code { color: var(--error) } .warning > .title > .code { color: var(--warning) }
.note > .title > .code { color: var(--note) } dd code { background: var(--shade); padding: .1rem .3rem }
dl { display: grid; grid-template-columns: 4rem 1fr; gap: .25rem; margin: .25rem 0 }
dd { margin: 0; overflow-wrap: anywhere } dt { color: var(--faint) }
"""


def problem_section(found: Problem, heading: str = "h2") -> Iterator[str]:
    """Yield the problem as HTML, in parts, for a page with STYLE. heading: the element of its title."""
    yield f'<section class="problem {found.severity}">'
    yield f'<{heading} class="title"><span class="code">{found.code}</span>{element_text(found.title)}</{heading}>'
    yield f"<dl><dt>cause</dt><dd>{element_text(found.cause)}</dd>"
    if found.breaks:
        yield f"<dt>breaks</dt><dd>{element_text(breaks_text(found.breaks, verbose=True))}</dd>"
    if found.fix is not None:
        text = element_text(found.fix)
        shown = text if is_words(found.fix) else f"<code>{text}</code>"
        yield f"<dt>fix</dt><dd>{shown}</dd>"
    if found.tried is not None:
        yield f"<dt>tried</dt><dd>{element_text(found.tried)}</dd>"
    yield "</dl></section>"

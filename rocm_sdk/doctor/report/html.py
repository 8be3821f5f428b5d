"""The report as one HTML page: no network, no script, and no names of users and hosts."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from html import escape

from rocm_sdk import _native
from rocm_sdk.base.glibc import glibc_version
from rocm_sdk.base.html_page import page_start
from rocm_sdk.base.value_text import harmless, size_text
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.installation import Installed
from rocm_sdk.installed.shared_objects import SharedObject
from rocm_sdk.problems import Problem

from .complete_file import complete_file
from .mask import make_mask, reported_environment
from .text import breaks_text, errors_text

_STYLE = """
:root { color-scheme: light dark; --line: #8886 }
:root { --error: light-dark(#b71c1c, #ff8a80); --warning: light-dark(#8a5200, #ffb74d) }
:root { --note: light-dark(#2a56c6, #8ab4f8); --good: light-dark(#1b6e22, #81c784) }
table { width: 100% } th, td { border-bottom: 1px solid var(--line) } th.number, td.number { text-align: right }
code, pre, td.path { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
.problem { border-left: 4px solid var(--line); padding: .25rem 0 .25rem 1rem; margin: 1rem 0 }
.problem.error { border-color: var(--error) } .problem.warning { border-color: var(--warning) }
.problem.note { border-color: var(--note) }
.error > .code, td.error { color: var(--error) } .warning > .code, td.warning { color: var(--warning) }
.note > .code { color: var(--note) } td.good { color: var(--good) } .code { font-weight: 600; margin-right: .5rem }
dl { display: grid; grid-template-columns: 5rem 1fr; gap: .25rem; margin: .25rem 0 }
dd { margin: 0; overflow-wrap: anywhere } dt { opacity: .7 }
ul.tree { list-style: none; padding-left: 1.2rem } summary { cursor: pointer }
"""


def write_html(
    path: str, installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem], end: str
) -> None:
    """Writes the page, which gets its name when it is complete. Raises OSError if that fails."""
    page = make_mask(escape)("\n".join(_page(installation, recorders, problems, end)))
    with complete_file(path) as file:
        file.write(page.encode("utf-8", errors="backslashreplace"))


def _page(
    installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem], end: str
) -> Iterator[str]:
    title = f"ROCm SDK {installation.version}: {errors_text(problems)}"
    yield page_start(_text(title), _STYLE)
    yield f"<h1>{_text(title)}</h1><p>{_text(installation.site)}. {_text(end)}</p>"
    for found in problems:
        yield from _problem(found)
    numbers = ("number", "seconds")
    titles = ("subject", "number", "of", "result", "seconds")
    cells = (f'<th class="number">{each}' if each in numbers else f"<th>{each}" for each in titles)
    yield f"<h2>What was tested</h2><table><tr>{''.join(cells)}</tr>"
    for each in recorders:
        kind, verdict = ("error", f"{each.failed:,} failed") if each.failed else ("good", "ok")
        yield (
            f'<tr><td>{_text(each.subject)}<td class="number">{each.count:,}<td>{_text(each.unit)}'
            f'<td class="{kind}">{verdict}<td class="number">{each.seconds:.2f}</tr>'
        )
    yield "</table>"
    yield from _packages(installation)
    yield from _libraries(installation)
    yield from _gpus()
    yield from _pairs("System", _system())
    yield from _pairs("Environment", reported_environment())
    yield "</main></body></html>"


def _text(value: object) -> str:
    return escape(harmless(str(value)))


def _problem(found: Problem) -> Iterator[str]:
    yield f'<section class="problem {found.severity}"><span class="code">{found.code}</span>{_text(found.title)}<dl>'
    yield f"<dt>cause<dd>{_text(found.cause)}"
    if found.breaks:
        yield f"<dt>breaks<dd>{_text(breaks_text(found.breaks, verbose=True))}"
    if found.fix is not None:
        yield f"<dt>fix<dd><code>{_text(found.fix)}</code>"
    yield "</dl></section>"


def _packages(installation: Installed) -> Iterator[str]:
    yield "<h2>Packages</h2><table><tr><th>distribution<th>version</tr>"
    for each in installation.distributions:
        yield f"<tr><td>{_text(each.name)}<td>{_text(each.version)}</tr>"
    yield "</table>"


# ---- the tree of libraries


def _libraries(installation: Installed) -> Iterator[str]:
    """Each library once as the root of what it needs; what others need is folded."""
    objects = {each.name: each for each in installation.shared_objects}
    needed = {name for each in objects.values() for name in _needs(each, objects)}
    roots = [name for name in objects if name not in needed] or list(objects)
    yield f'<h2>Libraries</h2><p>{len(objects):,} files</p><ul class="tree">'
    shown: set[str] = set()
    for name in roots:
        yield from _branch(name, objects, shown)
    yield "</ul>"


def _needs(each: SharedObject, objects: dict[str, SharedObject]) -> list[str]:
    return [name for name in (each.facts.needed if each.facts is not None else ()) if name in objects]


def _branch(name: str, objects: dict[str, SharedObject], shown: set[str]) -> Iterator[str]:
    """The library and what it needs; what was shown above is named only. No recursion: a chain may be long."""
    pending: list[str | None] = [name]
    while pending:
        each = pending.pop()
        if each is None:
            yield "</ul></details></li>"
            continue
        below = _needs(objects[each], objects)
        size = _size(objects[each].path)
        if each in shown or not below:
            yield f"<li>{_text(each)} {size}{' (above)' if each in shown and below else ''}</li>"
        else:
            yield f'<li><details open><summary>{_text(each)} {size}</summary><ul class="tree">'
            pending += [None, *reversed(below)]
        shown.add(each)


def _size(path: str) -> str:
    try:
        return size_text(os.path.getsize(path))
    except OSError:
        return ""


# ---- the machine


def _gpus() -> Iterator[str]:
    yield "<h2>GPUs</h2>"
    try:
        gpus = _native.gpus()
    except RocmSdkError as error:
        yield f"<p>{_text(error.message)}</p>"
        return
    if not gpus:
        yield "<p>none</p>"
        return
    yield "<table><tr><th>node<th>target<th>name<th>PCI<th>memory<th>usable</tr>"
    for gpu in gpus:
        usable = "yes" if gpu.usable else f"no: {gpu.why_not}"
        cells = (gpu.node, gpu.target, gpu.name, gpu.pci_address, size_text(gpu.memory), usable)
        yield f"<tr>{''.join(f'<td>{_text(cell)}' for cell in cells)}</tr>"
    yield "</table>"


def _system() -> dict[str, str]:
    return {
        "loader": _native.loader_version,
        "Python": f"{platform.python_version()} ({sys.executable})",
        "kernel": platform.release(),
        "machine": platform.machine(),
        "C library": f"glibc {glibc_version()}",
    }


def _pairs(title: str, values: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{title}</h2><table>"
    for name, value in values.items():
        yield f'<tr><td>{_text(name)}<td class="path">{_text(value)}</tr>'
    yield "</table>"

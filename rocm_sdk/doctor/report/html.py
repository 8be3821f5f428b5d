"""The report as one HTML page: no network, no script, and no names of users and hosts."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence

from rocm_sdk import _native
from rocm_sdk.base.glibc import glibc_version
from rocm_sdk.base.html_page import element_text, page, table
from rocm_sdk.base.value_text import size_text
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.needed_libraries import names_needed
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem

from .complete_file import complete_file
from .mask import NOT_SHOWN, masked_page, reported_environment
from .problem_section import STYLE, problem_section
from .text import errors_text, verdict_of

_STYLE = """
ul.tree { list-style: none; padding-left: 1.2rem } summary { cursor: pointer }
"""


def write_html(
    path: str, installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem], end: str
) -> None:
    """Write the page, which gets its name when it is complete. Raise OSError if that fails."""
    title = f"ROCm SDK {installation.version}: {errors_text(problems)}"
    parts = page(title, f"{installation.site}. {end}", _parts(installation, recorders, problems), STYLE + _STYLE)
    text = masked_page("\n".join(parts))
    with complete_file(path) as file:
        file.write(text.encode("utf-8", errors="backslashreplace"))


def _parts(installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem]) -> Iterator[str]:
    for found in problems:
        yield from problem_section(found)
    yield "<h2>Tests</h2>"
    headings = ("subject", "number", "of", "result", "seconds")
    yield from table("Tests", headings, map(_subject, recorders), {"number", "seconds"})
    yield "<h2>Packages</h2>"
    versions = ((element_text(each.name), element_text(each.version)) for each in installation.distributions)
    yield from table("Packages", ("distribution", "version"), versions)
    yield from _libraries(installation)
    yield from _gpus()
    yield from _pairs("System", _system())
    shown = {name: NOT_SHOWN if value is None else value for name, value in reported_environment().items()}
    yield from _pairs("Environment", shown)


def _subject(each: Recorder) -> tuple[str, ...]:
    kind, verdict = verdict_of(each)
    said = f'<span class="{kind}">{verdict}</span>'
    return element_text(each.subject), f"{each.count:,}", element_text(each.unit), said, f"{each.seconds:.2f}"


# ---- the tree of libraries


class _Needs:
    """The needs of the SDK's libraries for each other; names of files that are not there, too."""

    def __init__(self, installation: Installed) -> None:
        self.objects = {each.name: each for each in installation.shared_objects}
        self._recorded = {os.path.basename(path) for path in installation.owners}

    def of(self, name: str) -> list[str]:
        """Return the libraries of the SDK that a library needs; [] for a missing one."""
        needed = names_needed(self.objects[name]) if name in self.objects else ()
        return [each for each in needed if self._is_of_sdk(each)]

    def _is_of_sdk(self, name: str) -> bool:
        return name in self.objects or name in self._recorded


def _libraries(installation: Installed) -> Iterator[str]:
    """Yield each library once as the root of its needs; a library that others need is folded."""
    needs = _Needs(installation)
    objects = needs.objects
    needed = {below for name in objects for below in needs.of(name)}
    roots = [name for name in objects if name not in needed] or list(objects)
    yield f'<h2>Libraries</h2><p>{len(objects):,} files</p><ul class="tree">'
    shown: set[str] = set()
    for name in roots:
        yield from _branch(name, needs, shown)
    yield "</ul>"


def _branch(name: str, needs: _Needs, shown: set[str]) -> Iterator[str]:
    """Yield a library and its needs; a library that was shown above is named only.

    The function does without recursion: a chain may be long.
    """
    pending: list[str | None] = [name]
    while pending:
        each = pending.pop()
        if each is None:
            yield "</ul></details></li>"
            continue
        if each not in needs.objects:
            yield f'<li class="error">{element_text(each)}: missing</li>'
            continue
        below = needs.of(each)
        size = _size(needs.objects[each].path)
        if each in shown or not below:
            yield f"<li>{element_text(each)} {size}{' (above)' if each in shown and below else ''}</li>"
        else:
            yield f'<li><details open><summary>{element_text(each)} {size}</summary><ul class="tree">'
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
        yield f"<p>{element_text(error.message)}</p>"
        return
    if not gpus:
        yield "<p>none</p>"
        return
    headings = ("node", "target", "name", "PCI", "memory", "usable")
    yield from table("GPUs", headings, map(_gpu, gpus), {"memory"})


def _gpu(gpu: _native.Gpu) -> tuple[str, ...]:
    usable = "yes" if gpu.usable else f"no: {gpu.why_not}"
    cells = (gpu.node, gpu.target, gpu.name, gpu.pci_address, size_text(gpu.memory), usable)
    return tuple(map(element_text, cells))


def _system() -> dict[str, str]:
    return {
        "loader": _native.loader_version,
        "Python": f"{platform.python_version()} ({sys.executable})",
        "kernel": platform.release(),
        "machine": platform.machine(),
        "C library": f"glibc {glibc_version()}",
    }


def _pairs(title: str, values: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{title}</h2>"
    rows = ((element_text(name), f"<code>{element_text(value)}</code>") for name, value in values.items())
    yield from table(title, ("name", "value"), rows)

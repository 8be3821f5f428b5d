"""The report as text: a line for each subject, then each problem with what it breaks and its fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rocm_sdk.base.value_text import counted, harmless, one_line
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, SaidFixes
from rocm_sdk.terminal.style import wrapped, wrapped_fix

_SHOWN = 6  # names of what a problem breaks
_CHECK = "check "
_LABEL = 9  # columns of a label, such as `cause`
_INDENT = " " * (2 + _LABEL)  # of continuation lines

Paint = Callable[[str], str]


class Paints(NamedTuple):
    """The functions that paint parts of the report; by default, they change nothing."""

    error: Paint = str
    warning: Paint = str
    note: Paint = str
    good: Paint = str
    faint: Paint = str


PLAIN = Paints()


def heading(installation: Installed) -> str:
    """Return the line about the tested installation."""
    if installation.fallback is not None:
        place = f"{installation.fallback} (ROCM_SDK_FALLBACK)"
        return one_line(f"ROCm {installation.version} in {installation.site}") + f"    taken from {harmless(place)}"
    if installation.prefix is not None:
        place = installation.prefix.installed(installation.site)
        installed = f"    for {harmless(place)}" if place != installation.site else ""
        return one_line(f"ROCm {installation.version} in {installation.site}") + installed
    parts = [each.name.removeprefix("rocm-sdk-") for each in installation.distributions if each.has_sdk_files]
    packages = harmless(", ".join(parts)) or "no packages"
    chosen = f" ({installation.chosen_by})" if installation.chosen_by else ""
    return one_line(f"SDK {installation.version} in {installation.site}{chosen}") + f"    {packages}"


def line_of(recorder: Recorder, paints: Paints = PLAIN) -> str:
    """Return the line about a subject: its count, unit and result."""
    kind, verdict = verdict_of(recorder)
    paint: Paint = getattr(paints, kind)
    return f"{recorder.subject:<12}{recorder.count:>7,} {recorder.unit:<8} {paint(verdict)}"


def verdict_of(recorder: Recorder) -> tuple[str, str]:
    """Return how a subject ended: a kind, which is a field of Paints, and the words.

    A subject that checked nothing has not passed.
    """
    warnings = sum(found.severity == "warning" for found in recorder.problems)
    if recorder.failed:
        return "error", f"{recorder.failed:,} failed"
    if warnings:
        return "warning", counted(warnings, "warning")
    if not recorder.count:
        return "faint", "not tried" if recorder.not_tried else "nothing"
    return "good", f"ok, {len(recorder.not_tried):,} not tried" if recorder.not_tried else "ok"


def passed(recorders: Iterable[Recorder]) -> Iterator[str]:
    """Yield the checks that passed, a line each."""
    for recorder in recorders:
        yield from (f"    ok  {recorder.subject}: {what}" for what in recorder.passed)


def not_tried(recorders: Iterable[Recorder]) -> Iterator[str]:
    """Yield the checks that were not tried, a line each."""
    for recorder in recorders:
        yield from (f"    not tried  {recorder.subject}: {what}" for what in recorder.not_tried)


def problems(
    found: Sequence[Problem], end: str, *, verbose: bool = False, paints: Paints = PLAIN, width: int | None = None
) -> Iterator[str]:
    """Yield each problem, and the summary. verbose: notes, and all names too. width: in columns, of a terminal."""
    for each in texts(found, verbose=verbose, paints=paints, width=width):
        yield f"\n{each}"
    yield "\n".join(["", *wrapped(summary(found, end, verbose=verbose), width)])


def texts(
    found: Sequence[Problem], *, verbose: bool = False, paints: Paints = PLAIN, width: int | None = None
) -> Iterator[str]:
    """Yield only the problems; a fix that several have is printed once."""
    said = SaidFixes()
    for each in found:
        if verbose or each.severity != "note":
            yield problem_text(each, verbose=verbose, paints=paints, width=width, said=said)


def whole(installation: Installed, recorders: Sequence[Recorder], found: Sequence[Problem], end: str) -> Iterator[str]:
    """Yield the lines of the complete report."""
    yield heading(installation)
    yield from (line_of(recorder) for recorder in recorders)
    yield from passed(recorders)
    yield from not_tried(recorders)
    yield from problems(found, end, verbose=True)


def problem_text(
    found: Problem,
    *,
    verbose: bool = False,
    paints: Paints = PLAIN,
    width: int | None = None,
    said: SaidFixes | None = None,
) -> str:
    """Return a problem as text: its title, its cause if that is about this case, what it breaks, its fix.

    `said` are the fixes that a report has printed already.
    """
    paint = {"error": paints.error, "warning": paints.warning, "note": paints.note}[found.severity]
    lines = list(wrapped(found.title, width, " " * 2, f"{found.code}  "))
    lines[0] = lines[0].replace(found.code, paint(found.code), 1)
    parts: list[tuple[str, str]] = []
    if found.entry.cause_has_facts or "count" in found.facts or verbose:
        parts.append(("cause", found.cause))
    if found.breaks:
        parts.append(("breaks", breaks_text(found.breaks, verbose=verbose, width=width)))
    fix, is_command = (said or SaidFixes()).of(found) or (None, False)
    if fix is not None:
        parts.append(("fix", fix))
    if found.tried is not None:
        parts.append(("tried", found.tried))
    for label, text in parts:
        start = f"  {label:<{_LABEL}}"
        first, *rest = wrapped_fix(start, text, width, _INDENT, is_command=is_command and label == "fix")
        lines += [first.replace(label, paints.faint(label), 1), *rest]
    return "\n".join(lines)


def breaks_text(breaks: Sequence[str], *, verbose: bool = False, width: int | None = None) -> str:
    """Return the things that a problem breaks: libraries by name, checks by their number; if `verbose`, all of them."""
    if verbose:
        return ", ".join(breaks)
    names = [each for each in breaks if not each.startswith(_CHECK)]
    checked = len(breaks) - len(names)
    number = min(len(names), _SHOWN)
    while width is not None and number > 1 and len(", ".join(names[:number])) > max(width - 55, 20):
        number -= 1
    shown = names[:number]
    rest = [f"{len(names) - len(shown):,} more"] if len(shown) < len(names) else []
    rest += [counted(checked, "check")] if checked else []
    text = ", ".join(shown)
    if not rest:
        return text
    joined = " and ".join(rest)
    return f"{text} and {joined}      (-v lists them)" if text else f"{joined}      (-v lists them)"


def summary(found: Iterable[Problem], end: str, *, verbose: bool) -> str:
    """Return the last line. end: a sentence about the end of the test, "Exit status 1."."""
    found = list(found)
    warnings = sum(each.severity == "warning" for each in found)
    notes = 0 if verbose else sum(each.severity == "note" for each in found)
    errors = sum(each.severity == "error" for each in found)
    parts = [counted(errors, "problem") if errors else "no problems"]
    if warnings:
        parts.append(counted(warnings, "warning"))
    if notes:
        parts.append(f"{counted(notes, 'note')} (-v shows them)")
    return f"{', '.join(parts)}. {end}"

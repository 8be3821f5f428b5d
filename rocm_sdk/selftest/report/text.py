"""The report as text: a line for each subject, then each problem with its cause and its fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocm_sdk.problems import Problem
from rocm_sdk.problems.text import harmless, one_line
from rocm_sdk.selftest.installation import Installation
from rocm_sdk.selftest.recorder import Recorder


def heading(installation: Installation) -> str:
    """The line about the tested installation."""
    parts = [each.name.removeprefix("rocm-sdk-") for each in installation.distributions if each.has_sdk_files]
    packages = harmless(", ".join(parts)) or "no packages"
    return one_line(f"SDK {installation.version} in {installation.site}") + f"    {packages}"


def line_of(recorder: Recorder) -> str:
    """The line about a subject: its count, unit and result."""
    warnings = sum(found.severity == "warning" for found in recorder.problems)
    verdict = "ok"
    if recorder.failed:
        verdict = f"{recorder.failed} failed"
    elif warnings:
        verdict = _plural(warnings, "warning")
    return f"{recorder.subject:<12}{recorder.count:>7,} {recorder.unit:<8} {verdict}"


def problems(recorders: Sequence[Recorder], *, verbose: bool) -> Iterator[str]:
    """Each problem, and the summary. verbose: also notes, what passed and what was not tried."""
    for recorder in recorders:
        if verbose:
            yield from (f"    ok  {recorder.subject}: {what}" for what in recorder.passed)
            yield from (f"    not tried  {recorder.subject}: {what}" for what in recorder.not_tried)
    for found in (found for recorder in recorders for found in recorder.problems):
        if verbose or found.severity != "note":
            yield f"\n{problem_text(found)}"
    yield f"\n{summary(recorders, verbose=verbose)}"


def whole(installation: Installation, recorders: Sequence[Recorder]) -> Iterator[str]:
    """The complete report."""
    yield heading(installation)
    yield from (line_of(recorder) for recorder in recorders)
    yield from problems(recorders, verbose=True)


def problem_text(found: Problem) -> str:
    """A problem in four lines."""
    return (
        f"{found.code}  {found.title}\n"
        f"  cause  {found.cause}\n"
        f"  fix    {found.fix}\n"
        f"  see    rocm-sdk explain {found.code}"
    )


def summary(recorders: Iterable[Recorder], *, verbose: bool) -> str:
    """The last line."""
    found = [each for recorder in recorders for each in recorder.problems]
    errors = sum(each.severity == "error" for each in found)
    warnings = sum(each.severity == "warning" for each in found)
    notes = 0 if verbose else sum(each.severity == "note" for each in found)
    parts = [_plural(errors, "problem")] if errors else ["no problems"]
    if warnings:
        parts.append(_plural(warnings, "warning"))
    if notes:
        parts.append(f"{_plural(notes, 'note')} (-v shows them)")
    return f"{', '.join(parts)}. Exit status {int(errors > 0)}."


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"

"""The verdicts as one HTML page: a table of subjects and GPUs, then each subject with its problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocm_sdk.base.html_page import bar, element_text, page, table
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.doctor.report.complete_file import complete_file
from rocm_sdk.doctor.report.mask import masked_page
from rocm_sdk.doctor.report.problem_section import STYLE, problem_section
from rocm_sdk.fit.coverage import with_code
from rocm_sdk.fit.coverage_words import lines_on
from rocm_sdk.fit.verdicts.judge import Verdict

_ANSWERS = {True: ("good", "yes"), False: ("error", "no"), None: ("unknown", "cannot tell")}
_ANSWER_OF_ONE = {True: "works", False: "does not work", None: "cannot tell whether it works"}
_STYLE = "td .error, td .good { font-weight: 600 } td .unknown { color: var(--warning); font-weight: 600 }"


def write_page(path: str, verdicts: Sequence[Verdict], gpus: Sequence[str], sdk: str) -> None:
    """Write the page, which gets its name when it is complete. Raise OSError. sdk: the SDK of the check, in words."""
    text = masked_page("\n".join(_page(verdicts, gpus, sdk)))
    with complete_file(path) as file:
        file.write(text.encode("utf-8", errors="backslashreplace"))


def _page(verdicts: Sequence[Verdict], gpus: Sequence[str], sdk: str) -> Iterator[str]:
    about = f"Checked against {sdk}, for {', '.join(gpus) or 'no GPU'}. The files were read and not loaded."
    return page(_title(verdicts), about, _parts(verdicts, gpus), STYLE + _STYLE)


def _title(verdicts: Sequence[Verdict]) -> str:
    if len(verdicts) == 1:
        return f"{verdicts[0].subject}: {_ANSWER_OF_ONE[verdicts[0].works]}"
    answers = [each.works for each in verdicts]
    parts = [f"{answers.count(True)} of {len(answers)} work"]
    if failing := answers.count(False):
        parts.append(f"{failing} {'does' if failing == 1 else 'do'} not")
    if None in answers:
        parts.append(f"{answers.count(None)} cannot be told")
    return ", ".join(parts)


def _parts(verdicts: Sequence[Verdict], gpus: Sequence[str]) -> Iterator[str]:
    headings = ("subject", "kind", "loads", *gpus)
    yield from table("Verdicts", headings, (_row(each, number) for number, each in enumerate(verdicts)))
    for number, each in enumerate(verdicts):
        yield from _verdict(each, number)


def _row(each: Verdict, number: int) -> tuple[str, ...]:
    subject = f'<a href="#subject{number}">{element_text(each.subject)}</a>'
    on_gpus = (_answer(on.runs) if each.has_code else "no GPU code" for on in each.gpus)
    return (subject, element_text(each.kind), _answer(each.loads), *on_gpus)


def _answer(answer: bool | None) -> str:
    kind, word = _ANSWERS[answer]
    return f'<span class="{kind}">{word}</span>'


def _verdict(each: Verdict, number: int) -> Iterator[str]:
    yield f'<h2 id="subject{number}">{element_text(each.subject)}</h2><p>{element_text(each.line)}</p>'
    if each.install is not None:
        yield f"<p>To install an SDK that fits: <code>{element_text(each.install)}</code></p>"
    for found in each.problems:
        yield from problem_section(each.without_name(found), "h3")
    yield from _code(each)


def _code(each: Verdict) -> Iterator[str]:
    """Yield the code of a subject's libraries for each GPU, and how much code there is for which targets."""
    coverage = each.code.coverage
    if not with_code(coverage):
        return
    name = f"GPU code of {each.subject}"
    rows = [
        (element_text(on.gpu), element_text(", ".join(names)), element_text(text))
        for index, on in enumerate(each.gpus)
        for names, text in lines_on(coverage, index)
    ]
    if rows:
        yield from table(f"{name}, by GPU", ("GPU", "libraries", "GPU code"), rows)
    whole = sum(target.size for target in coverage.targets)
    if whole:
        targets = [
            (
                element_text(each.target or "unknown"),
                size_text(each.size),
                f"{each.size / whole:.1%}{bar(each.size / whole)}",
            )
            for each in coverage.targets
        ]
        yield f"<p>{size_text(whole)} of GPU code for {counted(len(targets), 'target')}:</p>"
        yield from table(f"{name}, by target", ("target", "size", "of the GPU code"), targets, {"size"})

"""A problem: an entry of the registry, filled with what was found."""

from typing import Literal, NamedTuple

from .registry import ENTRIES, Entry
from .systems import is_container, this_system

Severity = Literal["error", "warning", "note"]


class Problem(NamedTuple):
    """One thing that is wrong, or worth knowing, as it is told to the user. All texts are one line."""

    code: str  # of the registry: "E-LIB-002"
    severity: Severity
    title: str  # what is wrong with what
    cause: str
    cure: str  # for this system
    path: str | None  # the file or directory it is about
    fix: str | None  # name of the repair that `rocm-sdk test --fix` knows, with its path


def problem(code: str, path: str | None = None, **facts: object) -> Problem:
    """The entry `code` of the registry with the facts that its templates name; KeyError for another code or fact."""
    entry = ENTRIES[code]
    named = {name: one_line(value) for name, value in facts.items()} | {"path": one_line(path or "")}
    return Problem(
        code,
        severity_of(entry),
        entry.title.format(**named),
        entry.cause.format(**named),
        cure_of(entry, named),
        path,
        entry.fix,
    )


def severity_of(entry: Entry) -> Severity:
    """The letter that the code begins with says it."""
    severities: dict[str, Severity] = {"E": "error", "W": "warning", "N": "note"}
    return severities[entry.code[0]]


def cure_of(entry: Entry, facts: dict[str, str]) -> str:
    """The cure for this kind of system, else the one for all others."""
    kinds = ["container"] if is_container() else []
    kind = next(kind for kind in (*kinds, this_system(), "any") if kind in entry.cures)
    return entry.cures[kind].format(**facts)


def one_line(value: object) -> str:
    """A value as text without line breaks and control characters: file names and program output may hold any."""
    text = str(value)
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))

"""A problem: an entry of the registry, filled in with what was found."""

from typing import Literal, NamedTuple

from .registry import ENTRIES, Entry
from .systems import is_container, this_system
from .text import one_line

Severity = Literal["error", "warning", "note"]

_SEVERITIES: dict[str, Severity] = {"E": "error", "W": "warning", "N": "note"}


class Problem(NamedTuple):
    """One thing that is wrong, or worth knowing. All texts are one line.

    code is that of the registry ("E-LIB-002"), title says what is wrong with what, fix is for this system, path is the
    file or directory concerned, and facts are the values that the texts name.
    """

    code: str
    title: str
    cause: str
    fix: str
    path: str | None
    facts: dict[str, str]

    @property
    def severity(self) -> Severity:
        """The first letter of the code: E error, W warning, N note."""
        return _SEVERITIES[self.code[0]]

    def as_document(self) -> dict[str, object]:
        """The fields and the severity, for JSON."""
        return {"code": self.code, "severity": self.severity, **self._asdict()}


def problem(code: str, path: str | None = None, **facts: object) -> Problem:
    """The entry `code` of the registry, filled in. Raises KeyError for an unknown code or a missing fact."""
    entry = ENTRIES[code]
    texts = {name: one_line(value) for name, value in facts.items()}
    named = {**texts, "path": one_line(path or "")}
    return Problem(
        code,
        entry.title.format_map(named),
        entry.cause.format_map(named),
        _fix_template(entry).format_map(named),
        path,
        texts,
    )


def gpu_problem(kind: str, node: int | None, path: str | None, cause: str, fix: str) -> Problem:
    """What prevents the use of a GPU, or a variable that is probably a mistake. The extension calls this.

    kind is a word such as "driver-missing"; node is the KFD node, None for all.
    """
    return problem("W-GPU-001", path, what=kind, detail=cause, fix=fix, node="" if node is None else node)


def _fix_template(entry: Entry) -> str:
    """The fix for this kind of system, else the one for all others."""
    kinds = ["container"] if is_container() else []
    kind = next(kind for kind in (*kinds, this_system(), "any") if kind in entry.fixes)
    return entry.fixes[kind]

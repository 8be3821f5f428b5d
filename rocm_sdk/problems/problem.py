"""A problem: an entry of the table, filled in with what was found, and the fix for this system and installation."""

import os

from rocm_sdk._native import problem_texts
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import harmless, one_line

from .registry import ENTRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocm_sdk._native import Code, Severity

    from .registry import Entry

    # A finding: a code, the file or directory concerned, and facts for the texts.
    Finding = tuple[Code, str | None, dict[str, str]]

    # A function of site, distribution and requirement that returns how the requirement was installed, like
    # rocm_sdk.installed.installer.
    Known = Callable[[str, str | None, str | None], dict[str, str]]

# Codes of files that are faulty in themselves: the same wheel would install the same file.
_OF_CONTENT = frozenset({"E-LIB-006", "E-FILE-006", "W-LIB-010", "E-DEVEL-009"})

# What installer.installation_facts says of a package that came from no index.
_ORIGINS = ("packages", "tree", "address", "closure")


class Problem(NamedTuple):
    """A fault, or something worth knowing. All texts are one line.

    code is a code of the table ("E-LIB-002"), title says what is wrong with what, fix is for this system and
    installation (None for a note that asks for nothing), path is the file or directory concerned, facts are the values
    that the texts name, breaks what does not work because of it, tried what the fix did in a copy, and is_command
    whether the fix is a shell command: otherwise it is a sentence.
    """

    code: "Code"
    title: str
    cause: str
    fix: str | None
    path: str | None
    facts: dict[str, str]
    breaks: tuple[str, ...] = ()
    tried: str | None = None
    is_command: bool = False

    @property
    def entry(self) -> "Entry":
        """The problem's row of the table."""
        return ENTRIES[self.code]

    @property
    def severity(self) -> "Severity":
        """The severity of the problem: error, warning or note."""
        return self.entry.severity

    def as_document(self) -> dict[str, object]:
        """Return the fields and the severity, for JSON."""
        return {"code": self.code, "severity": self.severity, **self._asdict()}


class SaidFixes:
    """The fixes that a report has printed, each with the code of its problem."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}

    def of(self, found: Problem) -> "tuple[str, bool] | None":
        """Return the fix of a problem or, if it was already printed, for which problem; None if there is none.

        The second value says whether it is a command.
        """
        if found.fix is None:
            return None
        if (said_for := self._codes.get(found.fix)) is not None:
            return f"See the fix of {said_for} above", False
        self._codes[found.fix] = found.code
        return found.fix, found.is_command


def problem(
    code: "Code",
    path: str | None = None,
    site: str | None = None,
    known: "Known | None" = None,
    /,
    **facts: object,
) -> Problem:
    """Return the entry `code` of the table, filled in. Raise KeyError for an unknown code.

    site: the directory of the packages, if the path does not show it. known: returns how they were installed, by
    default from what is installed now. General words replace a missing fact.
    """
    if code in _OF_CONTENT and path is not None and _is_as_recorded(path, site or _site_of(path), facts):
        facts["as_built"] = f"{path} is as RECORD says, so that the wheel was made so, and the same one brings it again"
    exact = {name: _exact(str(value)) for name, value in facts.items() if value is not None}
    requirement = exact.get("requirement") or exact.get("selector")
    installation = (known or _ask_installed)(site or _site_of(path), exact.get("distribution"), requirement)
    origin = {f"source_{name}": installation[name] for name in _ORIGINS if name in installation}
    place = _exact(path) if path is not None else None
    title, cause, fix, is_command = problem_texts(code, place, {**exact, **origin}, installation)
    # Texts are joined to the words before them: " (and 3 more)".
    shown = {name: f"{' ' * value.startswith(' ')}{one_line(value)}" for name, value in exact.items()}
    told = harmless(fix) if fix is not None else None
    return Problem(code, one_line(title), one_line(cause), told, path, shown, is_command=is_command)


def in_general(code: "Code") -> Problem:
    """Return the entry `code` of the table in general words, the same on each machine."""
    return problem(code, None, None, lambda *_: {})


def example(code: "Code") -> str:
    """Return the message of a problem with the facts of the code's sample, the same on each machine."""
    facts = {name: value for name, _, value in (line.partition("=") for line in ENTRIES[code].sample.splitlines())}
    title, cause, *_ = problem_texts(code, facts.pop("path", None), facts, {})
    return f"{title}: {cause}"


def _exact(value: str) -> str:
    """Return the value unchanged, for commands; made harmless if it cannot be part of a file's name."""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return harmless(value)
    return value.replace("\0", r"\x00")


def _is_as_recorded(path: str, site: str, facts: "Mapping[str, object]") -> bool:
    """Return whether a file has the digest from the RECORD of its distribution, which is among the facts."""
    try:
        from rocm_sdk.installed.distributions import sdk_distributions
        from rocm_sdk.installed.record import has_digest

        own = (each.files for each in sdk_distributions(site) if each.name == facts.get("distribution"))
        rows = [file.digest for files in own for file in files if file.path == os.path.relpath(path, site)]
        return any(digest and has_digest(path, digest) for digest in rows)
    except (ImportError, OSError, ValueError):
        return False


def _ask_installed(site: str, distribution: str | None, requirement: str | None) -> dict[str, str]:
    """Return how a requirement was installed.

    The result is {} if the interpreter cannot import the modules, for example without permission to read its own
    library.
    """
    try:
        from rocm_sdk.installed.installer import installation_facts, own_site  # here: only a problem needs it

        return installation_facts(site or own_site(), distribution, requirement)
    except (ImportError, OSError):
        return {}


def fix_of(found: Problem) -> str:
    """Return the fix of an error or a warning, which always have one."""
    assert found.fix is not None
    return found.fix


def problem_of(finding: "Finding", site: str | None = None) -> Problem:
    """Return the problem that a finding of the C library means. The extension calls this function."""
    code, path, facts = finding
    return problem(code, path, site, **facts)


def exception(
    kind: "Callable[..., Exception]",
    finding: "Finding",
    texts: tuple[str, str],
    refused: str | None,
    before: str | None,
) -> Exception:
    """Return the exception for an error of the C library, which calls this function.

    kind: a class of rocm_sdk.errors. texts: the message, and the same without the path that it begins with. refused:
    the library that could not be loaded; its message says what `rocm-sdk test` would say. before: the libraries that
    were loaded before it.
    """
    message, detail = texts
    found = problem_of(finding)
    if refused is not None:
        message = f"cannot load {refused}: {found.title}"
        if found.entry.cause_has_facts:
            message += f": {found.cause}"
        if before is not None:
            message += f"; loaded before and usable: {before}"
        detail = message
    return kind(message, found.fix, found.path, found.code, found, detail=detail)


def _site_of(path: str | None) -> str:
    """Return the directory that holds the platform directory of a path; "" if it has none."""
    parts = (path or "").split(os.sep)
    for index, part in enumerate(parts):
        if part.startswith(("_rocm_sdk_", "_rocm_profiler")):
            return os.sep.join(parts[:index])
    return ""


def install_fix(requirement: str, site: str | None = None) -> str:
    """Return the command that installs a requirement."""
    return fix_of(problem("E-PKG-014", None, site, requirement=requirement))


def reinstall_fix(distribution: str, site: str) -> str:
    """Return the command that installs a distribution again, in the version that it has in `site`."""
    from rocm_sdk.installed.distributions import sdk_distributions

    version = next((found.version for found in sdk_distributions(site) if found.name == distribution), None)
    requirement = f"{distribution}=={version}" if version else distribution
    facts = {"distribution": distribution, "version": version, "requirement": requirement}
    return fix_of(problem("E-FILE-001", None, site, **facts))

"""The page of a code: what `rocm-sdk explain` prints and what the documentation holds."""

from .problem import Problem, problem
from .registry import ALIASES, ENTRIES, Fix

TYPE_CHECKING = False  # for type checkers; importing typing takes longer than this module
if TYPE_CHECKING:
    from rocm_sdk._native import Code


def general(code: "Code") -> Problem:
    """The problem in general words: of no file, in no installation."""
    return problem(code, None, None, lambda _site, _distribution: {})


def page(code: str) -> tuple[str, list[str]]:
    """The title of the page, and its paragraphs without markup; KeyError for an unknown code."""
    if code in ALIASES:
        return f"{code} is not used any more", [f"In its place there are {ALIASES[code]}."]
    entry = ENTRIES[code]
    found = general(entry.code)
    fixes = [fix_line(fix, alone=len(entry.fixes) == 1) for fix in entry.fixes]
    return f"{code}: {found.title}", [entry.about, f"Cause: {found.cause}.", "\n".join(["Fix:", *fixes])]


def fix_line(fix: Fix, *, alone: bool) -> str:
    """A fix as an item of a list, with the system that it is for."""
    return f"- {fix.text}" if alone else f"- {fix.system or 'elsewhere'}: {fix.text}"


def markdown(code: str) -> str:
    """The page in Markdown."""
    title, paragraphs = page(code)
    escaped = [text.replace("<", "\\<").replace("*", "\\*") for text in paragraphs]
    return "\n\n".join([f"# {title}", *escaped])

"""The page of a code: what `rocm-sdk explain` prints and what the documentation holds."""

from .problem import in_general
from .registry import ALIASES, ENTRIES, Fix


def page(code: str) -> tuple[str, list[str]]:
    """The title of the page, and its paragraphs without markup; KeyError for an unknown code."""
    if code in ALIASES:
        return f"{code} is not used any more", [f"In its place there are {ALIASES[code]}."]
    entry = ENTRIES[code]
    found = in_general(entry.code)
    fixes = [fix_line(fix, alone=len(entry.fixes) == 1) for fix in entry.fixes]
    paragraphs = [entry.about, f"Cause: {found.cause}."]
    return f"{code}: {found.title}", [*paragraphs, "\n".join(["Fix:", *fixes])] if fixes else paragraphs


def fix_line(fix: Fix, *, alone: bool) -> str:
    """A fix as an item of a list, with the system that it is for."""
    return f"- {fix.text}" if alone else f"- {fix.system or 'elsewhere'}: {fix.text}"


def markdown(code: str) -> str:
    """The page in Markdown."""
    title, paragraphs = page(code)
    escaped = [text.replace("<", "\\<").replace("*", "\\*") for text in paragraphs]
    return "\n\n".join([f"# {title}", *escaped])

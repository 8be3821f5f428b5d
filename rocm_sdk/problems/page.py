"""The page of a code: what `rocm-sdk explain` prints and what the documentation holds."""

from .problem import in_general
from .registry import ALIASES, ENTRIES, Fix

# What stands in a command for what is not known.
_PLACEHOLDERS = frozenset(
    (
        *(
            "ADDRESS",
            "BYTES",
            "CAPABILITY",
            "DIRECTORY",
            "DISTRIBUTION",
            "FILE",
            "GROUP",
            "INDEX",
            "LIBRARY",
            "PACKAGE",
        ),
        *("RECORD", "VARIABLE", "VERSION"),
    )
)


def page(code: str) -> tuple[str, list[str]]:
    """The title of the page, and its paragraphs without markup; KeyError for an unknown code."""
    if code in ALIASES:
        return f"{code} is not used any more", [f"In its place there are {ALIASES[code]}."]
    entry = ENTRIES[code]
    found = in_general(entry.code)
    paragraphs = [entry.about, f"Cause: {found.cause}."]
    if entry.fixes:
        heading = "Fix:" if len(entry.fixes) == 1 else "Fix, the first of these that fits the installation:"
        paragraphs.append("\n".join([heading, *fix_lines(entry.fixes)]))
    return f"{code}: {found.title}", paragraphs


def fix_lines(fixes: tuple[Fix, ...]) -> list[str]:
    """The fixes as items of a list, with the systems that they are for, and what stands for what is not known."""
    are_of_systems = len({fix.system for fix in fixes}) > 1
    lines = [f"- {fix.system or 'elsewhere'}: {fix.text}" if are_of_systems else f"- {fix.text}" for fix in fixes]
    if any(_has_placeholder(fix.text) for fix in fixes):
        lines.append("The message of a problem says what the words in capitals stand for.")
    return lines


def _has_placeholder(text: str) -> bool:
    """Whether a word of it stands for what is not known. `$NAME`, `A_NAME` and `--NAME` do not."""
    marks = "".join(each if each.isalnum() or each in "_$-" else " " for each in text)
    words = (word.partition("-")[0] for word in marks.split())
    return not _PLACEHOLDERS.isdisjoint(words)


def markdown(code: str) -> str:
    """The page in Markdown."""
    title, paragraphs = page(code)
    escaped = [text.replace("<", "\\<").replace("*", "\\*") for text in paragraphs]
    return "\n\n".join([f"# {title}", *escaped])

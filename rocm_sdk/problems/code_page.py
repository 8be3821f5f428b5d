"""The page of a code, which `rocm-sdk explain` prints and the documentation contains."""

from .cause_table import consequences
from .problem import example, in_general
from .registry import ALIASES, ENTRIES, Fix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The words in a command that stand for something unknown.
_PLACEHOLDERS = frozenset(
    (
        *("ADDRESS", "BYTES", "CAPABILITY", "DIRECTORY", "DISTRIBUTION", "FILE", "GROUP", "INDEX", "LIBRARY"),
        *("PACKAGE", "RECORD", "VARIABLE", "VERSION"),
    )
)


def page(code: str, text: "Callable[[str], str]" = str, command: "Callable[[str], str]" = str) -> tuple[str, list[str]]:
    """Return the title of the page, and its paragraphs. Raise KeyError for an unknown code.

    text, command: functions that write the texts of the page, and the fixes in it, with markup.
    """
    if code in ALIASES:
        return f"{code} is not used any more", [f"In its place there are {ALIASES[code]}."]
    entry = ENTRIES[code]
    found = in_general(entry.code)
    causes = [] if "{detail}" in entry.cause else [f"Cause: {found.cause}."]
    paragraphs = [text(each) for each in (entry.about, *causes, f"For example: {example(entry.code)}")]
    if entry.fixes:
        heading = "Fix:" if len(entry.fixes) == 1 else "Fix, the first of these that fits the installation:"
        are_of_systems = len({fix.system for fix in entry.fixes}) > 1
        written = _of_system if are_of_systems else _as_it_is
        items = [f"- {written(fix, text, command)}" for fix in entry.fixes]
        if any(_has_placeholder(fix.text) for fix in entry.fixes):
            items.append("The message of a problem says what the words in capitals stand for.")
        paragraphs.append("\n".join([heading, *dict.fromkeys(items)]))
    if told := consequences(code):
        paragraphs.append(text(told))
    return text(f"{code}: {found.title}"), paragraphs


def _as_it_is(fix: Fix, text: "Callable[[str], str]", command: "Callable[[str], str]") -> str:
    return (command if fix.is_command else text)(fix.text)


def _of_system(fix: Fix, text: "Callable[[str], str]", command: "Callable[[str], str]") -> str:
    """Return a fix with the system that it is for; a sentence for the other systems begins with "Otherwise"."""
    if not fix.system and not fix.is_command:
        return text(f"Otherwise {fix.text[0].lower()}{fix.text[1:]}")
    return f"{fix.system or 'otherwise'}: {_as_it_is(fix, text, command)}"


def _has_placeholder(text: str) -> bool:
    """Return whether a word of a text stands for something unknown. `$NAME`, `A_NAME` and `--NAME` do not."""
    marks = "".join(each if each.isalnum() or each in "_$-" else " " for each in text)
    words = (word.partition("-")[0] for word in marks.split())
    return not _PLACEHOLDERS.isdisjoint(words)

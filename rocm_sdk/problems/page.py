"""The page of a code: what `rocm-sdk explain` prints and what the documentation holds."""

from .registry import ENTRIES, Entry
from .systems import SYSTEMS


def markdown(code: str) -> str:
    """The page in Markdown; KeyError for an unknown code. Braces stand for what a report fills in."""
    entry = ENTRIES[code]
    cures = [f"- {_kind_in_words(kind, entry)}: {cure}" for kind, cure in entry.cures.items()]
    paragraphs = [f"# {code}", f"{entry.title}.", entry.about, f"**Because** {entry.cause}.", "**Mend**"]
    return "\n\n".join([*paragraphs, "\n".join(cures)])


def _kind_in_words(kind: str, entry: Entry) -> str:
    if kind in SYSTEMS:
        return SYSTEMS[kind][1]
    if kind == "container":
        return "in a container"
    return "everywhere" if len(entry.cures) == 1 else "elsewhere"

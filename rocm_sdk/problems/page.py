"""The page of a code: what `rocm-sdk explain` prints and what the documentation holds."""

from .registry import ENTRIES, Entry
from .systems import SYSTEMS


def markdown(code: str) -> str:
    """The page in Markdown; KeyError for an unknown code. Braces stand for what a report fills in."""
    entry = ENTRIES[code]
    fixes = [f"- {_system_name(kind, entry)}: {fix}" for kind, fix in entry.fixes.items()]
    paragraphs = [f"# {code}", f"{entry.title}.", entry.about, f"**Cause** {entry.cause}.", "**Fix**"]
    return "\n\n".join([*paragraphs, "\n".join(fixes)])


def _system_name(kind: str, entry: Entry) -> str:
    if kind in SYSTEMS:
        return SYSTEMS[kind][1]
    if kind == "container":
        return "in a container"
    return "everywhere" if len(entry.fixes) == 1 else "elsewhere"

"""The page of a code: what `rocm-sdk explain` prints and what the documentation holds."""

from .registry import ENTRIES
from .systems import SYSTEMS


def markdown(code: str) -> str:
    """The page in Markdown; KeyError for an unknown code. Braces stand for what a report fills in."""
    entry = ENTRIES[code]
    cures = [
        f"- {SYSTEMS[system][1] if system in SYSTEMS else 'everywhere' if len(entry.cures) == 1 else 'elsewhere'}:"
        f" `{cure}`"
        for system, cure in entry.cures.items()
    ]
    paragraphs = [f"# {code}", f"{entry.title}.", entry.about, f"**Because** {entry.cause}.", "**Mend**"]
    return "\n\n".join([*paragraphs, "\n".join(cures)])

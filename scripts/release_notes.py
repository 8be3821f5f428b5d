"""The section of the changelog that a release has, as the notes of the release and as the text of its tag."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

# The titles of the sections that a release may have, of Keep a Changelog.
_TITLES = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


class ReleaseError(Exception):
    """The reason why there can be no release: what is wrong, and what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}\n  fix: {fix}")


class Section(NamedTuple):
    """A section of the changelog."""

    version: str
    date: str  # 2026-11-23
    body: str  # Markdown, without the heading


def section_of(text: str, version: str) -> Section:
    """Return the section of a version, which must be the first section, complete and dated.

    Raise ReleaseError with what the section lacks.
    """
    sections = re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if sections and sections[0][0] == "[Unreleased]" and not sections[0][1].strip():
        sections.pop(0)
    wanted = f"## [{version}] - YYYY-MM-DD"
    if not sections or (match := re.fullmatch(rf"\[{re.escape(version)}\] - (\S+)", sections[0][0])) is None:
        first = f"begins with `## {sections[0][0]}`" if sections else "has no sections"
        raise ReleaseError(f"CHANGELOG.md {first}", f"name the section of this release `{wanted}`")
    try:
        datetime.date.fromisoformat(match[1])
    except ValueError:
        raise ReleaseError(f"CHANGELOG.md: {match[1]} is no date", f"write `{wanted}`") from None
    body = sections[0][1].strip()
    titles = re.findall(r"^### (.*)$", body, re.MULTILINE)
    if not re.search(r"^- ", body, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md: the section of {version} has no lines", "write what has changed")
    if unknown := [title for title in titles if title not in _TITLES]:
        raise ReleaseError(f"CHANGELOG.md: {unknown[0]!r} is no title of a part", f"use one of {', '.join(_TITLES)}")
    return Section(version, match[1], body)


def notes_text(section: Section, address: str) -> str:
    """Return the notes of a release: the section, whose links lead into the repository at its tag.

    `address` is the address of the repository's files at that tag; "" leaves relative links as they are.
    """
    body = re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({address}\1)", section.body)
    return f"{body}\n"


def tag_text(section: Section) -> str:
    """Return the text of the annotated tag: plain, since `git tag` drops lines that begin with `#`."""
    return f"rocm_sdk {section.version}\n\n" + re.sub(r"^#+ (.*)$", r"\1:", section.body, flags=re.MULTILINE) + "\n"

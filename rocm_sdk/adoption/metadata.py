"""The two files of a dist-info directory that an adoption edits: METADATA and entry_points.txt.

The files are edited as lines, not parsed and rewritten: everything else stays the same, byte for byte.
"""

from __future__ import annotations

import re

_REQUIREMENT = b"Requires-Dist: rocm-sdk-loader"
_REQUIRES_LOADER = re.compile(rb"requires-dist:[ \t]*rocm[-_.]+sdk[-_.]+loader(?![-\w.])", re.IGNORECASE)
_COMMAND = re.compile(rb"[ \t]*rocm-sdk[ \t]*=")


def requires_loader(content: bytes) -> bool:
    """Return whether a METADATA requires rocm-sdk-loader."""
    return any(_REQUIRES_LOADER.match(line) for line in _headers(content))


def with_loader(content: bytes) -> bytes:
    """Return METADATA with a last header that requires rocm-sdk-loader."""
    if requires_loader(content):
        return content
    headers = _headers(content)
    rest = b"".join(content.splitlines(keepends=True)[len(headers) :])
    end = b"\r\n" if headers and headers[-1].endswith(b"\r\n") else b"\n"
    before = b"".join(headers)
    if before and not before.endswith(b"\n"):
        before += end
    return before + _REQUIREMENT + end + rest


def has_command(content: bytes) -> bool:
    """Return whether an entry_points.txt defines the command rocm-sdk."""
    return without_command(content) != content


def without_command(content: bytes) -> bytes:
    """Return entry_points.txt without the command rocm-sdk."""
    section, kept = b"", []
    for line in content.splitlines(keepends=True):
        if line.lstrip().startswith(b"["):
            section = line.strip()
        if section != b"[console_scripts]" or not _COMMAND.match(line):
            kept.append(line)
    return b"".join(kept)


def _headers(content: bytes) -> list[bytes]:
    lines = content.splitlines(keepends=True)
    return lines[: next((i for i, line in enumerate(lines) if not line.strip()), len(lines))]

"""The errors for archives, and files in them, that cannot be read or are not what they claim to be."""

from __future__ import annotations

from rocm_sdk.errors import BadArchiveError, LibraryAccessError


def refusal(name: str, why: str) -> LibraryAccessError:
    """Return the error for a file that cannot be read."""
    return LibraryAccessError(f"{name}: cannot read: {why}", None, name, "E-FILE-007")


def damage(name: str, why: str, fix: str = "get the archive again") -> BadArchiveError:
    """Return the error for an archive, or a member of an archive, that is not as it claims to be."""
    return BadArchiveError(f"{name}: {why}", fix, name, "E-CODE-004", detail=why)


def unread(name: str, why: str, fix: str = "unpack it and ask about the directory") -> BadArchiveError:
    """Return the error for an archive, or a member of an archive, whose form is not read; the archive may be sound."""
    return damage(name, why, fix)

"""The errors for archives, and files in them, that cannot be read or are not what they claim to be."""

from __future__ import annotations

import errno

from rocm_sdk.errors import BadArchiveError, LibraryAccessError, RocmSdkError

# The system errors that a damaged archive provokes. All others come from the surroundings: space, permissions, limits.
_OF_ARCHIVE = frozenset(
    {
        errno.EINVAL,  # a place before the beginning
        errno.ENAMETOOLONG,
        errno.EOVERFLOW,  # a place behind what a file can have
    }
)
_OTHER_PLACE = "make room there, or export TMPDIR=DIRECTORY for another place"


def refusal(name: str, why: str, fix: str | None = None) -> LibraryAccessError:
    """Return the error for a file that cannot be read."""
    return LibraryAccessError(f"{name}: cannot read: {why}", fix, name, "E-FILE-007")


def of_reading(name: str, error: Exception, what: str, place: str = "") -> RocmSdkError:
    """Return the error for a failed read: damage, or something that the surroundings lack.

    what: words about the damage. place: the directory that the reader writes to.
    """
    if isinstance(error, RocmSdkError):
        return error
    if isinstance(error, OSError) and error.errno is not None and error.errno not in _OF_ARCHIVE:
        where = f"it is unpacked to {place}: " if place else ""
        return refusal(name, f"{where}{error.strerror}", _OTHER_PLACE if place else None)
    return damage(name, f"{what}: {error}")


def damage(name: str, why: str, fix: str = "get the archive again") -> BadArchiveError:
    """Return the error for an archive, or a member of an archive, that is not as it claims to be."""
    return BadArchiveError(f"{name}: {why}", fix, name, "E-CODE-004", detail=why)


def unread(name: str, why: str, fix: str = "unpack it and ask about the directory") -> BadArchiveError:
    """Return the error for an archive, or a member, whose form we do not read; the archive may be sound."""
    return damage(name, why, fix)

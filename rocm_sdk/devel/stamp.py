"""The stamp, which shows within microseconds that nothing around a tree has changed since its last update.

The stamp lists the metadata directories of the SDK's packages and the inode, size and modification time of each RECORD
and device manifest. pip and uv write a new RECORD for each installation, so a package that was added, removed or
reinstalled shows. Clocks do not matter: a difference in either direction counts.

The module imports next to nothing, since scripts often call commands that use it.
"""

import os

from rocm_sdk.installed import sdk_metadata

from .layout import STAMP

# inode, size in bytes, modification time in nanoseconds
Identity = tuple[int, int, int]
GONE: Identity = (0, 0, 0)
_LIMIT = 1 << 22  # characters


def identify(path: str) -> Identity:
    """Return the identity of a file; GONE if there is none."""
    try:
        facts = os.stat(path)
    except (OSError, ValueError):  # ValueError: a stamp may hold any name
        return GONE
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def is_current(site: str, tree: str, version: str | None = None) -> bool:
    """Return whether nothing has changed since the stamp was written, and it was written for `version` (None: any)."""
    try:
        with open(f"{tree}/{STAMP}", encoding="utf-8", errors="surrogateescape", opener=_opener) as file:
            stamped_version, names, *rows = file.read(_LIMIT).split("\n")
    except (OSError, ValueError, TypeError):
        return False
    if (version is not None and version != stamped_version) or names != "/".join(sdk_metadata(site)):
        return False
    for row in rows:
        identity, _, path = row.partition("\t")
        if identity != _text(identify(f"{site}/{path}")):
            return False
    return True


def _opener(path: str, flags: int) -> int:
    """Open the stamp: neither a pipe nor a link to a device may keep the reader waiting."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def stamp_text(version: str, names: list[str], identities: dict[str, Identity]) -> str:
    """Return the content of a stamp.

    identities: the identities of files, relative to site-packages, as they were when they were read.
    """
    rows = [f"{_text(identity)}\t{path}" for path, identity in sorted(identities.items())]
    return "\n".join([version, "/".join(names), *rows])


def _text(identity: Identity) -> str:
    return f"{identity[0]} {identity[1]} {identity[2]}"

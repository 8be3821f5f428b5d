"""Names of members of zip files, which are hostile: a name may lead anywhere, and two may be one file."""

from __future__ import annotations

import zipfile


def wrong_member(archive: zipfile.ZipFile) -> str:
    """What is wrong with the members' names, for messages; "" if each is a file or directory of its own inside."""
    kinds: dict[str, bool] = {}  # path -> is a directory
    for member in archive.infolist():
        name = member.filename.removesuffix("/")
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in member.orig_filename:
            return f"its member {member.orig_filename!r} leads out of it"
        if name in kinds:
            return f"it has two members of the name {name!r}"
        kinds[name] = member.is_dir()
    for name in kinds:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            if not kinds.get("/".join(parts[:depth]), True):
                return f"its member {name!r} is below a file"
    return ""

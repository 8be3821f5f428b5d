"""The established loader's extraction of a development tree, by the rules that are known of it.

A directory is emptied when it is met for the first time, by itself or as the parent of a file or link. A link whose
target is a file at that moment becomes a hard link to it, another one stays a link.
"""

import os
import shutil
import tarfile
from pathlib import Path


def extract(archive: Path, site: Path) -> Path:
    """Extract the archive beside the runtime packages in `site`, and return the tree."""
    met: set[Path] = set()
    with tarfile.open(archive) as members:
        members.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)  # Pythons without filters trust
        for member in members:
            place = site / member.name
            directory = place if member.isdir() else place.parent
            if directory not in met:
                met.add(directory)
                shutil.rmtree(directory, ignore_errors=True)
            target = place.parent / member.linkname
            if member.issym() and target.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                os.link(target, place)
            else:
                members.extract(member, site)
    return site / member.name.partition("/")[0]


def contents(tree: Path) -> dict[str, bytes | None]:
    """Return the bytes that one reads at each path, None for a directory, or a link to one."""
    found: dict[str, bytes | None] = {}
    for directory, directories, files in os.walk(tree):
        if Path(directory, ".rocm-sdk").exists():
            directories.remove(".rocm-sdk")  # notes of our extractor
        for name in (*directories, *files):
            path = Path(directory, name)
            found[path.relative_to(tree).as_posix()] = None if path.is_dir() else path.read_bytes()
    return found

"""A new site-packages beside the old one: hard links to files that stay, new files for changes.

Nothing of the old directory changes. Links stay links; directories keep owners, modes and attributes, and their times
if nothing in them changes (Python forgets its knowledge of a directory by the time).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.installed.walking import walk
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.new_file import copy_attributes
from rocm_sdk_build.files.scratch import PREFIX

from .changes import Changes
from .journal import directories_of

_CACHE = "__pycache__"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FLAGS_OF_NEW = 0o700


class _Seen(NamedTuple):
    """The state of a file or directory."""

    inode: int
    size: int
    time: int


Snapshot = Mapping[str, _Seen]


def snapshot_of(site: str) -> Snapshot:
    """Return the state of all files in a directory, except our scratch directories and caches of Python.

    Python may compile caches at any time.
    """
    found: dict[str, _Seen] = {}
    for parent, directories, files in walk(site):
        directories[:] = [name for name in directories if name != _CACHE and not name.startswith(PREFIX)]
        for path in (os.path.join(parent, name) for name in (*directories, *files)):
            facts = os.lstat(path)
            is_directory = stat.S_ISDIR(facts.st_mode)
            size, time = (0, 0) if is_directory else (facts.st_size, facts.st_mtime_ns)
            found[path] = _Seen(facts.st_ino, size, time)
    return found


def refuse_changed(site: str, before: Snapshot) -> None:
    """Raise PackagingError if something was installed or removed since the snapshot."""
    now = snapshot_of(site)
    if now != before:
        path = next(path for path in sorted({*now, *before}) if now.get(path) != before.get(path))
        raise PackagingError(f"{path} changed meanwhile", "let nothing else install into this environment")


def make_new_site(site: str, place: Path, changes: Changes) -> None:
    """Write the new directory `place`, and move the new files there.

    Raise OSError if links are refused.
    """
    left_out = changes.removed | changes.new.keys()
    place.mkdir(_FLAGS_OF_NEW)
    for parent, directories, files, descriptor in os.fwalk(site):
        below = os.path.relpath(parent, site)
        for name in (*directories, *files):
            path = os.path.normpath(os.path.join(below, name))
            facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False) if name in directories else None
            if facts is not None and not stat.S_ISLNK(facts.st_mode):
                (place / path).mkdir(_FLAGS_OF_NEW)
            elif path not in left_out:
                os.link(name, place / path, src_dir_fd=descriptor, follow_symlinks=False)
    for path, file in changes.new.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        file.rename(place / path)
    for directory in directories_of(changes.removed):
        with suppress(OSError):  # something is left in it
            (place / directory).rmdir()
    _finish_directories(site, place, {*directories_of([*changes.new, *changes.removed]), "."})


def _finish_directories(site: str, place: Path, changed: set[str]) -> None:
    """Give the new directories the attributes of the old ones, the deepest first."""
    for parent in reversed([parent for parent, _, _ in walk(place)]):
        path = os.path.relpath(parent, place)
        new = os.open(parent, _DIRECTORY)
        try:
            _finish_directory(os.path.join(site, path), new, keeps_times=path not in changed)
        finally:
            os.close(new)


def _finish_directory(path: str, new: int, *, keeps_times: bool) -> None:
    """Give a directory the owner, mode and times of its old counterpart.

    A directory that is new gets the owner of the directory above, and the mode of any new one.
    """
    is_new = not os.path.isdir(path)
    old = os.open(os.path.dirname(path) if is_new else path, _DIRECTORY)
    try:
        facts = os.fstat(old)
        take_owner(new, facts)
        copy_attributes(path, old, new)
        if keeps_times and not is_new:
            os.utime(new, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    finally:
        os.close(old)


def take_owner(new: int, facts: os.stat_result) -> None:
    """Give an open file or directory an owner, which only root can do."""
    now = os.fstat(new)
    if os.geteuid() == 0 and (now.st_uid, now.st_gid) != (facts.st_uid, facts.st_gid):
        os.fchown(new, facts.st_uid, facts.st_gid)

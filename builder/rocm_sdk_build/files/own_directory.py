"""Which directories are ours: whoever can write to a cache decides what a later run makes packages of, or removes."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from rocm_sdk_build.errors import PackagingError

from .digest import sha256_of

_NOTE, _FORMAT = "content.json", 1


def make_own(directory: Path) -> None:
    """Makes a directory that only this user can write to, unless there is one. PackagingError if it is another's."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        directory.mkdir(stat.S_IRWXU)
    if wrong := foreign(directory):
        raise PackagingError(*wrong)


def foreign(directory: Path) -> tuple[str, str] | None:
    """What is wrong, and a fix, unless a directory belongs to this user and nobody else can write to it."""
    facts = directory.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        return f"{directory}: is not used: it is not a directory", "remove it, or name another place"
    if facts.st_uid != os.geteuid():
        return f"{directory}: is not used: it belongs to {_name_of(facts.st_uid)}", "remove it, or name another place"
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        command = f"chmod -R go-w {shlex.quote(str(directory))}"
        return (
            f"{directory}: is not used: others than its owner may write to it",
            f"{command}, if you trust what it holds",
        )
    return None


def _name_of(user: int) -> str:
    try:
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    except KeyError:
        return f"user {user}"


def write_note(directory: Path) -> None:
    """Notes what is in the subdirectories, and lets only this user into the directory."""
    text = json.dumps({"format": _FORMAT, "content": _content_of(directory)})
    (directory / _NOTE).write_text(text, encoding="utf-8")
    directory.chmod(stat.S_IRWXU)


def refuse_changed(directory: Path) -> None:
    """PackagingError if a directory is not ours, or its subdirectories are not what its note says."""
    if wrong := foreign(directory):
        raise PackagingError(*wrong)
    try:
        note = json.loads((directory / _NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        note = None
    if note != {"format": _FORMAT, "content": _content_of(directory)}:
        raise PackagingError(f"{directory}: is not used: it is not what an earlier run has put there", "remove it")


def _content_of(directory: Path) -> dict[str, list[str]]:
    """Path -> kind, and what makes it what it is: mode and digest of a file, where a link leads."""
    paths = {str(path.relative_to(directory)): path for path in _below(directory) if path != directory / _NOTE}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(paths, pool.map(_fact_of, paths.values()), strict=True))


def _below(directory: Path) -> Iterator[Path]:
    for parent, names, files in os.walk(directory):
        names.sort()
        yield from (Path(parent, name) for name in sorted(names + files))


def _fact_of(path: Path) -> list[str]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return ["link", str(path.readlink())]
    if stat.S_ISDIR(mode):
        return ["directory"]
    return ["file", f"{stat.S_IMODE(mode):o}", sha256_of(path).hexdigest()] if stat.S_ISREG(mode) else ["neither"]

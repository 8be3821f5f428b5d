"""The owners of directories: whoever can write to a cache decides what later runs pack or remove."""

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

from rocm_sdk.base.moves import exchange
from rocm_sdk.installed.directory_walk import walk
from rocm_sdk_build.base.errors import PackagingError

from .digest import sha256_of

_NOTE, _FORMAT = "content.json", 1
_LIST = ".rocm-sdk-build.json"  # in a directory that is replaced as a whole: the names of all files that a run wrote


def make_own(directory: Path) -> None:
    """Make a directory that only this user can write to, unless the directory is there.

    Raise PackagingError if the directory belongs to another user, or others can write to it.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        directory.mkdir(stat.S_IRWXU)
    if wrong := foreign(directory):
        raise PackagingError(*wrong)


def foreign(directory: Path) -> tuple[str, str] | None:
    """Return the fault and a fix, or None if a directory belongs to this user and nobody else can write to it."""
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
    """Note the content of the subdirectories, and let only this user into the directory."""
    text = json.dumps({"format": _FORMAT, "content": _content_of(directory)})
    (directory / _NOTE).write_text(text, encoding="utf-8")
    directory.chmod(stat.S_IRWXU)


def refuse_changed(directory: Path) -> None:
    """Raise PackagingError if a directory is not ours, or its subdirectories differ from its note."""
    if wrong := foreign(directory):
        raise PackagingError(*wrong)
    try:
        note = json.loads((directory / _NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        note = None
    if note != {"format": _FORMAT, "content": _content_of(directory)}:
        raise PackagingError(f"{directory}: is not used: it is not what an earlier run has put there", "remove it")


def refuse_unknown(directory: Path) -> None:
    """Raise PackagingError if something has the name of a directory, unless an earlier run has made all of it."""
    if not os.path.lexists(directory):
        return
    facts = directory.lstat()
    wrong = ""
    if not stat.S_ISDIR(facts.st_mode):
        wrong = "is not a directory"
    elif facts.st_uid != os.geteuid():
        wrong = f"belongs to {_name_of(facts.st_uid)}"
    else:
        try:
            known = json.loads((directory / _LIST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = None
        if not isinstance(known, list):
            wrong = "was not made by an earlier run"
        elif added := sorted(set(_names_in(directory)).difference(map(str, known))):
            wrong = f"has {added[0]}, which no earlier run has put there"
    if wrong:
        raise PackagingError(f"{directory}: is in the way: it {wrong}", "remove it, or name another place")


def replace_directory(fresh: Path, target: Path) -> None:
    """Move a new directory to `target`, and move the directory that an earlier run has made there to the old place.

    Both moves are one step. Where the file system has no exchange, `target` is missing for a moment. Raise
    PackagingError if something that no earlier run has made is at `target`.
    """
    refuse_unknown(target)
    (fresh / _LIST).write_text(json.dumps([*_names_in(fresh), _LIST]), encoding="utf-8")
    if target.exists():
        with suppress(OSError):
            exchange(str(fresh), str(target))
            return
        target.rename(fresh.with_name(f"{fresh.name}.old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh.rename(target)


def _names_in(directory: Path) -> list[str]:
    return [str(path.relative_to(directory)) for path in _below(directory) if path.is_symlink() or not path.is_dir()]


def _content_of(directory: Path) -> dict[str, list[str]]:
    """Return the facts of each path below a directory, except the note.

    The facts are the kind, and the mode and digest of a file or the text of a link.
    """
    paths = {str(path.relative_to(directory)): path for path in _below(directory) if path != directory / _NOTE}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(paths, pool.map(_fact_of, paths.values()), strict=True))


def _below(directory: Path) -> Iterator[Path]:
    for parent, names, files in walk(directory):
        names.sort()
        yield from (Path(parent, name) for name in sorted(names + files))


def _fact_of(path: Path) -> list[str]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return ["link", str(path.readlink())]
    if stat.S_ISDIR(mode):
        return ["directory"]
    return ["file", f"{stat.S_IMODE(mode):o}", sha256_of(path).hexdigest()] if stat.S_ISREG(mode) else ["neither"]

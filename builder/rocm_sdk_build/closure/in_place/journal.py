"""The journal of a change of site-packages, with which a change that was interrupted at any point can be completed.

    .rocm-sdk-closure/journal.json   what is replaced and removed, and the commands that go
    .rocm-sdk-closure/files/0        a complete new file, until it gets its name

The journal appears by one rename when all of it is on the disk, and goes when all of it is done. The loader's self test
reports a journal. The names in a journal come from a disk: they are walked without links, and never lead out of
site-packages. A file that is neither the old file nor the new one stops the work before anything is changed.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from rocm_sdk.base.inside import open_inside, parent_inside, parts_of, read_inside
from rocm_sdk.base.moving import sync_directory, sync_file_system
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.installed.distributions import CLOSURE_JOURNAL, sdk_distributions
from rocm_sdk.installed.record import digest_text
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.digest import sha256_of, sha256_of_chunks

from .changes import Changes

_FILE, _FILES = "journal.json", "files"
_SCHEMA = 1
_LIMIT = 1 << 26  # bytes of some hundred thousand rows
_CHUNK = 1 << 20
_DIRECTORY_MODE = 0o755

Facts = tuple[int, int]  # size in bytes, time of the last change of the content in nanoseconds


class New(NamedTuple):
    """A file that takes a name.

    `old` are the facts of the file that has the name; None: no file has it.
    """

    path: str
    staged: str
    size: int
    digest: str
    old: Facts | None


class Removed(NamedTuple):
    """A file or link that goes."""

    path: str
    old: Facts


class Journal(NamedTuple):
    """The work that is still to be done in a directory."""

    site: str
    new: tuple[New, ...] = ()
    removed: tuple[Removed, ...] = ()
    scripts: tuple[str, ...] = ()

    @property
    def directory(self) -> str:
        """The path of the journal's directory, which is there from publish() until complete() has done the work."""
        return f"{self.site}/{CLOSURE_JOURNAL}"


def is_interrupted(site: str) -> bool:
    """Return whether a directory has a journal."""
    return os.path.lexists(f"{site}/{CLOSURE_JOURNAL}")


def write_journal(place: Path, changes: Changes, site: str) -> Path:
    """Write a journal to a new directory in `place`, and move the new files there; return the directory."""
    directory = place / CLOSURE_JOURNAL
    (directory / _FILES).mkdir(parents=True)
    new = []
    for number, (path, file) in enumerate(sorted(changes.new.items())):
        digest = digest_text(sha256_of(file))
        new.append(New(path, str(number), file.stat().st_size, digest, _facts_of(site, path)))
        file.rename(directory / _FILES / str(number))
    facts = ((path, _facts_of(site, path)) for path in sorted(changes.removed))
    removed = [Removed(path, found) for path, found in facts if found is not None]
    document = {"schema": _SCHEMA, "new": new, "removed": removed, "scripts": changes.scripts}
    (directory / _FILE).write_text(json.dumps(document), encoding="utf-8")
    return directory


def publish(directory: Path, site: str) -> None:
    """Make a journal the journal of the site: from now on the change is completed, whatever happens."""
    sync_file_system(str(directory))
    directory.rename(f"{site}/{CLOSURE_JOURNAL}")
    sync_directory(site)


def complete(site: str, scripts: str) -> tuple[str, ...]:
    """Do the work that the journal of a directory still lists, and remove the journal; return the removed commands.

    `scripts` is the directory of commands. Raise PackagingError for a journal that is not to be trusted, or does not
    fit the files; then nothing is changed. An OSError leaves the journal, so that the work can be tried again.
    """
    journal = _read_journal(site)
    if journal is None:
        return ()
    _refuse_foreign(journal)
    _make_directories(site, (row.path for row in journal.new))
    for row in journal.new:
        _take_name(journal, row)
    for gone in journal.removed:
        _unlink(site, gone.path)
    _remove_empty(site, (gone.path for gone in journal.removed))
    removed = tuple(_remove_scripts(journal, scripts))
    sync_file_system(site)
    _remove_journal(journal)
    return removed


# ---- reading ----


def _read_journal(site: str) -> Journal | None:
    """Return the journal of a site, or None.

    None also stands for a journal whose work is done, except the removal of its own directory.
    """
    directory = f"{site}/{CLOSURE_JOURNAL}"
    try:
        data = read_inside(site, f"{CLOSURE_JOURNAL}/{_FILE}", _LIMIT, _require_own)
    except FileNotFoundError:
        with suppress(OSError):
            os.rmdir(f"{directory}/{_FILES}")
        with suppress(OSError):
            os.rmdir(directory)
        if is_interrupted(site):
            raise _refusal(site, f"has no {_FILE}") from None
        return None
    except (OSError, ValueError) as error:
        raise _refusal(site, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return _parsed(json.loads(data), site)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _refusal(site, f"{_FILE} is not one of ours: {error}") from error


def _require_own(descriptor: int) -> None:
    facts = os.fstat(descriptor)
    if facts.st_uid != os.geteuid():
        raise PermissionError(1, f"it belongs to user {facts.st_uid}")


def _refusal(site: str, what: str) -> PackagingError:
    directory = f"{site}/{CLOSURE_JOURNAL}"
    fix = f"install the packages of the SDK again, and rm -r {quoted_for_shell(directory)}"
    return PackagingError(f"{directory}: {what}", fix)


def _parsed(document: Any, site: str) -> Journal:
    """Return the journal in a JSON document.

    Raise ValueError, TypeError or KeyError for a document that is not a journal.
    """
    if document["schema"] != _SCHEMA:
        raise ValueError(f"schema {document['schema']!r}")
    new = tuple(
        New(_name(path), _number(staged), _count(size), _text(digest), None if old is None else _facts(old))
        for path, staged, size, digest, old in document["new"]
    )
    removed = tuple(Removed(_name(path), _facts(old)) for path, old in document["removed"])
    scripts = tuple(map(_script, document["scripts"]))
    return Journal(site, new, removed, scripts)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _name(value: object) -> str:
    """Return a path below site-packages.

    Raise ValueError or TypeError for any other value.
    """
    name = _text(value)
    if parts_of(name)[0] == CLOSURE_JOURNAL:
        raise ValueError(f"{name!r} is the journal itself")
    return name


def _number(value: object) -> str:
    text = _text(value)
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is not a number")
    return text


def _script(value: object) -> str:
    (name,) = parts_of(_text(value))
    return name


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not a number")
    return value


def _facts(value: Any) -> Facts:
    size, time = value
    return _count(size), _count(time)


# ---- files of the site ----


def _facts_of(site: str, path: str) -> Facts | None:
    """Return the facts of a file; None if no file has the name.

    Raise OSError if a directory on the way is a link, or if a directory has the name.
    """
    try:
        with parent_inside(site, path) as (parent, last):
            facts = os.stat(last, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(21, "it is a directory", f"{site}/{path}")
    return facts.st_size, facts.st_mtime_ns


def _refuse_foreign(journal: Journal) -> None:
    """Raise PackagingError if a file is neither the old file nor the new one."""
    try:
        for row in journal.new:
            if not _is_known(journal, row):
                raise _refusal(journal.site, f"{row.path} has changed since")
        for gone in journal.removed:
            if _facts_of(journal.site, gone.path) not in {None, gone.old}:
                raise _refusal(journal.site, f"{gone.path} has changed since")
    except OSError as error:
        raise _refusal(journal.site, f"{error.filename}: {error.strerror}") from error


def _is_known(journal: Journal, row: New) -> bool:
    now = _facts_of(journal.site, row.path)
    if _staged_size(journal, row) is None:  # the file has its name already
        return now is not None and now[0] == row.size
    return now == row.old and _has_digest(journal, row)


def _staged_size(journal: Journal, row: New) -> int | None:
    found = _facts_of(journal.site, f"{CLOSURE_JOURNAL}/{_FILES}/{row.staged}")
    return None if found is None else found[0]


def _has_digest(journal: Journal, row: New) -> bool:
    """Return whether a new file has its digest; its owner, which is the replaced file's, does not matter."""
    with open_inside(journal.site, f"{CLOSURE_JOURNAL}/{_FILES}/{row.staged}") as file:
        return digest_text(sha256_of_chunks(iter(lambda: file.read(_CHUNK), b""))) == row.digest


# ---- work ----


def _make_directories(site: str, paths: Iterable[str]) -> None:
    """Make the directories that are missing, with the owner of site-packages."""
    facts = os.stat(site)
    for directory in reversed(directories_of(paths)):
        with suppress(FileExistsError), parent_inside(site, directory) as (parent, last):
            os.mkdir(last, _DIRECTORY_MODE, dir_fd=parent)
            if os.geteuid() == 0:
                os.chown(last, facts.st_uid, facts.st_gid, dir_fd=parent, follow_symlinks=False)


def _take_name(journal: Journal, row: New) -> None:
    staged = f"{CLOSURE_JOURNAL}/{_FILES}/{row.staged}"
    with (
        suppress(FileNotFoundError),
        parent_inside(journal.site, staged) as (source, number),
        parent_inside(journal.site, row.path) as (parent, last),
    ):
        os.rename(number, last, src_dir_fd=source, dst_dir_fd=parent)


def _unlink(site: str, path: str) -> None:
    with suppress(FileNotFoundError), parent_inside(site, path) as (parent, last):
        os.unlink(last, dir_fd=parent)


def _remove_empty(site: str, paths: Iterable[str]) -> None:
    """Remove the directories of files that went, if nothing else is in them."""
    for directory in directories_of(paths):
        with suppress(OSError), parent_inside(site, directory) as (parent, last):
            os.rmdir(last, dir_fd=parent)


def directories_of(paths: Iterable[str]) -> list[str]:
    """Return the directories above relative paths, the deepest first."""
    found = {str(parent) for path in paths for parent in Path(path).parents} - {"."}
    return sorted(found, key=lambda each: (-each.count("/"), each))


def _remove_scripts(journal: Journal, directory: str) -> Iterator[str]:
    """Remove the commands of the journal, and yield the name of each.

    A command that a RECORD lists was installed again meanwhile, and stays.
    """
    listed = {
        os.path.basename(row.path) for found in sdk_distributions(journal.site) for row in found.files
    }  # rows that lead elsewhere can only keep a command
    for name in journal.scripts:
        if name not in listed:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(directory, name))
                yield name


def _remove_journal(journal: Journal) -> None:
    _unlink(journal.site, f"{CLOSURE_JOURNAL}/{_FILE}")
    for path in (f"{journal.directory}/{_FILES}", journal.directory):
        with suppress(FileNotFoundError):
            os.rmdir(path)

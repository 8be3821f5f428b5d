"""The directories that are stores, and the users who may have written them.

A store is a directory with the file `rocm-sdk-store.json`, which contains {"format": 1}. Stores are made only in absent
or empty directories, so nothing in them was there before; whatever else appears in a store is left alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from rocm_sdk.base.inside import read_json
from rocm_sdk.base.moves import sync_directory
from rocm_sdk.errors import DevelopmentTreeError

MARKER = "rocm-sdk-store.json"
LOCK, FILES, TREES = "lock", "files", "trees"
_PARTIAL = ".rocm-sdk-partial-"
DIRECTORY_MODE = 0o755

_FORMAT = 1
_PARTIAL_NAME = re.compile(re.escape(_PARTIAL) + r"[a-z0-9_]{8}(\.new)?", re.ASCII)  # as tempfile makes it


class NotAStoreError(DevelopmentTreeError):
    """The error for a directory that is not a store and cannot become one."""


def is_partial(name: str) -> bool:
    """Return whether a file of this name, in a store, was left by a process that was killed while it added a file."""
    return _PARTIAL_NAME.fullmatch(name) is not None


def require_store(directory: str) -> None:
    """Raise NotAStoreError if a directory is not a store of this format. Nothing is changed.

    DevelopmentTreeError is raised if this user may not read the directory.
    """
    try:
        content = read_json(directory, MARKER)
        found = content["format"] if isinstance(content, dict) else None
    except (FileNotFoundError, NotADirectoryError):
        raise _no_marker(directory) from None
    except PermissionError as error:
        raise DevelopmentTreeError(
            f"cannot read {directory}/{MARKER}: {error.strerror}",
            "use a store that this user may read: its owner decides who that is",
            directory,
        ) from error
    except OSError as error:
        raise NotAStoreError(f"cannot read {directory}/{MARKER}: {error.strerror}", None, directory) from error
    except (ValueError, KeyError):
        found = None
    if type(found) is not int or found != _FORMAT:
        raise NotAStoreError(
            f"{directory}/{MARKER} does not say that this is a store of format {_FORMAT}",
            "use another directory, or the version of rocm-sdk-loader that made it",
            directory,
        )


def make_store(directory: str) -> None:
    """Make an absent or empty directory a store; do nothing if it is one.

    Raises NotAStoreError if there is something else in the directory, DevelopmentTreeError if it cannot be written.
    """
    try:
        if not os.path.isdir(directory):
            os.makedirs(os.path.dirname(directory), exist_ok=True)
            with suppress(FileExistsError):  # other processes may make it at the same time
                os.mkdir(directory, DIRECTORY_MODE)
        if all(is_partial(name) for name in os.listdir(directory)):
            with partial_file(directory) as (file, partial):
                file.write(f"{json.dumps({'format': _FORMAT})}\n".encode())
                file.flush()
                os.fchmod(file.fileno(), 0o444)
                os.fsync(file.fileno())
                os.rename(partial, f"{directory}/{MARKER}")  # in one step: whoever sees it sees it complete
            sync_directory(directory)  # without its marker, a directory with anything else in it is not a store
        require_store(directory)
        if os.access(directory, os.W_OK):
            for name in (FILES, TREES):
                with suppress(FileExistsError):
                    os.mkdir(f"{directory}/{name}", DIRECTORY_MODE)
    except DevelopmentTreeError:
        raise
    except OSError as error:
        raise DevelopmentTreeError(
            f"cannot create the store {directory}: {error.strerror}",
            "set --store or ROCM_SDK_STORE to a directory that you may write to",
            directory,
        ) from error


def require_trusted(facts: os.stat_result, directory: str) -> None:
    """Raise DevelopmentTreeError if another user could have written this part of a store, or could change it later.

    The files of a tree are hard links into the store: whoever may write there decides what compilers and libraries do.
    """
    owner = facts.st_uid
    if owner not in {0, os.geteuid()}:
        raise DevelopmentTreeError(
            f"the store {directory} is not used: something in it belongs to user {owner}",
            "use a store of your own, or one that belongs to root",
            directory,
        )
    if stat.S_IMODE(facts.st_mode) & 0o022:
        raise DevelopmentTreeError(
            f"the store {directory} is not used: others than its owner may write to it",
            f"chmod -R go-w {shlex.quote(directory)}, if you trust what it holds",
            directory,
        )


@contextmanager
def partial_file(directory: str) -> Iterator[tuple[BinaryIO, str]]:
    """Yield a new file in a store, open for writing, and its path.

    The file is removed at the end if it still has this name.
    """
    descriptor, path = tempfile.mkstemp(prefix=_PARTIAL, dir=directory)
    try:
        with open(descriptor, "wb") as file:
            yield file, path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _no_marker(directory: str) -> NotAStoreError:
    if not os.path.isdir(directory):
        return NotAStoreError(f"{directory} is not a directory, so it is not a store", None, directory)
    fix = "use an absent or empty directory"
    if {FILES, TREES} <= set(os.listdir(directory)) <= {FILES, TREES, LOCK}:
        fix = (
            "if an earlier version of rocm-sdk-loader made it, remove the directory: environments keep their files,"
            " and the next `rocm-sdk init --store` makes a new store"
        )
    return NotAStoreError(f"{directory} is not a store: it has no {MARKER}", fix, directory)

"""The store: a directory that keeps the files of development trees once per machine, for all environments.

    rocm-sdk-store.json     says that the directory is a store, and its format (see `store_directory`)
    files/ab/abcdef...      a file, named by the SHA-256 of its content; `...x` if it is executable; read-only
    trees/sha256-....json   the list of an archive's members (see `tree_list`), named by the archive's digest: with it
                            the next extraction does not read the archive
    lock                    held shared while a tree is made from the store, exclusively while the store is pruned

Trees contain hard links to the files, so the link count of a file says how many trees use it. Nothing in a store is
trusted: members pass the rules of an archive, and a file is used only if its content has the digest in its name.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from rocm_sdk.base.file_lock import held
from rocm_sdk.base.files import chunks_of
from rocm_sdk.base.inside import JSON_LIMIT, open_inside, parent_inside, read_json
from rocm_sdk.base.moves import sync_file_system
from rocm_sdk.errors import DevelopmentTreeError, RocmSdkError

from .archive_rules import FILE, Member
from .link_file import LINK_REFUSED, copy_file, link_or_copy
from .manifest import Entry
from .store_directory import (
    DIRECTORY_MODE,
    FILES,
    LOCK,
    MARKER,
    TREES,
    is_partial,
    make_store,
    partial_file,
    require_store,
    require_trusted,
)
from .tree_list import KnownTree, digest_of, parse_tree_list, tree_list
from .tree_record import Digest
from .workspace import OF_STORE

# The data of a member of an archive, in chunks
ReadData = Callable[[Member], Iterator[bytes]]

_PREFIX = re.compile(r"[0-9a-f]{2}", re.ASCII)
_FILE = re.compile(r"[0-9a-f]{64}x?", re.ASCII)
_LIST = re.compile(r"sha(256|384|512)-[0-9a-f]+\.json", re.ASCII)
_PROGRAM_MODE, _FILE_MODE = 0o555, 0o444


class Pruned(NamedTuple):
    """The result of `Store.prune`: the number of removed files, their bytes, and the removed lists of trees."""

    files: int
    size: int
    trees: int


class Content(NamedTuple):
    """The content of a store: names relative to it. foreign: names that do not belong in a store."""

    files: list[str]
    lists: list[str]
    partial: list[str]
    foreign: list[str]


class Store:
    """The store in an existing directory.

    The constructor raises NotAStoreError, or DevelopmentTreeError if others may write to the directory.
    """

    def __init__(self, directory: str) -> None:
        self.directory = _absolute(directory)
        self.methods: set[str] = set()
        self.notices: list[str] = []
        require_store(self.directory)
        try:
            for name in (FILES, TREES):
                with parent_inside(self.directory, f"{name}/x", admit=self._admit):
                    pass
            require_trusted(os.stat(self.directory), self.directory)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DevelopmentTreeError(
                f"the store {self.directory} is damaged: {self.directory}/{name}: {error.strerror}",
                "remove the directory: environments keep their files, and the next init makes a new store",
                self.directory,
            ) from error
        places = (self.directory, f"{self.directory}/{FILES}", f"{self.directory}/{TREES}")
        self.is_writable = all(os.access(place, os.W_OK | os.X_OK) for place in places)

    @classmethod
    def made_in(cls, directory: str) -> Store:
        """Return the store in `directory`. A directory that is absent or empty becomes a store."""
        make_store(_absolute(directory))
        return cls(directory)

    @contextmanager
    def in_use(self, timeout: float, say: Callable[[str], None]) -> Iterator[None]:
        """Yield while nothing is pruned: a tree is made from the store."""
        with held(OF_STORE, f"{self.directory}/{LOCK}", timeout, say, shared=True):
            yield

    def add(self, member: Member, path: str, read: ReadData) -> Entry:
        """Add a file with data from `read`, and link it to `path`. Return the entry of the tree."""
        digest = hashlib.sha256()
        with partial_file(self.directory) as (file, partial):
            with file:
                for data in read(member):
                    digest.update(data)
                    file.write(data)
                file.flush()
                os.utime(file.fileno(), (member.mtime, member.mtime))
                mode = _mode_of(member.is_program)
                os.fchmod(file.fileno(), mode)
            entry = Entry(member.path, FILE, mode, member.size, f"sha256:{digest.hexdigest()}")
            self.methods.add(link_or_copy(self._keep(partial, entry), path))
        return _with_own_mode(entry, path)

    def link(self, member: Member, digest: str, path: str) -> Entry:
        """Link the file of the store with this digest to `path`.

        Raises FileNotFoundError if the store lacks it, or has another content under its name.
        """
        name = _file_name(digest, member.is_program)
        with (
            self._opened(name) as file,
            parent_inside(self.directory, name, admit=self._admit) as (parent, last),
        ):
            if not _is_sound(file, name, member.size):
                raise self._unusable(name, "has changed")
            try:
                os.link(last, path, src_dir_fd=parent, follow_symlinks=False)
                if not os.path.samestat(os.fstat(file.fileno()), os.stat(path, follow_symlinks=False)):
                    os.unlink(path)
                    raise FileNotFoundError(name)
            except OSError as error:
                if error.errno not in LINK_REFUSED:
                    raise
                file.seek(0)
                self.methods.add(copy_file(file, path))
        return _with_own_mode(Entry(member.path, FILE, 0, member.size, f"sha256:{digest}"), path)

    def remember(self, archive: Digest, tree_name: str, entries: list[Entry]) -> None:
        """Save the list of the archive with this digest, unless it is too long."""
        data = tree_list(tree_name, entries)
        if not self.is_writable or len(data) > JSON_LIMIT:
            return
        sync_file_system(self.directory)
        with partial_file(self.directory) as (file, partial):
            with file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), _FILE_MODE)
            with parent_inside(self.directory, _list_name(archive), admit=self._admit) as (parent, last):
                os.rename(partial, last, dst_dir_fd=parent)

    def recall(self, archive: Digest) -> KnownTree | None:
        """Return the tree of an archive; None if the store has no list of it.

        A damaged list gives None and a notice.
        """
        name = _list_name(archive)
        try:
            return self._read_list(name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self.notices.append(f"{self.directory}/{name} is not used: {_reason(error)}; the archive is read instead")
            return None

    def content(self) -> Content:
        """Return the names in the store. Foreign directories are not looked into."""
        found = Content([], [], [], [])
        for name, facts in self._names(""):
            is_directory, is_file = stat.S_ISDIR(facts.st_mode), stat.S_ISREG(facts.st_mode)
            if is_file and is_partial(name):
                found.partial.append(name)
            elif is_directory and name == FILES:
                for prefix, prefix_facts in self._names(f"{FILES}/"):
                    if not stat.S_ISDIR(prefix_facts.st_mode) or not _PREFIX.fullmatch(prefix):
                        found.foreign.append(f"{FILES}/{prefix}")
                        continue
                    for inner, inner_facts in self._names(f"{FILES}/{prefix}/"):
                        is_regular = stat.S_ISREG(inner_facts.st_mode)
                        is_ours = is_regular and _FILE.fullmatch(inner) and inner.startswith(prefix)
                        (found.files if is_ours else found.foreign).append(f"{FILES}/{prefix}/{inner}")
            elif is_directory and name == TREES:
                for inner, inner_facts in self._names(f"{TREES}/"):
                    is_list = stat.S_ISREG(inner_facts.st_mode) and _LIST.fullmatch(inner)
                    (found.lists if is_list else found.foreign).append(f"{TREES}/{inner}")
            elif not is_file or name not in {MARKER, LOCK}:
                found.foreign.append(name)
        return found

    def prune(self, timeout: float, say: Callable[[str], None]) -> Pruned:
        """Remove the files that no tree links to, and the lists of archives that had them.

        say: called once for each foreign name, which is left alone.
        """
        if not self.is_writable:
            raise DevelopmentTreeError(
                f"cannot write to the store {self.directory}", "run it as its owner", self.directory
            )
        with held(OF_STORE, f"{self.directory}/{LOCK}", timeout, say):
            content = self.content()
            files = size = 0
            for name in content.partial:  # first, since they may be second names of files
                self._unlink(name)
            for name in content.files:
                facts = self._facts(name)
                if facts.st_nlink == 1:
                    self._unlink(name)
                    files, size = files + 1, size + facts.st_size
            incomplete = [name for name in content.lists if not self._is_complete(name)]
            for name in incomplete:
                self._unlink(name)
        self._say_foreign(content, say)
        return Pruned(files, size, len(incomplete))

    def verify(self, say: Callable[[str], None]) -> list[str]:
        """Read every file and list. Return the paths of those whose content does not match their names.

        say: as for prune.
        """
        content = self.content()
        damaged = [name for name in content.files if not self._has_its_digest(name)]
        damaged += [name for name in content.lists if not self._is_list(name)]
        self._say_foreign(content, say)
        return [f"{self.directory}/{name}" for name in damaged]

    def _admit(self, descriptor: int) -> None:
        require_trusted(os.fstat(descriptor), self.directory)

    def _keep(self, partial: str, entry: Entry) -> str:
        """Give a new file its name in the store, unless a sound file has it. Return the path to link the tree to.

        Other processes may add the same file. Linking fails if the last name of a file goes at that moment, so a sound
        file is never replaced, and a tree is linked to the file that this process has written and still names.
        """
        name = _file_name(digest_of(entry), bool(entry.mode & 0o100))
        kept = f"{self.directory}/{name}"
        with parent_inside(self.directory, name, make_mode=DIRECTORY_MODE, admit=self._admit) as (parent, last):
            try:
                os.link(partial, last, dst_dir_fd=parent)
                return partial
            except FileExistsError:
                with suppress(OSError), open_inside(self.directory, name, self._admit) as file:
                    if _is_sound(file, name, entry.size):
                        return kept
            except OSError as error:
                if error.errno not in LINK_REFUSED:
                    raise
                os.rename(partial, last, dst_dir_fd=parent)
                return kept
            other = f"{partial}.new"
            os.link(partial, other)
            try:
                os.rename(other, last, dst_dir_fd=parent)
            except OSError:
                os.unlink(other)
                raise
        return partial

    def _opened(self, name: str) -> BinaryIO:
        try:
            return open_inside(self.directory, name, self._admit)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._unusable(name, f"cannot be used ({_reason(error)})") from error

    def _unusable(self, name: str, what: str) -> FileNotFoundError:
        self.notices.append(f"{self.directory}/{name} {what}; the archive is read instead")
        return FileNotFoundError(name)

    def _read_list(self, name: str) -> KnownTree:
        return parse_tree_list(read_json(self.directory, name, self._admit), f"{self.directory}/{name}")

    def _is_complete(self, name: str) -> bool:
        """Return whether a list is valid, and the store has all its files."""
        try:
            known = self._read_list(name)
            files = (each for each in known.members if each.kind == FILE)
            return all(
                self._facts(_file_name(known.digests[each.path], each.is_program)).st_size == each.size
                for each in files
            )
        except (OSError, ValueError):
            return False

    def _is_list(self, name: str) -> bool:
        try:
            self._read_list(name)
        except (OSError, ValueError):
            return False
        return True

    def _has_its_digest(self, name: str) -> bool:
        try:
            with open_inside(self.directory, name) as file:
                return _is_sound(file, name, None)
        except OSError:
            return False

    def _names(self, directory: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the names in a directory of the store ("" or "files/"), sorted, each with its stat result."""
        with parent_inside(self.directory, f"{directory}x") as (parent, _):
            for name in sorted(os.listdir(parent)):
                yield name, os.stat(name, dir_fd=parent, follow_symlinks=False)

    def _facts(self, name: str) -> os.stat_result:
        with parent_inside(self.directory, name) as (parent, last):
            return os.stat(last, dir_fd=parent, follow_symlinks=False)

    def _unlink(self, name: str) -> None:
        with parent_inside(self.directory, name) as (parent, last):
            os.unlink(last, dir_fd=parent)

    def _say_foreign(self, content: Content, say: Callable[[str], None]) -> None:
        for name in content.foreign:
            say(f"{self.directory}/{name} is not part of the store and is left alone")


def _absolute(directory: str) -> str:
    return os.path.abspath(os.path.expanduser(directory))


def _mode_of(is_program: bool) -> int:
    return _PROGRAM_MODE if is_program else _FILE_MODE


def _file_name(digest: str, is_program: bool) -> str:
    return f"{FILES}/{digest[:2]}/{digest}{'x' if is_program else ''}"


def _list_name(archive: Digest) -> str:
    return f"{TREES}/{archive.algorithm}-{archive.value.hex()}.json"


def _with_own_mode(entry: Entry, path: str) -> Entry:
    """Return the entry with the mode of the file at `path`: a copy has its own mode."""
    return entry._replace(mode=stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode))


def _is_sound(file: BinaryIO, name: str, size: int | None) -> bool:
    """Return whether an open file of the store has the content and mode that its name implies, and this size."""
    facts = os.fstat(file.fileno())
    if stat.S_IMODE(facts.st_mode) != _mode_of(name.endswith("x")) or size not in {None, facts.st_size}:
        return False
    digest = hashlib.sha256()
    for data in chunks_of(file):
        digest.update(data)
    return digest.hexdigest() == os.path.basename(name).removesuffix("x")


def _reason(error: Exception) -> str:
    if isinstance(error, RocmSdkError):
        return error.message
    return str(error.strerror) if isinstance(error, OSError) else str(error)

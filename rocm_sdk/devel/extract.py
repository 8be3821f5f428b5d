"""The extraction of an archive into a tree. Only for the holder of the lock.

The order survives a kill or a power cut at any moment. RECORD lists the files first, and pip would remove them; the
tree appears in one rename, when all of it is on the disk; the archive, whose presence means "not complete", is removed
last, when the name of the tree is on the disk, too.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress

from rocm_sdk.base.moves import sync_file_system
from rocm_sdk.base.removal import remove_directory
from rocm_sdk.base.reporter import Progress, Reporter
from rocm_sdk.errors import DevelopmentTreeError

from .archive import Archive
from .archive_rules import DIRECTORY, FILE, HARD_LINK, LINK, Member
from .layout import ARCHIVES, DISTRIBUTION, MODULE, NOTES
from .link_file import COPY, REFLINK, FileLinker
from .manifest import Entry, Manifest, write_manifest
from .preflight import require_space, require_space_for
from .replace import replace_directory
from .stamp import identify
from .store import ReadData, Store
from .tree_record import Record
from .update import LinkUpdate, tree_rows, update_links, write_stamp
from .workspace import Workspace

_LARGE = 64 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Extraction:
    """The extraction of `archive`.

    record: the RECORD of the development package. store: keeps the files; None: the tree has its own files.
    """

    def __init__(
        self, workspace: Workspace, archive: str, record: Record, store: Store | None, reporter: Reporter
    ) -> None:
        self._workspace = workspace
        self._archive = archive
        self._record = record
        self._store = store
        self._reporter = reporter
        self._tree = f"{workspace.staging}/tree"
        self._linker = FileLinker(workspace.site, workspace.staging)
        self._digest = record.digest_of(os.path.relpath(archive, workspace.site))

    def run(self) -> tuple[str, LinkUpdate]:
        """Extract the archive. Return the directory of the tree, and the state of its links."""
        site, staging, version = self._workspace
        identity = identify(self._archive)
        progress = self._reporter.progress(f"Extracting {DISTRIBUTION} {version}", os.path.getsize(self._archive))
        try:
            tree_name, entries = self._write_from_store(progress) or self._write_from_archive(progress)
        except BaseException:
            progress.abandon()
            raise
        os.mkdir(f"{self._tree}/{NOTES}")
        write_manifest(self._tree, Manifest(identity, entries), staging)
        result, identities = update_links(self._workspace, self._tree, tree_name, entries)
        own_rows = [row[0] for row in self._record.rows if not f"{row[0]}/".startswith(f"{tree_name}/")]
        self._record.require(own_rows + tree_rows(tree_name, entries), staging, below=tree_name)
        identities[os.path.relpath(self._record.path, site)] = self._record.identity
        write_stamp(self._workspace, self._tree, identities)
        tree = f"{site}/{tree_name}"
        sync_file_system(site)
        replace_directory(self._tree, tree)
        # If the package was uninstalled meanwhile, no RECORD would list the tree.
        try:
            self._record.require_unchanged()
        except DevelopmentTreeError:
            remove_directory(self._tree)
            os.rename(tree, self._tree)
            raise
        remove_archives(site)
        progress.finish()
        counts = self._linker.counts
        if counts[REFLINK] or counts[COPY]:
            self._reporter.say(
                f"the file system refuses hard links to the SDK's packages: {counts[REFLINK]} reflinks and"
                f" {counts[COPY]} copies instead"
            )
        if self._store is not None:
            self._report_store(self._store)
        return tree, result

    def _write_from_archive(self, progress: Progress) -> tuple[str, list[Entry]]:
        site = self._workspace.site
        remove_directory(self._tree)
        require_space(site, self._archive)
        writer = TreeWriter(self._tree, self._linker, self._store)
        with Archive(self._archive, self._digest) as archive:
            for member in archive.members():
                if member.size > _LARGE:
                    require_space_for(site, member.size, member.path)
                writer.write(member, archive.data_of)
                if member.kind != DIRECTORY:
                    progress.add(member.size, archive.bytes_read)
            tree_name = archive.tree_name
        if self._store is not None and self._digest is not None:
            self._store.remember(self._digest, tree_name, writer.entries)
        return tree_name, writer.entries

    def _write_from_store(self, progress: Progress) -> tuple[str, list[Entry]] | None:
        """Write the tree from the store.

        Return None if the store does not know this archive, or lacks one of its files.
        """
        known = self._store.recall(self._digest) if self._store is not None and self._digest is not None else None
        if known is None:
            return None
        writer = TreeWriter(self._tree, self._linker, self._store)
        try:
            for member in known.members:
                if member.kind == FILE:
                    writer.link(member, known.digests[member.path])
                else:
                    writer.write(member, _no_data)
                if member.kind != DIRECTORY:
                    progress.add(member.size, 0)
        except FileNotFoundError:
            return None
        return known.name, writer.entries

    def _report_store(self, store: Store) -> None:
        for notice in store.notices:
            self._reporter.say(notice)
        if not store.is_writable:
            self._reporter.say(f"the store {store.directory} cannot be written: nothing is added to it")
        if not store.methods & {REFLINK, COPY}:
            return
        if os.stat(store.directory).st_dev != os.stat(self._workspace.site).st_dev:
            self._reporter.say(
                f"the store {store.directory} is on another file system: its files are copied; a store on the"
                " file system of the environments saves the space of the copies"
            )
        else:
            self._reporter.say(f"hard links into the store {store.directory} are refused: its files are copied")


def _no_data(_member: Member) -> Iterator[bytes]:
    """Return the data of a member that is not a file: none."""
    return iter(())


def remove_archives(site: str) -> None:
    """Remove the archives. This is the last step: everything else reaches the disk first."""
    sync_file_system(site)
    for name in ARCHIVES:
        path = f"{site}/{MODULE}/{name}"
        if os.path.exists(path):
            os.unlink(path)


class TreeWriter:
    """The writer of one tree into the new directory `tree`.

    linker: links the files of the runtime packages; links into a package that is not installed are not created. store:
    keeps the regular files; None, or one that cannot be written: the tree has files of its own. entries: the entries
    that were written.
    """

    def __init__(self, tree: str, linker: FileLinker, store: Store | None) -> None:
        self.entries: list[Entry] = []
        self._tree = tree
        self._linker = linker
        self._store = store
        self._files: dict[str, Entry] = {}
        os.mkdir(tree)

    def write(self, member: Member, read: ReadData) -> None:
        """Write a member; `read` yields the data of a file."""
        path = f"{self._tree}/{member.path}"
        if member.kind == FILE:
            entry = self._files[member.path] = self._write_file(member, path, read)
        elif member.kind == DIRECTORY:
            os.mkdir(path)
            entry = Entry(member.path, DIRECTORY, stat.S_IMODE(os.stat(path).st_mode))
        elif member.kind == HARD_LINK:
            os.link(f"{self._tree}/{member.target}", path)
            entry = self._files[member.target]._replace(path=member.path)
        else:
            entry = Entry(member.path, member.kind, target=member.target)
            self._write_link(entry, path)
        self.entries.append(entry)

    def link(self, member: Member, digest: str) -> None:
        """Link a file of the store. Raise FileNotFoundError if the store lacks it."""
        assert self._store is not None
        self.entries.append(self._store.link(member, digest, f"{self._tree}/{member.path}"))

    def _write_link(self, entry: Entry, path: str) -> None:
        if entry.kind == LINK:
            os.symlink(entry.target, path)
            return
        with suppress(FileNotFoundError):
            self._linker.link(entry.path, entry.target, path)

    def _write_file(self, member: Member, path: str, read: ReadData) -> Entry:
        if self._store is not None and self._store.is_writable:
            return self._store.add(member, path, read)
        checksum = 0
        descriptor = os.open(path, _NEW_FILE, 0o777 if member.is_program else 0o666)
        try:
            for data in read(member):
                checksum = zlib.crc32(data, checksum)
                write_all(descriptor, data)
            os.utime(descriptor, (member.mtime, member.mtime))
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        finally:
            os.close(descriptor)
        return Entry(member.path, FILE, mode, member.size, f"crc32:{checksum:08x}")


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`; a full disk causes a short write first."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])

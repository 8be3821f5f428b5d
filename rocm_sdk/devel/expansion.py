"""One expansion: from the archive to the tree. For the holder of the lock.

The order makes every moment safe to be killed in. RECORD lists the files first, so that pip will remove them; the tree
appears by one rename; the archive, whose presence says "not done", goes last, when the tree is on the disk.
"""

from __future__ import annotations

import os

from rocm_sdk.installed.distributions import Distribution

from .archive import Archive
from .archive_rules import DIRECTORY
from .layout import ARCHIVES, MODULE, NOTES
from .manifest import Entry, Manifest, write_manifest
from .placement import COPY, REFLINK, Placement
from .preflight import require_room, require_room_for
from .progress import Progress, Reporter
from .record import Record
from .staging import put_directory, remove_directory, sync_file_system
from .stamp import identify
from .store import Store
from .tree_writer import TreeWriter
from .upkeep import Upkeep, bring_up_to_date, tree_rows, write_stamp

_LARGE = 64 << 20


class Expansion:
    """An expansion of `archive` in `site`.

    distribution: what brought the archive, and record its RECORD. scratch: a staging directory. store: keeps the files,
    or None.
    """

    def __init__(  # noqa: PLR0917
        self,
        site: str,
        archive: str,
        distribution: Distribution,
        record: Record,
        scratch: str,
        store: Store | None,
        reporter: Reporter,
    ) -> None:
        self._site = site
        self._archive = archive
        self._distribution = distribution
        self._record = record
        self._scratch = scratch
        self._store = store
        self._reporter = reporter
        self._tree = f"{scratch}/tree"
        self._placement = Placement(site, scratch)
        self._digest = record.digest_of(os.path.relpath(archive, site))

    def run(self) -> tuple[str, Upkeep]:
        """Expands; returns the directory of the tree, and what became of the links."""
        made_of = identify(self._archive)
        title = f"Expanding {self._distribution.name} {self._distribution.version}"
        progress = self._reporter.progress(title, os.path.getsize(self._archive))
        try:
            tree_name, entries = self._write_from_store(progress) or self._write_from_archive(progress)
        except BaseException:
            progress.abandon()
            raise
        os.mkdir(f"{self._tree}/{NOTES}")
        write_manifest(self._tree, Manifest(made_of, entries), self._scratch)
        upkeep, identities = bring_up_to_date(
            self._site, self._tree, tree_name, self._distribution.version, entries, self._scratch
        )
        own_rows = [row[0] for row in self._record.rows if not f"{row[0]}/".startswith(f"{tree_name}/")]
        self._record.require(own_rows + tree_rows(tree_name, entries), self._scratch, below=tree_name)
        identities[os.path.relpath(self._record.path, self._site)] = self._record.identity
        write_stamp(self._site, self._tree, self._distribution.version, identities, self._scratch)
        tree = f"{self._site}/{tree_name}"
        put_directory(self._tree, tree)
        remove_archives(self._site)
        progress.finish()
        self._tell_ways()
        return tree, upkeep

    def _write_from_archive(self, progress: Progress) -> tuple[str, list[Entry]]:
        remove_directory(self._tree)
        require_room(self._site, self._archive)
        writer = TreeWriter(self._tree, self._placement, self._store)
        with Archive(self._archive, self._digest) as archive:
            for member in archive.members():
                if member.size > _LARGE:
                    require_room_for(self._site, member.size, member.path)
                writer.write(member, archive.read)
                if member.kind != DIRECTORY:
                    progress.add(member.size, archive.bytes_read)
            tree_name = archive.tree_name
        if self._store is not None and self._digest is not None:
            self._store.remember(self._digest, tree_name, writer.entries)
        return tree_name, writer.entries

    def _write_from_store(self, progress: Progress) -> tuple[str, list[Entry]] | None:
        """None where the store does not know this archive, or not all of its files."""
        known = self._store.recall(self._digest) if self._store is not None and self._digest is not None else None
        if known is None:
            return None
        tree_name, entries = known
        writer = TreeWriter(self._tree, self._placement, self._store)
        try:
            for entry in entries:
                writer.repeat(entry)
                if entry.kind != DIRECTORY:
                    progress.add(entry.size, 0)
        except FileNotFoundError:
            return None
        return tree_name, writer.entries

    def _tell_ways(self) -> None:
        """Says once what could not be a hard link."""
        counts = self._placement.counts
        if counts[REFLINK] or counts[COPY]:
            self._reporter.say(
                f"the file system refuses hard links to the SDK's packages: {counts[REFLINK]} reflinks and"
                f" {counts[COPY]} copies instead"
            )
        if self._store is not None and self._store.ways & {REFLINK, COPY}:
            self._reporter.say(
                f"the store {self._store.directory} is on another file system: its files are copied; a store on the"
                " file system of the environments takes no room in them"
            )


def remove_archives(site: str) -> None:
    """The last step: first everything else reaches the disk."""
    sync_file_system(site)
    for name in ARCHIVES:
        path = f"{site}/{MODULE}/{name}"
        if os.path.exists(path):
            os.unlink(path)

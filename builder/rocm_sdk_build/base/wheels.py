"""The writer of wheels, which reads each file once.

Each file is hashed for RECORD, and compressed on several threads, while it is read.

Wheels that are used at once have files without compression: deflating device code takes several times as long as
writing it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from deflate import crc32

from rocm_sdk import BadArchiveError
from rocm_sdk.base.value_text import size_text
from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk.installed.record import Row, digest_text, record_text
from rocm_sdk_build.base.errors import PackagingError

from .deflate import BLOCK, compress_block
from .new_file import new_file
from .original_bytes import Rest, read_in_chunks
from .source_date import source_date
from .zip_writer import ZipWriter, date_of

_log = logging.getLogger(__name__)
_SECONDS = 5  # between two lines about a large wheel
_AHEAD = 3  # blocks for each thread that wait for it or for their turn to be written


@contextmanager
def writing(wheel: Path, dist_info: str, key: str = "", *, deflate: bool = False, jobs: int = 0) -> Iterator[Wheel]:
    """Yield a wheel that the caller fills.

    The wheel gets its name when it is complete; otherwise nothing of the wheel stays. The same files in the same order
    give the same bytes.

    `key` names the input of the wheel (see `wheel_key`). `jobs` is the number of threads; 0 stands for one for each
    processor that this process may use. Raise PackagingError or OSError if the wheel cannot be written.
    """
    count = jobs or len(os.sched_getaffinity(0))
    try:
        with (
            new_file(str(wheel), is_synced=False) as new,  # move_files syncs the wheel at the end
            os.fdopen(os.dup(new), "wb") as file,
            ThreadPoolExecutor(count) as pool,
        ):
            archive = ZipWriter(file, date_of(source_date()))
            unfinished = Wheel(wheel.name, archive, pool, count, deflate)
            yield unfinished
            unfinished.finish(f"{dist_info}/RECORD", key.encode("ascii"))
    except OSError as error:
        if error.filename is not None:
            raise
        raise PackagingError(f"{wheel}: cannot be written: {error.strerror}") from error


class Wheel:
    """A wheel that is being written; programs are executable in the wheel."""

    def __init__(self, name: str, archive: ZipWriter, pool: ThreadPoolExecutor, jobs: int, deflate: bool) -> None:
        self._name, self._size, self._told = name, 0, time.monotonic()
        self._archive, self._pool, self._limit = archive, pool, jobs * _AHEAD
        self._method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        self._rows: dict[str, Row] = {}
        self._steps: deque[Callable[[], None]] = deque()  # steps of the archive that wait, in order

    def add_file(self, name: str, path: Path, rest: Rest | None = None) -> None:
        """Add a file of the disk; `rest` is the part that the file lacks."""
        facts = path.stat()
        with self.adding(name, facts.st_size, bool(facts.st_mode & stat.S_IXUSR)) as member:
            for data in read_in_chunks(path, rest):
                member.write(data)

    @contextmanager
    def adding(self, name: str, size: int, is_program: bool = False) -> Iterator[Member]:
        """Yield a file of the wheel, which the caller writes; `size` is its expected size in bytes."""
        if name in self._rows:
            raise PackagingError(f"the wheel would have {name} twice")
        self._do(lambda: self._archive.begin(name, size, is_program, self._method))
        member = Member(self._add_block)
        yield member
        digest, written = member.finish()
        self._rows[name] = Row(path=name, digest=digest, size=written)
        size, crc = member.size, member.crc
        self._do(lambda: self._archive.end(size, crc))

    def _add_block(self, data: bytes, is_last: bool) -> None:
        self._size += len(data)
        if time.monotonic() - self._told > _SECONDS:
            self._told = time.monotonic()
            _log.info("%s: %s so far", self._name, size_text(self._size))
        if self._method == zipfile.ZIP_STORED:
            self._do(lambda: self._archive.write(data))
        else:
            packed = self._pool.submit(compress_block, data, is_last)
            self._do(lambda: self._archive.write(packed.result()))

    def _do(self, step: Callable[[], None]) -> None:
        self._steps.append(step)
        while len(self._steps) > self._limit:
            self._steps.popleft()()

    def finish(self, record: str, comment: bytes) -> None:
        """Write RECORD and the directory of the archive."""
        data = record_text([*self._rows.values(), Row(record)]).encode()
        with self.adding(record, len(data)) as member:
            member.write(data)
        while self._steps:
            self._steps.popleft()()
        self._archive.finish(comment)


class Member:
    """A file of a wheel that is being written."""

    def __init__(self, add_block: Callable[[bytes, bool], None]) -> None:
        self._add_block = add_block
        self._digest = hashlib.sha256()
        self._waiting: bytes | bytearray = bytearray()  # a block; a full one may be the last of all
        self.size, self.crc = 0, 0

    def write(self, data: bytes) -> int:
        """Take more data; return the length of the data, as files do."""
        self._digest.update(data)
        self.crc = crc32(data, self.crc)
        self.size += len(data)
        done = 0
        while done < len(data):
            if len(self._waiting) == BLOCK:
                self._add_block(bytes(self._waiting), False)
                self._waiting = bytearray()
            taken = data[done : done + BLOCK - len(self._waiting)]
            if len(taken) == BLOCK:
                self._waiting = bytes(taken)  # no copy where a block is all of `data`
            else:
                self._waiting += taken
            done += len(taken)
        return len(data)

    def finish(self) -> tuple[str, str]:
        """Return digest and size of the file, as RECORD has them."""
        self._add_block(bytes(self._waiting), True)
        return digest_text(self._digest), str(self.size)


def wheel_key(wheel: Path) -> str:
    """Return the key with which the wheel was written; "" if there is no such wheel or another program wrote it."""
    try:
        with wheel.open("rb") as file, open_zip(str(wheel), file) as archive:
            return archive.comment.decode("ascii", errors="replace")
    except (FileNotFoundError, BadArchiveError):
        return ""

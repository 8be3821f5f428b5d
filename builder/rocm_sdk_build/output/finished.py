"""The store of finished wheels, which lasts until the whole build is finished.

After a killed run, the next run takes the wheels. The name of a wheel consists of its key, which is the digest of all
its input, and its own digest. A file with another name, owner or content is not used, and stays.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import deflate

from rocm_sdk import loader_version
from rocm_sdk.fit import code as gpu_code
from rocm_sdk_build.base.digest import chunks_of, sha256_of
from rocm_sdk_build.base.own_directory import foreign
from rocm_sdk_build.base.source_date import given_date

_log = logging.getLogger(__name__)
_NAME = re.compile(r"([0-9a-f]{64})-([0-9a-f]{64})\.whl")
_YOUNG = 2  # seconds: a file that has just changed may change again without getting another time


class Finished:
    """The finished wheels of builds with one output."""

    def __init__(self, directory: Path) -> None:
        """Use `directory`, which is only for these wheels."""
        self.directory = directory
        self._own: list[Path] = []

    def take(self, key: str | None, wheel: Path) -> bool:
        """Write the wheel that an earlier run has made; return whether there was one."""
        if key is None or not self._is_ours():
            return False
        for path in sorted(self.directory.glob(f"{key}-*.whl")):
            try:
                if _copy_verified(path, wheel):
                    self._own.append(path)
                    return True
            except FileNotFoundError:  # another run has removed the file: the other run was finished before
                continue
            _log.warning("%s: is not what an earlier run left, and is not used", path)
        return False

    def keep(self, key: str | None, wheel: Path) -> None:
        """Keep a complete wheel for another run, if the file system has room or can link."""
        if key is None or not self._is_ours(makes=True):
            return
        path = self.directory / f"{key}-{sha256_of(wheel).hexdigest()}.whl"
        try:
            os.link(wheel, path)
        except OSError:  # the file system has no links, or another run has kept it or removed the directory
            return
        self._own.append(path)

    @property
    def has_some(self) -> bool:
        """True if wheels of this build are kept."""
        return bool(self._own)

    def clear(self) -> None:
        """Remove the wheels of this build, and wheels of other builds that were not finished."""
        for path in self._own:
            path.unlink(missing_ok=True)
        if self._is_ours():
            for path in self.directory.iterdir():
                name = _NAME.fullmatch(path.name)
                with suppress(FileNotFoundError):  # another run removes them, too
                    if name is not None and _is_own_file(path) and sha256_of(path).hexdigest() == name[2]:
                        path.unlink()
            try:
                self.directory.rmdir()
            except OSError:  # not empty: another run keeps wheels, or a file is not ours
                return

    def _is_ours(self, makes: bool = False) -> bool:
        """Return whether the directory belongs to this user, and nobody else can write to it.

        With `makes` the directory is made if it is not there.
        """
        try:
            if makes:
                with suppress(FileExistsError):
                    self.directory.mkdir(mode=0o700)
            wrong = foreign(self.directory)
        except FileNotFoundError:
            return False
        if wrong is not None:
            _log.warning("%s; %s", *wrong)
        return wrong is None


class Keys:
    """The computation of wheels' keys from all their input."""

    def __init__(self, written: Path | None) -> None:
        """Begin without digests; `written` is a directory to which only this run writes."""
        self._written = written
        self._digests: dict[Path, str] = {}

    def of(self, facts: object, files: Iterable[Path]) -> str | None:
        """Return the key of a wheel, or None if a file has changed just now.

        `facts` are all other facts that decide the content; repr() must show them. A file is identified by its place,
        size, times and inode; a file that this run has written, by its content.
        """
        rows = []
        limit = time.time() - _YOUNG
        for path in files:
            found = path.stat()
            if self._is_written(path):
                rows.append([self._place(str(path)), found.st_mode, self._content(path, found)])
                continue
            if max(found.st_mtime, found.st_ctime) > limit:
                return None
            times = (found.st_mtime_ns, found.st_ctime_ns)
            rows.append([str(path), found.st_dev, found.st_ino, found.st_mode, found.st_size, *times])
        document = [program_digest(), given_date(), self._place(repr(facts)), rows]
        return hashlib.sha256(json.dumps(document).encode("utf-8", "surrogateescape")).hexdigest()

    def _is_written(self, path: Path) -> bool:
        return self._written is not None and path.is_relative_to(self._written)

    def _place(self, text: str) -> str:
        """Return the text without the name of the directory, which differs from run to run."""
        return text if self._written is None else text.replace(str(self._written), "")

    def _content(self, path: Path, found: os.stat_result) -> str:
        if not stat.S_ISREG(found.st_mode):
            return ""
        if path not in self._digests:
            self._digests[path] = sha256_of(path).hexdigest()
        return self._digests[path]


def program_digest() -> str:
    """Return a digest of this program, and of the parts of the loader and of libraries with which it writes files."""
    found = hashlib.sha256(f"{loader_version} {deflate.__version__} {os.environ.get('CC')}".encode())
    packages = (Path(__file__).resolve().parents[1], Path(gpu_code.__file__).resolve().parent)
    files = (path for package in packages for path in package.rglob("*") if path.suffix in (".py", ".c", ".h", ".txt"))
    for path in sorted(files):
        found.update(path.read_bytes())
    return found.hexdigest()


def _copy_verified(path: Path, target: Path) -> bool:
    """Copy a kept wheel; return False, without a copy, if its content does not match its name."""
    name = _NAME.fullmatch(path.name)
    if name is None or not _is_own_file(path):
        return False
    with target.open("xb") as copy:
        copy.writelines(chunks_of(path))
    if sha256_of(target).hexdigest() != name[2]:
        target.unlink()
        return False
    return True


def _is_own_file(path: Path) -> bool:
    facts = path.lstat()
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid()

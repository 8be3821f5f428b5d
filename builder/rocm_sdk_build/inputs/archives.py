"""Artifacts in archives: `{name}_{component}_{family}.tar.zst` or `.tar.xz`, unpacked into a cache.

The first member is the manifest; every other member lies below a directory that the manifest names. Nothing is written
outside the artifact's own directory, whatever the names and links in the archive say.
"""

from __future__ import annotations

import errno
import lzma
import os
import re
import shutil
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from rocm_sdk.base.zstd import ZSTD_FIX, import_zstd
from rocm_sdk.fit.code.tar_reader import TarReader
from rocm_sdk.installed.directory_walk import DEPTH_LIMIT
from rocm_sdk_build.base.digest import sha256_of_chunks
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.input_file import InputFile, open_input
from rocm_sdk_build.base.own_directory import make_own, refuse_changed, write_note
from rocm_sdk_build.base.scratch import scratch_directory

MANIFEST = "artifact_manifest.txt"
SUFFIXES = (".tar.zst", ".tar.xz")  # the first suffix with a file counts
# docs/limits.md has these limits and their reasons.
MEMBER_LIMIT = 1 << 18
_MANIFEST_LIMIT = 1 << 20  # bytes
_CHUNK = 1 << 20
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")


def stem_of(path: Path) -> str:
    """Return the name of the artifact in an archive; "" for other files."""
    return next((path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix)), "")


def unpack(archive: Path, cache: Path) -> Path:
    """Return the artifact's directory in the cache; a directory that this user's earlier run unpacked is reused.

    Raise PackagingError for an archive that is damaged or differs from its `.sha256sum`, for members that would leave
    the artifact, for a cache that another user can write to, and if the content of the cache differs from the note of
    the earlier run.
    """
    make_own(cache)
    with open_input(str(archive)) as source:
        place = cache / _checked_digest(archive, source)[:32]
        directory = place / stem_of(archive)
        if os.path.lexists(place):
            refuse_changed(place)
            return directory
        with scratch_directory(cache) as scratch:
            fresh = scratch / "new"
            _unpack(archive, source.file, fresh / directory.name)
            source.refuse_changed()
            write_note(fresh)
            try:
                fresh.rename(place)
            except OSError:  # another run was faster
                refuse_changed(place)
    return directory


def _checked_digest(archive: Path, source: InputFile) -> str:
    found = sha256_of_chunks(iter(lambda: source.file.read(_CHUNK), b"")).hexdigest()
    source.file.seek(0)
    sidecar = archive.with_name(f"{archive.name}.sha256sum")
    if sidecar.is_file():
        with sidecar.open(encoding="utf-8", errors="replace") as text:
            wanted = (text.read(4096).split() or [""])[0]
        if not _DIGEST.fullmatch(wanted):
            raise PackagingError(f"{sidecar}: holds no SHA-256")
        if wanted.lower() != found:
            raise PackagingError(f"{archive}: is not the file that {sidecar.name} is about", "fetch it again")
    return found


@contextmanager
def _opened(archive: Path, source: BinaryIO) -> Iterator[IO[bytes]]:
    if archive.name.endswith(".xz"):
        with lzma.open(source) as stream:
            yield stream
    else:
        with _zstd(archive).open(source) as stream:
            yield stream


def _zstd(archive: Path) -> Any:
    try:
        return import_zstd()
    except ImportError as error:
        raise PackagingError(f"{archive}: Python cannot read zstd here", ZSTD_FIX) from error


def _unpack(archive: Path, source: BinaryIO, directory: Path) -> None:
    try:
        with _opened(archive, source) as stream:
            _Unpacking(archive, directory).run(TarReader(stream, is_stream=True))
    except PackagingError:
        raise
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise PackagingError(f"{archive}: has a name that is longer than the system allows") from error
        if error.filename is not None or error.errno is not None:
            raise
        raise PackagingError(f"{archive}: is damaged: {error}") from error
    except Exception as error:  # ZstdError has no common base, and tarfile raises ValueError and others
        raise PackagingError(f"{archive}: is damaged: {error}") from error


class _Unpacking:
    def __init__(self, archive: Path, directory: Path) -> None:
        self.archive, self.directory = archive, directory
        self.prefixes: tuple[str, ...] = ()
        self.kinds: dict[str, str] = {}  # path -> "directory", "file", "link"

    def run(self, reader: TarReader) -> None:
        members = reader.members()
        first = next(members, None)
        if first is None or first.name != MANIFEST or not first.isreg() or first.size > _MANIFEST_LIMIT:
            raise PackagingError(f"{self.archive}: its first member is not {MANIFEST}")
        self._take_manifest(reader.archive, first)
        for count, member in enumerate(members, 2):
            if count > MEMBER_LIMIT:
                raise PackagingError(f"{self.archive}: has more than {MEMBER_LIMIT} members")
            self._take(reader.archive, member)
        reader.read_to_end()

    def _take_manifest(self, members: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        stream = members.extractfile(member)
        assert stream is not None
        data = stream.read()
        lines = [line.strip() for line in data.decode("utf-8", errors="replace").splitlines()]
        self.prefixes = tuple(f"{line.rstrip('/')}/" for line in lines if line)
        for prefix in self.prefixes:
            self._check_name(prefix.rstrip("/"))
        self.directory.mkdir(parents=True)
        (self.directory / MANIFEST).write_bytes(data)
        self.kinds[MANIFEST] = "file"

    def _check_name(self, name: str) -> None:
        parts = name.split("/")
        if name.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\0" in name:
            raise PackagingError(f"{self.archive}: the name {name!r} leads out of the artifact")
        if len(parts) > DEPTH_LIMIT:
            raise PackagingError(
                f"{self.archive}: has directories more than {DEPTH_LIMIT} deep in each other: {name[:60]}..."
            )

    def _take(self, members: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        name = member.name.rstrip("/")
        self._check_name(name)
        is_above = member.isdir() and any(prefix.startswith(f"{name}/") for prefix in self.prefixes)
        if not is_above and not f"{name}/".startswith(self.prefixes):
            raise PackagingError(f"{self.archive}: {name!r} is in no directory of its manifest")
        target = self._make_parents(name)
        if name in self.kinds and not (member.isdir() and self.kinds[name] == "directory"):
            raise PackagingError(f"{self.archive}: has {name!r} twice")
        if member.isdir():
            target.mkdir(exist_ok=True)
            self.kinds[name] = "directory"
        elif member.issym():
            target.symlink_to(member.linkname)
            self.kinds[name] = "link"
        elif member.islnk():
            other = member.linkname
            if self.kinds.get(other) != "file" or other == MANIFEST:
                raise PackagingError(f"{self.archive}: {name!r} is a link to {other!r}, which is not a file before it")
            os.link(self.directory / other, target)
            self.kinds[name] = "file"
        elif member.issparse():
            raise PackagingError(f"{self.archive}: {name!r} is a sparse file", "pack it without the option --sparse")
        elif member.isreg():
            self._take_file(members, member, target)
            self.kinds[name] = "file"
        else:
            raise PackagingError(f"{self.archive}: {name!r} is neither a file nor a directory nor a link")

    def _make_parents(self, name: str) -> Path:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            kind = self.kinds.setdefault(above, "directory")
            if kind != "directory":
                raise PackagingError(f"{self.archive}: {name!r} is below {above!r}, which is not a directory")
            (self.directory / above).mkdir(exist_ok=True)
        return self.directory / name

    def _take_file(self, members: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
        free = shutil.disk_usage(self.directory).free
        if member.size > free:
            raise PackagingError(
                f"{self.archive}: {member.name!r} takes {member.size} bytes, and the disk of the cache has {free} free"
            )
        stream = members.extractfile(member)
        assert stream is not None
        with target.open("xb") as file:
            shutil.copyfileobj(stream, file, _CHUNK)
        target.chmod(stat.S_IMODE(member.mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)

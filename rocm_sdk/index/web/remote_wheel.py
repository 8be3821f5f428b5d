"""The parts of a wheel on a web server: RECORD, METADATA, a small file.

If the wheel is large, the parts are read without the rest.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.zip_file import DAMAGE, MEMBER_LIMIT, open_zip
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.installed.record import parse_record

from .remote_file import NoPartsError, RemoteFile
from .server import Server, TooLargeError, WebError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm_sdk.installed.record import Row

    from .simple_index import IndexedFile

WHOLE_LIMIT = 16 << 20  # bytes of a wheel that is read whole
_PARTS_LIMIT = 64 << 20  # bytes of a larger one that are read: its list of members and RECORD
_MEMBER_LIMIT = 16 << 20  # bytes of RECORD: so many list 100,000 files


class RemoteWheel(NamedTuple):
    """The parts of a wheel that were read.

    record: the rows of RECORD. metadata_sha256: the SHA-256 of METADATA. sha256: the wheel's, "" if it was not read
    whole.
    """

    record: list[Row]
    metadata_sha256: str
    sha256: str


class Tags(NamedTuple):
    """The tags of a wheel, as its name has them: each tag of one set with each of the others, not multiplied out."""

    python: frozenset[str]
    abi: frozenset[str]
    platform: frozenset[str]


def tags_of(name: str) -> Tags | None:
    """Return the tags of a wheel by its file name; None if it is no name of a wheel."""
    parts = name.removesuffix(".whl").split("-")
    if not name.endswith(".whl") or len(parts) not in {5, 6}:
        return None
    return Tags(*(frozenset(part.split(".")) for part in parts[-3:]))


def tags_in(values: Iterable[str]) -> Tags | None:
    """Return the tags that WHEEL lists, each alone: "py3-none-any"; None if they are not the tags of one name."""
    each = {value: value.split("-") for value in values}
    if not each or any(len(parts) != 3 for parts in each.values()):
        return None
    tags = Tags(*map(frozenset, zip(*each.values(), strict=True)))
    return tags if len(tags.python) * len(tags.abi) * len(tags.platform) == len(each) else None


def read_wheel(server: Server, file: IndexedFile) -> RemoteWheel:
    """Read a wheel. Raise WebError; NoPartsError if it is large and the server sends it as a whole only."""
    data, sha256 = _content(server, file)
    with _refusing_damage(file), open_zip(file.address, data) as archive:
        record = parse_record(_refused_long(_own_member(archive, file, "RECORD")))
        metadata = _own_member(archive, file, "METADATA")
    return RemoteWheel(record, hashlib.sha256(metadata).hexdigest(), sha256)


def file_in_wheel(server: Server, file: IndexedFile, end: str) -> bytes | None:
    """Return the one file of a wheel whose path ends so; None if there is not one. Raise the errors of read_wheel."""
    data, _ = _content(server, file)
    with _refusing_damage(file), open_zip(file.address, data) as archive:
        found = [each for each in archive.infolist() if each.filename.endswith(end)]
        return _content_of(archive, found[0]) if len(found) == 1 else None


def _content(server: Server, file: IndexedFile) -> tuple[BinaryIO, str]:
    """Return a wheel, and its SHA-256 if it was read whole, else ""."""
    try:
        remote = RemoteFile(server, file.address, _PARTS_LIMIT)
        if remote.size > WHOLE_LIMIT:
            return cast("BinaryIO", remote), ""
    except NoPartsError:
        pass
    try:
        data = server.read(file.address, WHOLE_LIMIT)
    except TooLargeError as error:
        raise NoPartsError(f"{file.address}: it is large, and the server does not send parts of it") from error
    return io.BytesIO(data), hashlib.sha256(data).hexdigest()


@contextmanager
def _refusing_damage(file: IndexedFile) -> Iterator[None]:
    try:
        yield
    except RocmSdkError as error:
        raise WebError(error.message, "ask those who run the index") from error
    except (*DAMAGE, OSError) as error:
        raise WebError(f"{file.address}: cannot be read as a wheel: {error}", "ask those who run the index") from error


def _refused_long(record: bytes) -> bytes:
    """Return RECORD, unless it has more rows than a wheel has members: each is an object.

    Raise ValueError if it has.
    """
    if record.count(b"\n") + record.count(b"\r") > 2 * MEMBER_LIMIT:
        raise ValueError(f"its RECORD has more than {MEMBER_LIMIT} rows")
    return record


def _own_member(archive: zipfile.ZipFile, file: IndexedFile, name: str) -> bytes:
    """Return a file of the one directory `.dist-info` that is the wheel's."""
    project = normalised(file.name.partition("-")[0])
    end = f".dist-info/{name}"
    names = (each.filename for each in archive.infolist())
    found = [each for each in names if each.endswith(end) and each.count("/") == 1]
    if len(found) != 1 or normalised(found[0].partition("-")[0]) != project:
        raise ValueError(f"it has no {name}, or several")
    return _content_of(archive, archive.getinfo(found[0]))


def _content_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    name = member.filename.rpartition("/")[2]
    if member.file_size > _MEMBER_LIMIT:
        raise ValueError(f"its {name} has {member.file_size} bytes, more than {_MEMBER_LIMIT}")
    with archive.open(member) as stream:
        data = stream.read(_MEMBER_LIMIT + 1)
    if len(data) > _MEMBER_LIMIT:
        raise ValueError(f"its {name} has more than {_MEMBER_LIMIT} bytes")
    return data

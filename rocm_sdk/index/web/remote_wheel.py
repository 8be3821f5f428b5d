"""A small file of a wheel on a web server. If the wheel is large, the file is read without the rest."""

from __future__ import annotations

import io
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.zip_file import DAMAGE, open_zip

from .remote_file import NoPartsError, RemoteFile
from .server import Server, TooLargeError, WebError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .simple_index import IndexedFile

_WHOLE_LIMIT = 16 << 20  # bytes of a wheel that is read whole
_PARTS_LIMIT = 64 << 20  # bytes of a larger one that are read: its list of members and the file
_MEMBER_LIMIT = 16 << 20  # bytes of the file


def file_in_wheel(server: Server, file: IndexedFile, end: str) -> bytes | None:
    """Return the one file of a wheel whose path ends like this; None if there is not exactly one.

    Raise WebError; NoPartsError if the wheel is large and the server sends it only as a whole.
    """
    with _refusing_damage(file), open_zip(file.address, _content(server, file)) as archive:
        found = [each for each in archive.infolist() if each.filename.endswith(end)]
        return _content_of(archive, found[0]) if len(found) == 1 else None


def _content(server: Server, file: IndexedFile) -> BinaryIO:
    try:
        remote = RemoteFile(server, file.address, _PARTS_LIMIT)
        if remote.size > _WHOLE_LIMIT:
            return cast("BinaryIO", remote)
    except NoPartsError:
        pass
    try:
        data = server.read(file.address, _WHOLE_LIMIT)
    except TooLargeError as error:
        raise NoPartsError(f"{file.address}: it is large, and the server does not send parts of it") from error
    return io.BytesIO(data)


@contextmanager
def _refusing_damage(file: IndexedFile) -> Iterator[None]:
    try:
        yield
    except RocmSdkError as error:
        raise WebError(error.message, "ask those who run the index") from error
    except (*DAMAGE, OSError) as error:
        raise WebError(f"{file.address}: cannot be read as a wheel: {error}", "ask those who run the index") from error


def _content_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    name = member.filename.rpartition("/")[2]
    if member.file_size > _MEMBER_LIMIT:
        raise ValueError(f"its {name} has {member.file_size} bytes, more than {_MEMBER_LIMIT}")
    with archive.open(member) as stream:
        data = stream.read(_MEMBER_LIMIT + 1)
    if len(data) > _MEMBER_LIMIT:
        raise ValueError(f"its {name} has more than {_MEMBER_LIMIT} bytes")
    return data

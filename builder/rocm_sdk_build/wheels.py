"""Writes a wheel from a tree in which its files lie as pip would install them, read by the wheel's RECORD.

Files are streamed. Storing them without compression is for wheels that are used at once: deflating device code takes
several times as long as writing it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import stat
import sysconfig
import zipfile
from pathlib import Path

from rocm_sdk.installed.record import digest_text

from .text_files import write_text

_CHUNK = 1 << 20


def write_wheel(site: Path, dist_info: str, wheel: Path, key: str, *, deflate: bool = False) -> None:
    """Writes `wheel`, which appears only when it is complete. `key` names what it was made from (see `wheel_key`).

    Programs are executable in it. The same tree gives the same bytes: every member is dated 1980-01-01, the first day
    that a zip file knows.
    """
    partial = wheel.with_name(f".{wheel.name}.partial")
    with (site / dist_info / "RECORD").open(encoding="utf-8", newline="") as record:
        names = [row[0] for row in csv.reader(record)]
    try:
        method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        with zipfile.ZipFile(partial, "w", method) as archive:
            archive.comment = key.encode("ascii")
            for name in names:
                _write_member(archive, site / name, name)
        partial.rename(wheel)
    finally:
        partial.unlink(missing_ok=True)


def wheel_tag() -> str:
    """Any Python 3, no ABI, this kind of machine: `py3-none-linux_x86_64`."""
    platform = os.environ.get("ROCM_SDK_WHEEL_PLATFORM_TAG") or sysconfig.get_platform()
    return f"py3-none-{platform.replace('-', '_').replace('.', '_')}"


def write_record(site: Path, record: Path, files: list[Path]) -> None:
    """Writes RECORD: each file with its digest and size, by its path below `site`."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for path in files:
        rows.writerow((path.relative_to(site).as_posix(), _digest(path), path.stat().st_size))
    rows.writerow((record.relative_to(site).as_posix(), "", ""))
    write_text(record, text.getvalue())


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest_text(digest)


def wheel_key(wheel: Path) -> str:
    """The key that the wheel was written with; empty if there is no such wheel or another program wrote it."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.comment.decode("ascii", errors="replace")
    except (FileNotFoundError, zipfile.BadZipFile):
        return ""


def _write_member(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    member = zipfile.ZipInfo(name)
    mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
    member.external_attr = (stat.S_IFREG | mode) << 16
    member.compress_type = archive.compression
    member.file_size = path.stat().st_size
    with path.open("rb") as source, archive.open(member, "w") as target:
        shutil.copyfileobj(source, target, _CHUNK)

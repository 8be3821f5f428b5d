"""Writes the archive of the development wheel: the tree that `rocm-sdk init` extracts beside the runtime packages."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterable
from pathlib import Path

from .plan import DevelopmentFile
from .sdk_rules import RUNTIME_WHEELS, WHEELS
from .source_date import source_date
from .tree_order import directories_of, rank

_PRESET = 0  # a tenth of the time that the default takes, for an archive that is a third larger


def write_archive(files: Iterable[DevelopmentFile], tree: str, archive: Path) -> None:
    """Writes `archive`, whose members lie in the directory `tree`; the first makes it importable."""
    trees = [WHEELS[name].platform_directory for name in RUNTIME_WHEELS]
    with lzma.open(archive, "wb", preset=_PRESET) as stream, tarfile.open(fileobj=stream, mode="w") as members:
        members.addfile(_member(f"{tree}/__init__.py"))
        found = sorted(files, key=lambda file: (rank("link" if file.link else "file", file.link, trees), file.place))
        for directory in directories_of(str(file.place) for file in found):
            member = _member(f"{tree}/{directory}", mode=0o755)
            member.type = tarfile.DIRTYPE
            members.addfile(member)
        for file in found:
            member = _member(f"{tree}/{file.place}", len(file.content), 0o755 if file.is_program else 0o644)
            if file.link:
                member.type, member.linkname = tarfile.SYMTYPE, file.link
            members.addfile(member, io.BytesIO(file.content))


def _member(name: str, size: int = 0, mode: int = 0o644) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, mode, source_date()
    return member

"""Packages as pip installs them: a directory like site-packages, of hard links, which costs neither time nor disk.

The directory is for reading only: data that is written to one of its files is written to the packages' source, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rocm_sdk.installed.record import Row, digest_text, record_text
from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.original_bytes import Rest, complete
from rocm_sdk_build.base.text_files import write_text


@contextmanager
def filling(site: Path, dist_info: str) -> Iterator[SitePackage]:
    """Yield a package that the caller adds to `site`, and write its RECORD at the end.

    `site` is in the file system of the package's files.
    """
    package = SitePackage(site)
    yield package
    package.finish(f"{dist_info}/RECORD")


class SitePackage:
    """A package that is being added, with the methods of a wheel."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._names: list[str] = []

    def add_file(self, name: str, path: Path, rest: Rest | None = None) -> None:
        """Add a file of the disk; `rest` is the part that the file lacks.

        Commands are left out: pip puts them elsewhere.
        """
        if ".data/scripts/" in name:
            return
        if rest is not None:
            complete(path, rest)
        os.link(path, self._place(name))

    @contextmanager
    def adding(self, name: str, _size: int) -> Iterator[BinaryIO]:
        """Yield a new file of the package, which the caller writes."""
        with self._place(name).open("xb") as file:
            yield file

    def _place(self, name: str) -> Path:
        self._names.append(name)
        path = self._site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def finish(self, record: str) -> None:
        """Write RECORD."""
        paths = {name: self._site / name for name in self._names}
        rows = [Row(name, digest_text(sha256_of(path)), str(path.stat().st_size)) for name, path in paths.items()]
        write_text(self._site / record, record_text([*rows, Row(record)]))

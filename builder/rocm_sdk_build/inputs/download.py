"""Artifacts on a web server: the archives that a page names, downloaded into a directory below the output.

The page is a web server's list of a directory, or any other page with links to the archives. An archive is kept for
later runs only if it has the digest in `ARCHIVE.sha256sum` beside it.
"""

from __future__ import annotations

import hashlib
import os
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.index.web.links import PAGE_LIMIT, links_of
from rocm_sdk.index.web.server import SCHEMES, Limits, Server, WebError, without_user
from rocm_sdk.terminal.progress import waiting
from rocm_sdk_build.base.digest import sha256_of, sha256_of_chunks
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.new_file import new_file
from rocm_sdk_build.base.own_directory import make_own
from rocm_sdk_build.base.pieces import read_range, write_all
from rocm_sdk_build.base.scratch import PREFIX

from .archives import SUFFIXES, stem_of
from .catalog import GENERIC, everything, is_name

_AT_ONCE = 4
_SIDECAR_LIMIT = 1 << 12  # bytes


class _Wanted(NamedTuple):
    """An archive to download."""

    address: str
    path: Path
    digest: str  # "": the server does not give the digest


def download(
    address: str,
    directory: Path,
    families: Iterable[str],
    limits: Limits | None = None,
    is_wanted: Callable[[str], bool] = everything,
) -> Path:
    """Download the archives of a page; return the directory that has them.

    `families` are targets and families whose archives are wanted, beside the generic ones; without families all are
    wanted. `is_wanted` says whether an artifact of this name is downloaded; archives that other runs with these
    families need may stay.

    Raise PackagingError if the page or an archive cannot be fetched, if an archive differs from its `.sha256sum`, or if
    there is no archive for a family.
    """
    try:
        return _download(Server(address, limits), directory, families, is_wanted)
    except WebError as error:
        raise PackagingError(str(error), error.fix) from error


def _download(server: Server, directory: Path, families: Iterable[str], is_wanted: Callable[[str], bool]) -> Path:
    links = _links_of(server)
    chosen = _choose(server.address, links, {name.partition(":")[0] for name in families})
    place = directory / hashlib.sha256(server.address.encode()).hexdigest()[:32]
    for each in (directory.parent, directory, place):  # files are removed only from a directory of ours
        make_own(each)
    wanted = [
        _Wanted(links[name], place / name, _digest_of(server, links.get(f"{name}.sha256sum"), links[name]))
        for name in chosen
        if is_wanted(stem_of(Path(name)))
    ]
    for path in place.iterdir():  # downloads of an earlier run
        if path.name not in chosen and not path.name.startswith(PREFIX):  # another run may still need its file
            path.unlink()
    kept = "the archives that are complete stay for the next run"
    with waiting("downloading archives", len(wanted), left=kept) as wait, ThreadPoolExecutor(_AT_ONCE) as pool:
        for archive, _ in zip(wanted, pool.map(partial(_fetch, server), wanted), strict=True):
            wait.step(archive.path.name)
    return place


def _choose(address: str, links: Iterable[str], families: set[str]) -> list[str]:
    """Return the names of the archives: each artifact once, in the form that counts.

    Raise PackagingError if the page links to no artifact, or to none for the families.
    """
    archives: dict[str, str] = {}
    for suffix in reversed(SUFFIXES):
        stems = ((stem_of(Path(name)), name) for name in links if name.endswith(suffix))
        archives |= {stem: name for stem, name in stems if is_name(stem)}
    if not archives:
        raise PackagingError(
            f"{address}: links to no artifact",
            f"artifacts are called NAME_COMPONENT_FAMILY{SUFFIXES[0]} or {SUFFIXES[1]}",
        )
    of = {stem: stem.rpartition("_")[2].partition(":")[0] for stem in archives}
    if families and not families & set(of.values()):
        raise PackagingError(f"{address}: links to no artifact for {', '.join(sorted(families))}")
    return sorted(name for stem, name in archives.items() if not families or of[stem] in {GENERIC, *families})


def _links_of(server: Server) -> dict[str, str]:
    """Return the address of each file name to which a page links."""
    found = {}
    for each in links_of(server.read(server.address, PAGE_LIMIT), server.address):
        with suppress(ValueError):  # an invalid address
            whole = urllib.parse.urljoin(server.address, each)
            name = urllib.parse.unquote(urllib.parse.urlsplit(whole).path).rpartition("/")[2]
            if whole.startswith(SCHEMES) and name.isprintable():
                found[name] = without_user(whole)
    return found


def _digest_of(server: Server, sidecar: str | None, archive: str) -> str:
    if sidecar is None:
        return ""
    digest = (server.read(sidecar, _SIDECAR_LIMIT).decode("ascii", errors="replace").split() or [""])[0].lower()
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise PackagingError(f"{sidecar}: holds no SHA-256 of {archive}")
    return digest


def _fetch(server: Server, wanted: _Wanted) -> None:
    if wanted.digest and wanted.path.is_file() and sha256_of(wanted.path).hexdigest() == wanted.digest:
        return
    with new_file(str(wanted.path), is_synced=False) as new:
        server.save(wanted.address, partial(_write, new, wanted.path), wanted.path.parent)
        chunks = read_range(new, 0, os.fstat(new).st_size, str(wanted.path))
        if wanted.digest and sha256_of_chunks(chunks).hexdigest() != wanted.digest:
            raise PackagingError(f"{wanted.address}: is not the file that its .sha256sum is about")


def _write(new: int, path: Path, chunks: Iterator[bytes]) -> None:
    """Write the file that is open as `new` and becomes `path`, from its beginning.

    Raise PackagingError if the file cannot be written.
    """
    done = 0
    try:
        os.ftruncate(new, 0)
        for chunk in chunks:
            write_all(new, chunk, done)
            done += len(chunk)
    except OSError as error:
        raise PackagingError(f"{path}: cannot be written: {error.strerror or error}") from error

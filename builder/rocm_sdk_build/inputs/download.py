"""Artifacts on a web server: the archives that a page names, downloaded into a directory below the output.

The page is what web servers show of a directory, or any other with links to the archives. An archive is kept for later
runs only if it has the digest in `ARCHIVE.sha256sum` beside it.
"""

from __future__ import annotations

import hashlib
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html.parser import HTMLParser
from http.client import HTTPResponse
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.digest import sha256_of
from rocm_sdk_build.files.own_directory import make_own

from .archives import SUFFIXES, stem_of
from .catalog import GENERIC, is_name

SCHEMES = ("http://", "https://")
_AT_ONCE = 4
_TRIES = 3
_PAUSE = 2.0  # seconds before the second try, and twice as long before the third
_TIMEOUT = 60  # seconds without data
_PAGE_LIMIT = 1 << 26  # bytes
_CHUNK = 1 << 20


class _Wanted(NamedTuple):
    """An archive to download."""

    address: str
    path: Path
    digest: str  # "": the server does not say


def download(address: str, directory: Path, families: Iterable[str]) -> Path:
    """Downloads the archives of a page; returns the directory that has them and nothing else.

    families: targets and families of which archives are wanted, beside the generic ones; none: all. PackagingError
    if the page or an archive cannot be had, is not what its `.sha256sum` says, or there is none for a family.
    """
    links = _links_of(address)
    chosen = _choose(address, links, {name.partition(":")[0] for name in families})
    place = directory / hashlib.sha256(address.encode()).hexdigest()[:32]
    for each in (
        directory.parent,
        directory,
        place,
    ):  # what is not wanted any more is removed from a directory of ours alone
        make_own(each)
    wanted = [
        _Wanted(links[name], place / name, _digest_of(links.get(f"{name}.sha256sum"), links[name])) for name in chosen
    ]
    for path in place.iterdir():  # what an earlier run has downloaded
        if path.name not in chosen:
            path.unlink()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(_fetch, wanted):
            pass
    return place


def _choose(address: str, links: Iterable[str], families: set[str]) -> list[str]:
    """The names of the archives: each artifact once, of the form that counts."""
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


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if (tag, name) == ("a", "href") and value]


def _links_of(address: str) -> dict[str, str]:
    """File name -> address, of all links of a page."""
    parser = _Links()
    parser.feed(_read(address, _PAGE_LIMIT).decode("utf-8", errors="replace"))
    found = {}
    for link in parser.found:
        with suppress(ValueError):  # an invalid address
            whole = urllib.parse.urljoin(address, link)
            name = urllib.parse.unquote(urllib.parse.urlsplit(whole).path).rpartition("/")[2]
            if whole.startswith(SCHEMES):
                found[name] = whole
    return found


def _digest_of(sidecar: str | None, archive: str) -> str:
    if sidecar is None:
        return ""
    digest = (_read(sidecar, 4096).decode("ascii", errors="replace").split() or [""])[0].lower()
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise PackagingError(f"{sidecar}: holds no SHA-256 of {archive}")
    return digest


def _fetch(wanted: _Wanted) -> None:
    if wanted.digest and wanted.path.is_file() and sha256_of(wanted.path).hexdigest() == wanted.digest:
        return
    partial = wanted.path.with_name(f"{wanted.path.name}.partial")
    try:
        _fetch_to(partial, wanted)
        partial.rename(wanted.path)
    finally:
        partial.unlink(missing_ok=True)


def _fetch_to(partial: Path, wanted: _Wanted) -> None:
    for left in reversed(range(_TRIES)):
        try:
            with _open(wanted.address) as answer, partial.open("wb") as file:
                while chunk := answer.read(_CHUNK):
                    file.write(chunk)
                if answer.length:
                    raise ConnectionError(f"{answer.length} bytes are missing")
            break
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            _pause_or_give_up(wanted.address, error, left)
    if wanted.digest and sha256_of(partial).hexdigest() != wanted.digest:
        raise PackagingError(f"{wanted.address}: is not the file that its .sha256sum is about")


def _read(address: str, limit: int) -> bytes:
    for left in reversed(range(_TRIES)):
        try:
            with _open(address) as answer:
                data: bytes = answer.read(limit + 1)
            break
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            _pause_or_give_up(address, error, left)
    if len(data) > limit:
        raise PackagingError(f"{address}: has more than {limit} bytes")
    return data


def _open(address: str) -> HTTPResponse:
    answer: HTTPResponse = urllib.request.urlopen(address, timeout=_TIMEOUT)  # the scheme is one of SCHEMES
    return answer


def _pause_or_give_up(address: str, error: Exception, left: int) -> None:
    """left: how many tries there are still. What the server refuses (404, 403) is not asked for again."""
    is_refused = isinstance(error, urllib.error.HTTPError) and error.code < 500
    if left == 0 or is_refused:
        reason = getattr(error, "reason", error)
        raise PackagingError(
            f"{address}: cannot be had: {reason}", "check the address; a server may be down"
        ) from error
    time.sleep(_PAUSE * 2 ** (_TRIES - 1 - left))

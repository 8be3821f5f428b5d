"""The source of an installed distribution, as its `.dist-info` directory says it: licence, maker, installer, place.

No file is trusted: sizes are bounded, and a fact that is missing or of another kind is None, never a guess.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from .distributions import headers_of

if TYPE_CHECKING:
    from .distributions import Distribution


class Origin(NamedTuple):
    """The facts of the files beside METADATA.

    Sources: core metadata 2.4, PEP 427 (WHEEL), PEP 376, PEP 610.
    """

    licence: str | None  # License-Expression, else the one line of License
    licence_files: tuple[str, ...]  # License-File, relative to `licenses` in the `.dist-info` directory
    generator: str | None  # the program that made the wheel
    installer: str | None
    url: str | None  # of direct_url.json, without a password; None: an index, or unknown
    digest: str | None  # of the archive at `url`: "sha256=..."


def origin_of(distribution: Distribution) -> Origin:
    """Return the origin of a distribution. Facts that cannot be read are None."""
    headers = headers_of(distribution.read("METADATA"))
    wheel = headers_of(distribution.read("WHEEL"))
    url, digest = _direct_url(distribution.read("direct_url.json"))
    return Origin(
        licence=_first(headers, "license-expression") or _first(headers, "license"),
        licence_files=tuple(value for name, value in headers if name == "license-file"),
        generator=_first(wheel, "generator"),
        installer=distribution.read("INSTALLER").decode(errors="replace").strip() or None,
        url=url,
        digest=digest,
    )


def without_password(url: str) -> str:
    """Return a URL without the name and password that it may hold; "" for a text that is no URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _first(headers: list[tuple[str, str]], wanted: str) -> str | None:
    return next((value for name, value in headers if name == wanted and value), None)


def _direct_url(data: bytes) -> tuple[str | None, str | None]:
    """Return the URL of direct_url.json, and the SHA-256 of the archive there, by either of the two keys of PEP 610."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None, None
    url = document.get("url") if isinstance(document, dict) else None
    if not isinstance(url, str):
        return None, None
    archive = document.get("archive_info")
    archive = archive if isinstance(archive, dict) else {}
    hashes = archive.get("hashes")
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    old = archive.get("hash")
    if isinstance(digest, str):
        return without_password(url), f"sha256={digest}"
    return without_password(url), old if isinstance(old, str) and old.startswith("sha256=") else None

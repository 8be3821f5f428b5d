"""The pages of an index from which pip and uv install (PEP 503, as JSON PEP 691): the facts of each file.

A page is hostile: its size and the number of its files are bounded, values of another kind than the standard says are
left out, and addresses are only web servers'.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from rocm_sdk.installed.distributions import normalised

from .links import LINK_LIMIT, PAGE_LIMIT, links_of
from .server import SCHEMES, Answer, Server, WebError, refuse_downgrade, shown_address, without_user

_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DOCUMENT_LIMIT = 1 << 22  # bytes of attestations
_STATEMENT_LIMIT = 256  # attestations of a file


class IndexedFile(NamedTuple):
    """The facts of a file on a page. Digests are SHA-256 in hexadecimal, "" where the page has none."""

    name: str
    address: str
    sha256: str
    metadata_sha256: str
    provenance: str  # the address of its attestations (PEP 740), ""
    is_yanked: bool


class Attestation(NamedTuple):
    """The statements of an attestation: none of them is verified."""

    publisher: str  # "GitHub, owner/repository, release.yml"
    kind: str  # its predicate
    digests: dict[str, str]  # file name -> SHA-256


def files_of_project(server: Server, project: str) -> list[IndexedFile]:
    """Return the files of a project, by its normalised name. Raise WebError.

    The error has status 404 if the index has no such project.
    """
    address = f"{server.address.rstrip('/')}/{project}/"
    answer = server.answer(address, PAGE_LIMIT, {"Accept": _ACCEPT})
    rows = _of_json(answer, address) if _is_json(answer) else _of_html(answer, address)
    files = (_file(row, answer.address) for row in rows)
    return [file for file in files if file is not None]


def projects_of(server: Server) -> list[str]:
    """Return the normalised names of all projects of an index. Raise WebError."""
    answer = server.answer(server.address, PAGE_LIMIT, {"Accept": _ACCEPT})
    if _is_json(answer):
        document = _parsed(answer.body, server.address)
        rows = document.get("projects") if isinstance(document, dict) else None
        names = [row["name"] for row in _dicts(rows) if isinstance(row.get("name"), str)]
    else:
        links = links_of(answer.body, server.address)
        names = [unquote(link["href"].partition("#")[0]).rstrip("/").rpartition("/")[2] for link in links]
    return [normalised(name) for name in names if name.isascii() and name.isprintable()]


def attestations_of(server: Server, file: IndexedFile) -> list[Attestation]:
    """Return the attestations of a file that has an address of them. Raise WebError."""
    answer = server.answer(file.provenance, _DOCUMENT_LIMIT, {"Accept": "application/json"})
    document = _parsed(answer.body, file.provenance)
    bundles = document.get("attestation_bundles") if isinstance(document, dict) else None
    found = []
    for bundle in _dicts(bundles):
        publisher = _publisher(bundle.get("publisher"))
        for each in _dicts(bundle.get("attestations")):
            found.append(_attestation(each, publisher, file.provenance))
            if len(found) > _STATEMENT_LIMIT:
                raise WebError(f"{file.provenance}: has more than {_STATEMENT_LIMIT} attestations")
    if not found:
        raise WebError(f"{file.provenance}: has no attestations, though the page of the index names it")
    return found


def _is_json(answer: Answer) -> bool:
    return answer.headers.get_content_type() in {_JSON, "application/json"}


def _of_json(answer: Answer, address: str) -> Iterable[dict[str, Any]]:
    """Return the files of a page, with keys as PEP 691 names them."""
    document = _parsed(answer.body, address)
    files = document.get("files") if isinstance(document, dict) else None
    if not isinstance(files, list):
        raise WebError(f"{address}: is no page of an index: it has no list of files")
    if len(files) > LINK_LIMIT:
        raise WebError(f"{address}: has {len(files)} files, more than the limit of {LINK_LIMIT}")
    return _dicts(files)


def _of_html(answer: Answer, address: str) -> Iterable[dict[str, Any]]:
    """Yield the files of a page of links in the same form. The newer name of an attribute counts (PEP 714)."""
    for each in links_of(answer.body, address):
        link, _, fragment = each["href"].partition("#")
        hashes = dict([fragment.partition("=")[::2]])
        metadata = each.get("data-core-metadata") or each.get("data-dist-info-metadata") or ""
        yield {
            "filename": unquote(link.partition("?")[0]).rpartition("/")[2],
            "url": link,
            "hashes": hashes,
            "core-metadata": dict([metadata.partition("=")[::2]]),
            "provenance": each.get("data-provenance"),
            "yanked": "data-yanked" in each,
        }


def _file(row: dict[str, Any], page: str) -> IndexedFile | None:
    """Return a file of a page; None for a row that is no file of a web server."""
    name, link = row.get("filename"), row.get("url")
    if not (isinstance(name, str) and isinstance(link, str) and name.isprintable()):
        return None
    address = _absolute(page, link)
    metadata = row.get("core-metadata", row.get("dist-info-metadata"))
    provenance = row.get("provenance")
    if address is None:
        return None
    return IndexedFile(
        name=name,
        address=address,
        sha256=_digest(row.get("hashes")),
        metadata_sha256=_digest(metadata),
        provenance=(_absolute(page, provenance) or "") if isinstance(provenance, str) and provenance else "",
        is_yanked=row.get("yanked", False) is not False,
    )


def _absolute(page: str, link: str) -> str | None:
    """Return the address of a link; None for other than web servers'.

    Raise WebError for one that gives up encryption.
    """
    try:
        address = urljoin(page, link)
        urlsplit(address)
    except ValueError:
        return None
    if not address.lower().startswith(SCHEMES) or not address.isprintable():
        return None
    refuse_downgrade(page, address)
    return without_user(address)


def _digest(hashes: object) -> str:
    found = hashes.get("sha256") if isinstance(hashes, dict) else None
    return found.lower() if isinstance(found, str) and _SHA256.fullmatch(found.lower()) else ""


def _attestation(row: dict[str, Any], publisher: str, address: str) -> Attestation:
    import base64
    import binascii

    envelope = row.get("envelope")
    statement = envelope.get("statement") if isinstance(envelope, dict) else None
    try:
        document = _parsed(base64.b64decode(statement if isinstance(statement, str) else "", validate=True), address)
    except (binascii.Error, ValueError) as error:
        raise WebError(f"{address}: an attestation has no valid statement: {error}") from error
    subjects = _dicts(document.get("subject")) if isinstance(document, dict) else ()
    digests = {str(each.get("name")): _digest(each.get("digest")) for each in subjects}
    kind = str(document.get("predicateType")) if isinstance(document, dict) else ""
    return Attestation(publisher, kind, digests)


def _publisher(row: object) -> str:
    """Return the publisher as the index names it, whose fields depend on its kind."""
    if not isinstance(row, dict):
        return "an unnamed publisher"
    names = ("kind", "repository", "workflow", "workflow_filepath", "email", "environment")
    found = [str(row[name]) for name in names if isinstance(row.get(name), str) and row[name]]
    return ", ".join(found) or "an unnamed publisher"


def _dicts(rows: object) -> Iterable[dict[str, Any]]:
    return (each for each in rows if isinstance(each, dict)) if isinstance(rows, list) else ()


def _parsed(data: bytes, address: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WebError(f"{shown_address(address)}: is no JSON: {error}") from error

"""The pages of an index from which pip and uv install (PEP 503, as JSON PEP 691): the facts of each file.

A page may be hostile: its size and the number of its files are limited, values that are not as the standard says are
left out, and only addresses of web servers are taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from rocm_sdk.installed.distributions import normalised

from .links import LINK_LIMIT, PAGE_LIMIT, links_of
from .server import SCHEMES, Answer, Server, WebError, refuse_downgrade, shown_address, without_user

_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"


class IndexedFile(NamedTuple):
    """The name of a file on a page, and its address."""

    name: str
    address: str


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
        names = [unquote(link.partition("#")[0]).rstrip("/").rpartition("/")[2] for link in links]
    return [normalised(name) for name in names if name.isascii() and name.isprintable()]


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
    """Yield the files of a page of links in the same form."""
    for each in links_of(answer.body, address):
        link = each.partition("#")[0]
        yield {"filename": unquote(link.partition("?")[0]).rpartition("/")[2], "url": link}


def _file(row: dict[str, Any], page: str) -> IndexedFile | None:
    """Return a file of a page; None for a row that is not a file on a web server."""
    name, link = row.get("filename"), row.get("url")
    if not (isinstance(name, str) and isinstance(link, str) and name.isprintable()):
        return None
    address = _absolute(page, link)
    return IndexedFile(name, address) if address is not None else None


def _absolute(page: str, link: str) -> str | None:
    """Return the address of a link; None if it is not a web server's.

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


def _dicts(rows: object) -> Iterable[dict[str, Any]]:
    return (each for each in rows if isinstance(each, dict)) if isinstance(rows, list) else ()


def _parsed(data: bytes, address: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WebError(f"{shown_address(address)}: is no JSON: {error}") from error

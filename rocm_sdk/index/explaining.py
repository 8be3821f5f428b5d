"""The reasons why an installer failed: a lack, by its own words, or a fault on this process's way to the index."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from typing import NoReturn
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from rocm_sdk.index.web.server import Server, WebError, without_user
from rocm_sdk.index.web.simple_index import files_of_project
from rocm_sdk.installed.distributions import LOADER

from .refusal import InstallRefusedError, UnreachedIndexError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .request import Index

_SECONDS = 2  # of the one request
_NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
# The lacking package, its requirer, if that is said, and the versions that there are: the words of pip, then uv's.
_LACKS = (
    re.compile(
        r"that satisfies the requirement (?P<name>[\w.-]+)(?P<version>[^\n(]*?) \(from (?P<by>[\w.-]+)[^)]*\)"
        r" \(from versions: (?P<versions>[^)\n]*)\)"
    ),
    re.compile(r"that satisfies the requirement (?P<name>rocm-sdk-loader)[^\n(]*\(from versions: none\)"),
    re.compile(
        r"Because (?P<name>[\w.-]+) was not found in the package\s+registry and"
        r" (?:all versions of )?(?P<by>[\w.-]+)\S* depends? on"
    ),
    re.compile(r"Because (?P<name>rocm-sdk-loader) was not found in the package\s+registry"),
    re.compile(
        r"Because (?P<name>[\w.-]+?)==\S+\s+has no wheels with a matching.*?"
        r"because\s+(?P<by>[\w.-]+?)==\S+\s+depends\s+on\s+(?P=name)\b",
        re.DOTALL,
    ),
)
# The requirements of the build of a source distribution: the words of pip, then uv's.
_LACKS_TO_BUILD = (
    re.compile(
        r"build dependencies(?: for (?P<by>[\w.-]+))? did not run.*?"
        r"that satisfies the requirement (?P<requirement>[^\n(]*?) \(from versions:",
        re.DOTALL,
    ),
    re.compile(
        r"(?:[Ff]ailed to (?:download and )?build `(?P<by>[\w.-]+?)[=@`].*?)?Failed to resolve requirements from"
        r" `(?:build-system\.requires|setup\.py)[^`]*`.*?No solution found when resolving: `(?P<requirement>[^`\n]+)`",
        re.DOTALL,
    ),
)
_MOST_NAMED = 4  # versions
_PARTS_OF_NAME = 5  # of a wheel: name, version, Python, ABI, platform; a build may stand between
_CUT = (
    re.compile(r"Wheel '[^']*' located at \S*/([^/\s]+\.whl) is invalid"),
    re.compile(r"[Ff]ailed to (?:read|download|extract)\b[^\n]*?([\w.+-]+\.whl)"),
)
_OWN_REACH = re.compile(r"connection broken by|Failed to fetch|ProxyError|error sending request")


def refuse_explained(installer: str, index: Index, project: str, said: str, shown: str) -> NoReturn:
    """Raise InstallRefusedError with the cause, then words of the installer.

    said: all of the words; shown: the last ones.
    """
    known = _of_words(said, index)
    error = None if known or index.is_directory else _error_of(index, project)
    cause, fix = known or _of_network(installer, index, project, said, error) or ("", "")
    message = f"{installer} finds no solution at {index.shown}{cause and f': {cause}'}"
    other = "another release of ROCm (--rocm), another Python (--python), or a mirror of the index (ROCM_SDK_INDEX)"
    refusal = UnreachedIndexError if error is not None and _is_without_network(error, index) else InstallRefusedError
    raise refusal(f"{message}:\n{shown}", fix or other)


def _of_words(said: str, index: Index) -> tuple[str, str] | None:
    for pattern in _LACKS_TO_BUILD:
        if (found := pattern.search(said)) and not found["requirement"].startswith(LOADER):
            required = found["requirement"]
            cause = f"building {found['by'] or 'rocm'} requires {required}, which the index lacks"
            return cause, f"put {required} on {index.shown}: no other index is asked"
    for pattern in _LACKS:
        if found := pattern.search(said):
            return _of_lack({name: text or "" for name, text in found.groupdict().items()}, index)
    for pattern in _CUT:
        if found := pattern.search(said):
            return f"{found[1]} is damaged or cut", "ask those who run the index, or empty the installer's cache"
    return None


def _of_lack(found: dict[str, str], index: Index) -> tuple[str, str]:
    """Return the cause and the fix for a package that another requires.

    The package is not there, or in another version, or for another Python or system.
    """
    name, by = found["name"], found.get("by") or "the build of rocm"
    if name == LOADER:
        return f"it has no {name}, which {by} requires", "put its wheel there, and run rocm-sdk-build index again"
    fix = f"put {name} on {index.shown}: no other index is asked"
    versions = found.get("versions", "none")
    if versions != "none":
        others = versions.split(", ")
        cause = f"it has no {name}{found['version']}, which {by} requires: it has {', '.join(others[-_MOST_NAMED:])}"
        return cause, f"{fix}; or take a build of {by} that requires one of these"
    if elsewhere := _for_others(name, index):
        cause = f"it has no {name} for this Python and system, which {by} requires: it has {elsewhere}"
        return cause, f"another Python (--python), or {fix}"
    return f"it has no {name}, which {by} requires", fix


def _for_others(name: str, index: Index) -> str:
    """Return the wheels of a project, by version and tag of the Python.

    The result is "" if there are none, or the index is not read.
    """
    if index.is_directory:
        return ""
    try:
        files = files_of_project(Server(index.address, seconds=_SECONDS, tries=1), name)
    except WebError:
        return ""
    tags: dict[str, list[str]] = {}
    for parts in (each.name.split("-") for each in files if each.name.endswith(".whl")):
        if len(parts) >= _PARTS_OF_NAME:
            tags.setdefault(parts[1], []).append(parts[-3])
    rows = [f"{version} ({', '.join(dict.fromkeys(each))})" for version, each in tags.items()]
    return f"{name} {', '.join(rows[-_MOST_NAMED:])}" if rows else ""


def _error_of(index: Index, project: str) -> WebError | None:
    """Return the error where this process asks for the page of a project; None if there is none."""
    try:
        files_of_project(Server(index.address, seconds=_SECONDS, tries=1), project)
    except WebError as error:
        return error
    return None


def _is_without_network(error: WebError, index: Index) -> bool:
    """Return whether no server was reached. A silent server was, as was one with another certificate or without TLS."""
    cause = _root(error)
    if isinstance(cause, TimeoutError) or cause is error:
        return not _connects(urlsplit(index.address))
    return isinstance(cause, (socket.gaierror, ConnectionRefusedError)) or getattr(cause, "errno", None) in _NO_WAY


def _connects(address: SplitResult) -> bool:
    port = address.port or {"http": 80}.get(address.scheme, 443)
    try:
        with socket.create_connection((address.hostname or "", port), _SECONDS):
            return True
    except OSError:
        return False


def _of_network(
    installer: str, index: Index, project: str, said: str, error: WebError | None
) -> tuple[str, str] | None:
    """Return what this process sees of the index. error: the error of its own question."""
    address = without_user(index.address)
    if error is not None:
        return _of_error(error, index, project, address)
    if _OWN_REACH.search(said) and not index.is_directory:
        own = "PIP_PROXY, PIP_CERT, pip.conf" if installer == "pip" else "UV_*, ALL_PROXY, SSL_CERT_FILE, uv.toml"
        return f"{installer} does not reach {address}, which this command reaches", f"look at its own settings: {own}"
    return None


def _of_error(error: WebError, index: Index, project: str, address: str) -> tuple[str, str]:
    host = urlsplit(index.address).hostname or address
    where = "ROCM_SDK_INDEX" if "ROCM_SDK_INDEX" in os.environ else "the address"
    if error.status == 404:
        fix = f"{where} must name the directory of the projects, as .../simple/"
        return f"{address} has no project {project}", fix
    if error.status in {401, 403, 407}:
        return f"{host} asks for a password", "put it into ~/.netrc"
    cause = _root(error)
    proxy = _proxy_of(index.address)
    if proxy and not isinstance(cause, ssl.SSLError):
        name, via = proxy
        fix = f"check the variable {name}, or add {host} to no_proxy"
        return f"the proxy {via} does not connect to {host}: {_words(cause)}", fix
    if isinstance(cause, ssl.SSLCertVerificationError):
        fix = "SSL_CERT_FILE names the certificate of its authority"
        return f"the certificate of {host} is not trusted: {cause.verify_message}", fix
    if isinstance(cause, ssl.SSLError):
        return (
            f"{host} does not speak TLS there: {cause.reason or cause}",
            f"check {where}: http:// or https://, and the port",
        )
    if isinstance(cause, socket.gaierror):
        return f"there is no host {host}: {_words(cause)}", f"check {where}, and the name server of this machine"
    if isinstance(cause, ConnectionRefusedError):
        return (
            f"nothing answers at {urlsplit(address).netloc}: {_words(cause)}",
            f"check {where}; the server may be down",
        )
    return str(error), f"check {where}; the server may be down"


def _root(error: BaseException) -> BaseException:
    """Return the first cause of an error; for an error of urllib it is the reason."""
    while True:
        reason = getattr(error, "reason", None)
        following = reason if isinstance(reason, BaseException) else error.__cause__
        if following is None:
            return error
        error = following


def _words(cause: BaseException) -> str:
    return getattr(cause, "strerror", None) or str(cause)


def _proxy_of(address: str) -> tuple[str, str] | None:
    """Return the variable and the address of the proxy that variables name; None if they name none."""
    parts = urlsplit(address)
    found = getproxies().get(parts.scheme) if not proxy_bypass(parts.hostname or "") else None
    return (f"{parts.scheme}_proxy", without_user(found)) if found else None

"""Why an installer failed: something is missing, as it says itself, or a fault lies on the way to the index."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
import time
from contextlib import suppress
from functools import reduce
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.users import user_name
from rocm_sdk.index.web.server import Server, WebError, shown_address, without_user
from rocm_sdk.index.web.simple_index import files_of_project
from rocm_sdk.installed.distributions import LOADER, normalised

from .install_errors import OWN_ENVIRONMENT, InstallRefusedError, UnreachedIndexError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .destination import Destination
    from .request import Index
    from .web.simple_index import IndexedFile

_SECONDS = 2  # of all questions together
_NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
# The messages of installers: installer, kind, pattern. The first that fits counts. A blank stands for any white space,
# NAME for a package, BY for the one that requires it.
# fmt: off
WORDINGS = (
    ("pip", "digest", r"DO NOT MATCH THE HASHES.*?/(?P<name>[^/\s#]+\.(?:whl|tar\.gz))"),
    ("uv", "digest", r"Hash mismatch for `(?P<name>[^`]+)`"),
    ("pip", "space", r"\[Errno (?:28|122)\] [^:\n]+(?:: '(?P<name>[^'\n]+)')?"),
    ("uv", "space", r"(?:`(?P<name>/[^`\n]+)`|\S+): (?:No space left on device|Disk quota exceeded) \(os error"),
    ("pip", "rights", r"\[Errno (?:1|13|30)\] [^:\n]+: '(?P<name>[^'\n]+)'"),
    ("uv", "rights", r"(?:`(?P<name>/[^`\n]+)`|\S+): (?:Permission denied|Operation not permitted|Read-only file system) \(os error"),
    ("pip", "build", r"build dependencies(?: for BY)? did not run.*?that satisfies the requirement (?P<requirement>[^\n(]*?) \(from versions:"),
    ("uv", "build", r"(?:[Ff]ailed to (?:download and )?build `(?P<by>[\w.-]+?)[=@`].*?)?Failed to resolve requirements from `(?:build-system\.requires|setup\.py)[^`]*`.*?No solution found when resolving: `(?P<requirement>[^`\n]+)`"),
    ("pip", "lack", r"that satisfies the requirement NAME(?P<version>[^\s(;]{0,200})[^\n(]{0,200} \(from BY[^)]*\) \(from versions: (?P<versions>[^)\n]*)\)"),
    ("pip", "lack", r"that satisfies the requirement (?P<name>rocm-sdk-loader)[^\n(]*\(from versions: none\)"),
    ("uv", "lack", r"Because NAME was not found in the package registry and (?:all versions of )?BY\S* depends? on"),
    ("uv", "lack", r"Because (?P<name>rocm-sdk-loader) was not found in the package registry"),
    ("uv", "lack", r"Because NAME==\S+ has no wheels with a matching.*?(?:because|and) (?:all versions of )?BY\S* depends? on (?P=name)\b"),
    ("uv", "lack", r"Because there is no version of NAME(?P<version>\S+) and (?:all versions of )?BY\S* depends? on"),
    ("uv", "lack", r"Because only (?:the following versions of )?NAME\b[^,]*? and (?:all versions of )?BY\S* depends? on (?:one of:|(?P=name))(?P<version>\S*?),? (?:we|(?P=name))"),
    ("pip", "cut", r"Wheel '[^']*' located at \S*/(?P<name>[^/\s]+\.whl) is invalid"),
    ("uv", "cut", r"[Ff]ailed to (?:read|download|extract)\b[^\n]*?(?P<name>[\w.+-]+\.whl)"),
    ("pip", "refused", r"HTTP error (?P<status>4\d\d) while getting \S*/(?P<name>[^/\s#?]+)"),
    ("uv", "refused", r"Failed to fetch: \S*/(?P<name>[^/\s#?`]+\.(?:whl|tar\.gz))\S* .*?HTTP status client error \((?P<status>4\d\d)"),
)
# Kind -> the cause and the fix.
_TEXTS = {
    "digest": ("{name} has another SHA-256 than its page of the index says, and nothing of it is installed", "ask those who run the index to put the file and its page in order"),
    "space": ("no space is left for {name}", "free some in {site} or {tmp}; TMPDIR and {tool}_CACHE_DIR name other places"),
    "rights": ("{user} may not write {name}", OWN_ENVIRONMENT + "; for a cache, TMPDIR and {tool}_CACHE_DIR name other places"),
    "build": ("building {by} requires {requirement}, which the index lacks", "put {requirement} on {index}: no other index is asked"),
    "cut": ("{name} is damaged or cut", "ask those who run the index, or empty the installer's cache"),
    "refused": ("a page of it names {name}, for which the server answers {status}", "ask those who run the index"),
}
# fmt: on
_SHORT = {" ": r"\s+", "NAME": r"(?P<name>[\w.-]{1,100})", "BY": r"(?P<by>[\w.-]{1,100})"}  # a name may be hostile
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # of a terminal
# The words of both for a requested project that has no page or no fitting file.
_UNLISTED = re.compile(
    r"that satisfies the requirement ([\w.-]{1,100})[^\n(]{0,200}\(from versions: none\)"
    r"|Because (?:there\s+are\s+no\s+versions\s+of\s+)?([\w.-]{1,100})[^\n,]{0,200}\s+and\s+you\s+require"
)
_MOST_NAMED = 4  # versions
_PARTS_OF_NAME = 5  # of a wheel: name, version, Python, ABI, platform; a build may stand between
_OWN_REACH = re.compile(r"connection broken by|Failed to fetch|ProxyError|error sending request")


class _Asking(NamedTuple):
    """The questions of this process to an index. They have a common deadline, on the monotonic clock."""

    asked: Index
    end: float

    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.01)

    def server(self) -> Server:
        return Server(self.asked.address, seconds=self.left(), tries=1)

    def nearest(self, address: str) -> tuple[str, bytes]:
        """Return the nearest address above one that answers, and its page; "" if none does."""
        while address.count("/") > len("://") and time.monotonic() < self.end:
            address = f"{address.rstrip('/').rpartition('/')[0]}/"
            with suppress(WebError):
                return address, self.server().answer(address, 1 << 23).body
        return "", b""


def explained(destination: Destination, index: Index, project: str, said: str, shown: str = "") -> InstallRefusedError:
    """Return the error with the cause. said: all the installer's words; shown: the last ones, "" if all were shown."""
    asking = _Asking(index, time.monotonic() + _SECONDS)
    known = _of_words(_STYLES.sub("", said), destination, asking)
    unlisted = _UNLISTED.search(_STYLES.sub("", said))
    project = normalised(unlisted[1] or unlisted[2]) if unlisted else project
    page = None if known or index.is_directory else _files_of(asking, project)
    error = page if isinstance(page, WebError) else None
    cause, fix = known or _of_network(destination.installer, asking, project, said, error) or ("", "")
    if not cause and page == []:
        cause = f"its page of {project} has no link to a package"
        fix = "open that page: if it is a form to log in, the name and the password go into ~/.netrc"
    if not shown:
        return InstallRefusedError(f"{destination.installer} failed: {cause or 'its own words are above'}", fix or None)
    message = f"{destination.installer} finds no solution at {index.shown}{cause and f': {cause}'}"
    other = "another release of ROCm (--rocm), another Python (--python), or a mirror of the index (ROCM_SDK_INDEX)"
    refusal = UnreachedIndexError if error is not None and _is_without_network(error, asking) else InstallRefusedError
    return refusal(f"{message}:\n{shown}", fix or other)


def _of_words(said: str, destination: Destination, asking: _Asking) -> tuple[str, str] | None:
    for installer, kind, words in WORDINGS:
        pattern = reduce(lambda text, short: text.replace(*short), _SHORT.items(), words)
        found = re.search(pattern, said, re.DOTALL) if installer == destination.installer else None
        if found is None or (found.groupdict().get("requirement") or "").startswith(LOADER):
            continue
        facts = {name: unquote(text) for name, text in found.groupdict().items() if text is not None}
        if kind == "lack":
            return _of_lack(facts, asking)
        facts = {"name": "the packages", "by": "rocm", "index": asking.asked.shown, "site": destination.site} | facts
        facts |= {"user": user_name(os.geteuid()), "tmp": os.environ.get("TMPDIR", "/tmp"), "tool": installer.upper()}
        cause, fix = _TEXTS[kind]
        return cause.format_map(facts), fix.format_map(facts)
    return None


def _of_lack(found: dict[str, str], asking: _Asking) -> tuple[str, str]:
    """Return the cause and the fix for a required package that is missing, or not there in this version or Python."""
    name, by = found["name"], found.get("by") or "the build of rocm"
    if name == LOADER:
        return f"it has no {name}, which {by} requires", "put its wheel there, and run rocm-sdk-build index again"
    fix = f"put {name} on {asking.asked.shown}: no other index is asked"
    version, versions = found.get("version", ""), found.get("versions", "none").split(", ")
    tags = _tags_of(name, asking) if versions == ["none"] else {}
    if "version" in found and "versions" not in found:  # the installer says that there are others
        versions = [each for each in tags if f"=={each}" != version] or ["none"]
    if versions != ["none"]:
        there = ", ".join(versions[-_MOST_NAMED:])
        cause = f"it has no {name}{version or ' that fits'}, which {by} requires: it has {there}"
        return cause, f"{fix}; or take a build of {by} that requires one of these"
    if tags:
        rows = [f"{version} ({', '.join(dict.fromkeys(each))})" for version, each in tags.items()]
        cause = f"it has no {name} for this Python and system, which {by} requires: it has {name}"
        return f"{cause} {', '.join(rows[-_MOST_NAMED:])}", f"another Python (--python), or {fix}"
    return f"it has no {name}{version}, which {by} requires", fix


def _tags_of(name: str, asking: _Asking) -> dict[str, list[str]]:
    """Return the Python tags of a project's wheels, by version; {} if the index is not read."""
    tags: dict[str, list[str]] = {}
    names = [each.name for each in files] if isinstance(files := _files_of(asking, name), list) else []
    for parts in (each.split("-") for each in names if each.endswith(".whl")):
        if len(parts) >= _PARTS_OF_NAME:
            tags.setdefault(parts[1], []).append(parts[-3])
    return tags


def _files_of(asking: _Asking, project: str) -> list[IndexedFile] | WebError:
    """Return the files of a project, or the error when this process asks for its page."""
    try:
        files = files_of_project(asking.server(), project)
        return [each for each in files if each.name.endswith((".whl", ".tar.gz", ".zip"))]
    except WebError as error:
        return error


def _is_without_network(error: WebError, asking: _Asking) -> bool:
    """Return whether no server was reached. A silent one was reached, and so was one with a bad certificate or no TLS."""
    cause = _root(error)
    if isinstance(cause, TimeoutError) or cause is error:
        return not _connects(asking)
    return isinstance(cause, (socket.gaierror, ConnectionRefusedError)) or getattr(cause, "errno", None) in _NO_WAY


def _connects(asking: _Asking) -> bool:
    address = urlsplit(asking.asked.address)
    port = address.port or {"http": 80}.get(address.scheme, 443)
    try:
        with socket.create_connection((address.hostname or "", port), asking.left()):
            return True
    except OSError:
        return False


def _of_network(
    installer: str, asking: _Asking, project: str, said: str, error: WebError | None
) -> tuple[str, str] | None:
    """Return what this process sees of the index. error: the error of its own request."""
    address = without_user(asking.asked.address)
    if error is not None:
        return _of_error(error, asking, project, address)
    if _OWN_REACH.search(said) and not asking.asked.is_directory:
        own = "PIP_PROXY, PIP_CERT, pip.conf" if installer == "pip" else "UV_*, ALL_PROXY, SSL_CERT_FILE, uv.toml"
        return f"{installer} does not reach {address}, which this command reaches", f"look at its own settings: {own}"
    return None


def _of_error(error: WebError, asking: _Asking, project: str, address: str) -> tuple[str, str]:
    host = urlsplit(address).hostname or address
    where = asking.asked.shown[2:-1] if asking.asked.shown.startswith('"$') else "the address"
    cause, proxy, down = _root(error), _proxy_of(address), f"check {where}; the server may be down"
    if error.status == 407 or "Tunnel connection failed: 407" in str(cause):
        name, via, has_user = proxy or ("http_proxy", host, False)
        refuses = f"refuses the password that {name} has" if has_user else "asks for a password"
        return f"the proxy {via} {refuses}", f"put the right one into {name}, as http://USER:PASSWORD@HOST:PORT"
    if error.status == 401:
        place = where if asking.asked.has_password else "~/.netrc"
        is_given = asking.server().request(asking.asked.address).has_header("Authorization")
        refuses = f"refuses the password that {place} has" if is_given else "asks for a password"
        return f"{host} {refuses}", f"put the right one into {place}"
    if error.status in {403, 404}:
        return _of_missing(error, asking, project, address, where)
    if proxy and not isinstance(cause, ssl.SSLError):
        name, via, _ = proxy
        fix = f"check the variable {name}, or add {host} to no_proxy"
        return f"the proxy {via} does not connect to {host}: {_words(cause)}", fix
    if isinstance(cause, ssl.SSLCertVerificationError):
        fix = "SSL_CERT_FILE names the certificate of its authority"
        return f"the certificate of {host} is not trusted: {cause.verify_message}", fix
    if isinstance(cause, ssl.SSLError):
        return f"{host} does not speak TLS there: {cause.reason or cause}", f"check {where}: its scheme and its port"
    if isinstance(cause, socket.gaierror):
        return f"there is no host {host}: {_words(cause)}", f"check {where}, and the name server of this machine"
    if isinstance(cause, ConnectionRefusedError):
        return f"nothing answers at {urlsplit(address).netloc}: {_words(cause)}", down
    return str(error), down


def _of_missing(error: WebError, asking: _Asking, project: str, address: str, where: str) -> tuple[str, str]:
    """Return the cause and the fix for a missing page, for which some servers answer 403."""
    own = f"{address.rstrip('/')}/"
    if project != asking.asked.project and isinstance(_files_of(asking, asking.asked.project), list):
        cause = f"{address} does not list {project} (the server answers {error.status})"
        return cause, "another stream (--rocm), or an index that has it (ROCM_SDK_INDEX)"
    parent, page = asking.nearest(f"{own}{project}/")
    fix = f"{where} must name the directory of the projects, as .../simple/"
    if error.status == 403 and not parent and "www-authenticate" in getattr(_root(error), "headers", {}):
        return f"{address} is forbidden, or not there (403)", f"check {where}; a password goes into ~/.netrc"
    cause = f"{address} has no project {project}" + (" (the server answers 403)" if error.status == 403 else "")
    if parent == own and b".whl" in page:
        return f"{cause}: it is a page of files, and no index", f"{fix}: rocm-sdk-build index makes it of files"
    return cause, fix if parent in {"", own} else f"{fix}: {parent} is the nearest one above that answers"


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


def _proxy_of(address: str) -> tuple[str, str, bool] | None:
    """Return the variable of the proxy for an address, the proxy, and whether it has a user; None if there is none."""
    parts = urlsplit(address)
    found = getproxies().get(parts.scheme) if not proxy_bypass(parts.hostname or "") else None
    return (f"{parts.scheme}_proxy", shown_address(found), "@" in found) if found else None

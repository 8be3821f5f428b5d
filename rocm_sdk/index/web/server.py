"""The reader of files on web servers, which may be hostile.

Sizes, headers and addresses are checked. An error is a WebError that names the address, without its password.
"""

from __future__ import annotations

import base64
import http.client
import netrc
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit, urlunsplit

SCHEMES = ("http://", "https://")
_TRIES = 3
_PAUSE = 2.0  # seconds before the second try, and twice as long before the third
_TIMEOUT = 60  # seconds without data
_CHUNK = 1 << 20
_KEPT = "/%:@!$&'()*+,;=~-._"  # the characters that have a meaning in an address, and % of quoted ones

# docs/limits.md has these limits and their reasons.
FILE_LIMIT, UNANNOUNCED_LIMIT = 32_000_000_000, 256_000_000  # bytes

_Result = TypeVar("_Result")


class WebError(Exception):
    """The error for a file that a server does not give.

    `str()` says which file, and why; `fix` says what to do; status is the HTTP status, or 0.
    """

    def __init__(self, message: str, fix: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.fix = fix
        self.status = status


class TooLargeError(WebError):
    """The error for a file that is larger than the limit."""


class UnreachedError(WebError):
    """The error for a server that does not answer, or for which all tries failed."""


class Limits(NamedTuple):
    """The limits of a file, in bytes."""

    announced: int = FILE_LIMIT  # if the server announces the size
    unannounced: int = UNANNOUNCED_LIMIT


class Answer(NamedTuple):
    """The answer of a server. address: the address after redirects."""

    body: bytes
    address: str
    status: int
    headers: Message


class _BrokenError(Exception):
    """The exception for a transfer that failed; another try may work."""


class Server:
    """The server of an address that the user gave, with the user and password for it."""

    def __init__(
        self, address: str, limits: Limits | None = None, seconds: float | None = None, tries: int = _TRIES
    ) -> None:
        """Check the address. Raise WebError if it is not valid.

        seconds: the time that an answer may take, all tries together; None: no limit, as long as data comes.
        """
        parts, user = _checked(address)
        self.address = urlunsplit(parts)
        self._scheme, self._host = parts.scheme, parts.netloc
        self._user = user
        self._limits = limits or Limits()
        self._seconds = seconds
        self._tries = tries
        self._opener = urllib.request.build_opener(_Redirects(self))

    def read(self, address: str, limit: int) -> bytes:
        """Read a small file."""
        return self.answer(address, limit).body

    def answer(self, address: str, limit: int, headers: Mapping[str, str] | None = None, status: int = 0) -> Answer:
        """Return the answer to a request with these headers.

        limit: the bytes of its body. status: the expected status; another one raises WebError.
        """

        def call() -> Answer:
            with self._opened(address, headers or {}) as answer:
                if status not in {0, answer.status}:
                    raise WebError(f"{address}: answers {answer.status} instead of {status}", "", answer.status)
                body = b"".join(_chunks(answer, address, Limits(limit, limit)))
                return Answer(body, answer.geturl(), answer.status, answer.headers)

        if self._seconds is None:
            return _trying(address, call, self._tries)
        return _within(self._seconds, address, lambda: _trying(address, call, self._tries))

    def save(self, address: str, write: Callable[[Iterator[bytes]], None], directory: Path) -> None:
        """Call `write` with the chunks of a file, anew for each try. directory: must have room for the file."""

        def call() -> None:
            with self._opened(address, {}) as answer:
                write(_chunks(answer, address, self._limits, directory))

        _trying(address, call, self._tries)

    @contextmanager
    def _opened(self, address: str, headers: Mapping[str, str]) -> Iterator[Any]:
        request = self.request(address, headers)
        timeout = _TIMEOUT if self._seconds is None else min(_TIMEOUT, self._seconds)
        with _failing(address, lambda: self._opener.open(request, timeout=timeout)) as answer:
            yield answer

    def request(self, address: str, headers: Mapping[str, str] | None = None) -> urllib.request.Request:
        """Return the request for a file, with user and password if it is the server that they are for."""
        parts, _ = _checked(address)
        request = urllib.request.Request(urlunsplit(parts), headers=dict(headers or {}))
        if parts.scheme == self._scheme:
            user = self._user if self._user and parts.netloc == self._host else _of_netrc(parts.hostname or "")
            if user:
                request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(user.encode()).decode()}")
        return request


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, server: Server) -> None:
        self._server = server

    def redirect_request(  # noqa: PLR0917 - urllib's
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if super().redirect_request(req, fp, code, msg, headers, without_user(newurl)) is None:
            return None
        try:
            refuse_downgrade(req.full_url, newurl)
            return self._server.request(newurl, req.headers)
        except WebError:
            fp.close()
            raise


def refuse_downgrade(address: str, other: str) -> None:
    """Raise WebError if an encrypted address leads to one without encryption.

    Anybody on the way could change the answers from such an address.
    """
    if address.lower().startswith("https:") and other.lower().startswith("http:"):
        shown = shown_address(other)
        raise WebError(
            f"{shown_address(address)}: leads to {shown!r}, without encryption", "ask those who run the server"
        )


def without_user(address: str) -> str:
    """Return the address without user and password, which servers do not expect there."""
    head, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{head}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else address


def shown_address(address: str) -> str:
    """Return the address for messages, without everything before the last @.

    A password may contain a slash, or a slash may have been forgotten.
    """
    plain = without_user(address)
    return plain.rpartition("@")[2]


def _checked(address: str) -> tuple[Any, str]:
    """Return the parts of an address as servers want them, and `user:password`."""
    shown = shown_address(address)
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = "" if parts.port is None else f":{parts.port}"
        name = f"[{host}]" if ":" in host else host.encode("idna").decode("ascii")
    except ValueError as error:  # UnicodeError, too
        raise WebError(f"{shown!r} is no address of a web server", "check the host and the port") from error
    if not name or parts.scheme not in ("http", "https") or any(c <= " " or c == "\x7f" for c in name):
        raise WebError(f"{shown!r} is no address of a web server", "check the host and the port")
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    path, query = (quote(text, safe=f"{_KEPT}?") for text in (parts.path, parts.query))
    return parts._replace(netloc=f"{name}{port}", path=path, query=query, fragment=""), user


def _of_netrc(host: str) -> str:
    """Return `user:password` of a host in the user's .netrc, as curl and pip read it; "" if it has none."""
    path = Path(os.environ.get("NETRC") or os.path.expanduser("~/.netrc"))
    if not path.is_file():
        return ""
    try:
        found = netrc.netrc(str(path)).authenticators(host)
    except netrc.NetrcParseError as error:  # the error's text may have the password
        raise WebError(f"{path}:{error.lineno}: no valid line of a .netrc file") from error
    except (OSError, UnicodeError) as error:
        raise WebError(f"{path}: cannot be read: {error}") from error
    return f"{found[0]}:{found[2]}" if found else ""


def _chunks(answer: Any, address: str, limits: Limits, directory: Path | None = None) -> Iterator[bytes]:
    """Yield the body in chunks. directory: must have room for the body."""
    announced = answer.length
    limit = limits.unannounced if announced is None else limits.announced
    fix = "--download-limit sets another for archives" if directory is not None else ""
    if announced is not None and announced > limit:
        raise TooLargeError(f"{address}: would have {announced} bytes; the limit is {limit}", fix)
    if directory is not None and announced is not None:
        disk = os.statvfs(directory)
        if announced > disk.f_bavail * disk.f_frsize:
            raise WebError(f"{directory}: has no room for the {announced} bytes of {address}")
    done = 0
    while chunk := _failing(address, lambda: answer.read(_CHUNK)):
        done += len(chunk)
        if done > limit:
            said = "" if announced is not None else ", and the server did not say how many"
            raise TooLargeError(f"{address}: has more than {limit} bytes{said}; the limit is {limit}", fix)
        yield chunk
    if answer.length:
        raise _BrokenError(f"{answer.length} bytes are missing")


def _failing(address: str, call: Callable[[], _Result]) -> _Result:
    """Call something that reads from the network. Raise WebError for a refusal, _BrokenError for a failed transfer."""
    try:
        return call()
    except urllib.error.HTTPError as error:
        error.close()
        if error.code < 500:  # a refused request is not repeated
            raise _given_up(address, error.reason, error.code) from error
        raise _BrokenError(error.reason) from error
    except (OSError, http.client.HTTPException) as error:
        raise _BrokenError(_reason(error)) from error
    except ValueError as error:  # the headers are not as they should be
        raise _BrokenError(f"the answer is not valid: {error}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "the answer ends too early"
    if isinstance(error, http.client.HTTPException) and not isinstance(error, http.client.RemoteDisconnected):
        return f"the answer is not valid: {type(error).__name__}: {str(error)[:100]!r}"
    return str(getattr(error, "reason", error))


def _given_up(address: str, reason: object, status: int = 0) -> WebError:
    kind = WebError if status else UnreachedError
    return kind(f"{address}: cannot be had: {reason}", "check the address; a server may be down", status)


def _trying(address: str, call: Callable[[], _Result], tries: int) -> _Result:
    for left in reversed(range(tries)):
        try:
            return call()
        except _BrokenError as error:  # noqa: PERF203 - of few tries
            if left == 0:
                raise _given_up(address, error) from error
            time.sleep(_PAUSE * 2 ** (tries - 1 - left))
    raise AssertionError


def _within(seconds: float, address: str, call: Callable[[], _Result]) -> _Result:
    """Call in a thread, which is left behind when the time is over.

    Name look-ups and the reading of headers have no time limit of their own.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if results:
        return results[0]
    if errors:
        raise errors[0]
    raise UnreachedError(f"{address}: did not answer within {seconds:g} s", "try again; a server may be overloaded")

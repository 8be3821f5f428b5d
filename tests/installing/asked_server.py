"""A web server of an index of small wheels that answers as servers of reports do, and keeps what it was asked."""

import base64
import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from package_index import write_wheel
from web_server import serving

GPU = "gfx1100"


class Server(ThreadingHTTPServer):
    """The server, and how it answers."""

    missing = 404  # the status for what is not there
    asks = False  # whether that answer names a way to give a password
    user = ""  # `user:password` that all answers need
    token = ""  # the query that files need
    pause = 0.0  # before an answer for a directory that is no project's, in seconds
    lists = True  # whether directories without a page are listed
    asked: list[str]
    open: threading.Event  # each answer waits for it

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(SimpleHTTPRequestHandler):
    server: Server

    def log_message(self, *arguments: object) -> None:
        del arguments

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.open.wait()
        path, _, query = self.path.partition("?")
        if self.server.user:
            given = self.headers.get("Authorization", "").removeprefix("Basic ")
            if base64.b64decode(given).decode() != self.server.user:
                return self._refuse(401, asks=True)
        if path.endswith(".whl") and query != self.server.token:
            return self._refuse(403, asks=False)
        if not path.endswith(".whl") and "/rocm/" not in path:
            time.sleep(self.server.pause)
        return super().do_GET()

    def do_CONNECT(self) -> None:
        self._refuse(407, asks=True)

    def list_directory(self, path: str) -> None:  # type: ignore[override]
        if not self.server.lists:
            return self.send_error(404)
        return super().list_directory(path)  # type: ignore[return-value]

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        del message, explain
        self._refuse(self.server.missing if code == HTTPStatus.NOT_FOUND else code, asks=self.server.asks)

    def _refuse(self, status: int, *, asks: bool) -> None:
        self.send_response(status)
        if asks:
            self.send_header("Proxy-Authenticate" if status == 407 else "WWW-Authenticate", 'Basic realm="index"')
        self.send_header("Content-Length", "0")
        self.end_headers()


class _Proxy(_Handler):
    def do_GET(self) -> None:
        self._refuse(407, asks=True)


@contextmanager
def served(directory: Path, handler: type[_Handler] = _Handler) -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), partial(handler, directory=str(directory)))
    server.asked, server.open = [], threading.Event()
    server.open.set()
    with serving(server):
        yield server


@contextmanager
def refusing_proxy(directory: Path) -> Iterator[Server]:
    """Yield a proxy that wants another password than each that it gets."""
    with served(directory, _Proxy) as server:
        yield server


def write_sdk(directory: Path, *requires: str, release: str = "10.0.0", core: bool = True) -> Path:
    """Write the packages of an SDK whose core has these requirements; return the wheel of core, which may be absent."""
    extra = f"device-{GPU}"
    needed = (f"rocm-sdk-core=={release}", f'rocm-sdk-device-{GPU}=={release}; extra == "{extra}"')
    write_wheel(directory, "rocm", release, needed, f"libraries,{extra}")
    write_wheel(directory, f"rocm-sdk-device-{GPU}", release)
    wheel = write_wheel(directory, "rocm-sdk-core", release, requires)
    if not core:
        wheel.unlink()
    return wheel


def write_pages(directory: Path, place: str = "simple", wrong: str = "", query: str = "") -> None:
    """Write a page for each project. wrong: the beginning of files with another digest. query: of each link."""
    up = "../" * (place.count("/") + 2)
    for file in sorted([*directory.glob("*.whl"), *directory.glob("*.tar.gz")]):
        project = directory / place / file.name.removesuffix(".tar.gz").partition("-")[0].replace("_", "-")
        project.mkdir(parents=True, exist_ok=True)
        is_wrong = bool(wrong) and file.name.startswith(wrong)
        digest = hashlib.sha256(file.read_bytes() + b"x" * is_wrong).hexdigest()
        link = f"{up}{file.name.replace('+', '%2B')}{query}#sha256={digest}"
        with (project / "index.html").open("a") as page:
            page.write(f'<a href="{link}">{file.name}</a>\n')

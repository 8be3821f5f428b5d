"""An index of wheels as PyPI serves it, for tests: pages as JSON or HTML, range requests."""

import hashlib
import html
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from web_server import serving

CORE, LIBRARIES = "rocm_sdk_core-7.10.0-py3-none-any.whl", "rocm_sdk_libraries-7.10.0-py3-none-any.whl"
PROJECT = re.compile(r"/simple/([\w-]+)/")


class Index:
    """The index, and what it is made to say: each field is looked at for each request."""

    def __init__(self, wheels: Path, server: ThreadingHTTPServer) -> None:
        self.wheels = wheels
        self.root = f"http://127.0.0.1:{server.server_port}/"
        self.address = f"{self.root}simple/"
        self.form = "json"
        self.sends_parts = True
        self.digests: dict[str, str] = {}  # file name -> another SHA-256
        self.change: Callable[[dict[str, Any]], None] = lambda _row: None  # of a file on a page
        self.page: bytes | None = None  # in place of each page
        self.raw: dict[str, bytes] = {}  # path -> all bytes of an answer
        self.asked: list[tuple[str, str]] = []  # path, Range
        self.sent = 0  # bytes of bodies

    def rows(self, project: str) -> list[dict[str, Any]]:
        """Return the files of a project as PEP 691 has them."""
        found = []
        for wheel in sorted(self.wheels.glob("*.whl")):
            if wheel.name.partition("-")[0].replace("_", "-") == project:
                row = {
                    "filename": wheel.name,
                    "url": f"../../files/{wheel.name}",
                    "hashes": {"sha256": self.digests.get(wheel.name) or sha256(wheel.read_bytes())},
                    "core-metadata": {"sha256": sha256(member(wheel, "METADATA"))},
                }
                self.change(row)
                found.append(row)
        return found

    def document(self, project: str) -> tuple[str, bytes] | None:
        """Return the content type and the page of a project, or None if the index has no file of it."""
        rows = self.rows(project)
        if not rows:
            return None
        if self.form == "json":
            page = {"meta": {"api-version": "1.1"}, "name": project, "files": rows}
            return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()
        lines = []
        for row in rows:
            more = f' data-core-metadata="sha256={row["core-metadata"]["sha256"]}"' if row["core-metadata"] else ""
            more += ' data-yanked=""' if row.get("yanked") else ""
            link = f"{row['url']}#sha256={row['hashes']['sha256']}" if row["hashes"] else row["url"]
            lines.append(f'<a href="{html.escape(link)}"{more}>{html.escape(row["filename"])}</a><br>')
        return "text/html; charset=utf-8", "\n".join(lines).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def member(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (found,) = (each for each in archive.namelist() if each.endswith(f".dist-info/{name}"))
        return archive.read(found)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    index: Index

    def log_message(self, *arguments: object) -> None:
        del arguments

    def do_GET(self) -> None:
        index = self.index
        index.asked.append((self.path, self.headers.get("Range", "")))
        project = PROJECT.fullmatch(self.path)
        if self.path in index.raw:
            self.wfile.write(index.raw[self.path])
            self.close_connection = True
        elif project is not None:
            page = index.document(project[1]) if index.page is None else ("text/html", index.page)
            self._send(404 if page is None else 200, *(page or ("text/plain", b"there is none")))
        elif self.path.endswith(".whl.metadata"):
            wheel = index.wheels / unquote(self.path[7:]).removesuffix(".metadata")
            self._send(200, "text/plain", member(wheel, "METADATA"))
        elif self.path.startswith("/files/") and (path := index.wheels / unquote(self.path[7:])).is_file():
            self._send_file(path.read_bytes())
        else:
            self._send(404, "text/plain", b"there is none")

    def _send_file(self, data: bytes) -> None:
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted is None or not self.index.sends_parts:
            self._send(200, "application/octet-stream", data)
            return
        start = int(wanted[1]) if wanted[1] else max(0, len(data) - int(wanted[2]))
        end = min(int(wanted[2]), len(data) - 1) if wanted[1] and wanted[2] else len(data) - 1
        said = {"Content-Range": f"bytes {start}-{end}/{len(data)}", "ETag": f'"{sha256(data)}"'}
        self._send(206, "application/octet-stream", data[start : end + 1], said)

    def _send(self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.index.sent += len(body)


@contextmanager
def indexed(wheels: Path) -> Iterator[Index]:
    """Serve the wheels of a directory, and yield their index."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.index = index = Index(wheels, server)  # type: ignore[attr-defined]
    with serving(server):
        yield index

"""Transfers that break: what is tried again, what is not, and what is left."""

import hashlib
import http.server
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from web_server import serving

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.download import download

NAME = "base_run_generic.tar.xz"
CONTENT = b"content of an archive, " * 100


class Server:
    """A server that answers with the pages of `pages`.

    The first `broken` answers for an archive end too early, or have `status`.
    """

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {"/": f'<a href="{NAME}">x</a>'.encode(), f"/{NAME}": CONTENT}
        self.broken, self.status = 0, 200
        self.asked: Counter[str] = Counter()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked[self.path] += 1
                body = outer.pages.get(self.path)
                is_broken = self.path == f"/{NAME}" and outer.asked[self.path] <= outer.broken
                if body is None or (is_broken and outer.status != 200):
                    self.send_error(404 if body is None else outer.status)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if is_broken else body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Yield a server, and let nobody wait between two tries."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    found = Server()
    with serving(found.server):
        yield found


@pytest.mark.parametrize("status", [200, 500, 503])
def test_what_works_at_the_third_try(server: Server, tmp_path: Path, status: int) -> None:
    """200: the connection ends in the midst of the file."""
    server.broken, server.status = 2, status
    place = download(server.address, tmp_path / "kept", ())
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {NAME: CONTENT}
    assert server.asked[f"/{NAME}"] == 3


@pytest.mark.parametrize(
    ("status", "tries", "cause"),
    [(200, 3, "bytes are missing"), (503, 3, "Service Unavailable"), (403, 1, "Forbidden")],
)
def test_what_does_not_work(server: Server, tmp_path: Path, status: int, tries: int, cause: str) -> None:
    """A file without a digest, too: half of it is not the file."""
    server.broken, server.status = 9, status
    with pytest.raises(PackagingError, match=f"/{NAME}: cannot be had: .*{cause}"):
        download(server.address, tmp_path / "kept", ())
    assert server.asked[f"/{NAME}"] == tries
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


def test_the_length_of_a_digest_file(server: Server, tmp_path: Path) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest().encode()
    server.pages["/"] += f'<a href="{NAME}.sha256sum">x</a>'.encode()
    server.pages[f"/{NAME}.sha256sum"] = digest + b" " * (4096 - 64)
    download(server.address, tmp_path / "kept", ())
    server.pages[f"/{NAME}.sha256sum"] += b" "
    with pytest.raises(PackagingError, match=r"sha256sum: .* 4096( bytes)?"):
        download(server.address, tmp_path / "kept", ())

"""A file of a web server that is read in parts, and a server that does something else meanwhile."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from web_server import serving

from rocm_sdk.index.web.remote_file import BLOCK, RemoteFile
from rocm_sdk.index.web.server import Server, TooLargeError, WebError

SIZE = 20 * BLOCK


class Shelf:
    """The file of a server, and the ways in which the server answers."""

    def __init__(self) -> None:
        self.address = ""
        self.data = bytes(number % 251 for number in range(SIZE))
        self.tag = '"one"'
        self.heeds_tags = True
        self.extra = 0  # bytes that the file has more, as Content-Range says


class _Handler(BaseHTTPRequestHandler):
    shelf: Shelf

    def log_message(self, *arguments: object) -> None:
        del arguments

    def do_GET(self) -> None:
        shelf = self.shelf
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        old = self.headers.get("If-Range", shelf.tag) != shelf.tag
        size = len(shelf.data)
        if wanted is None or (old and shelf.heeds_tags):
            self.send_response(200)
            body = shelf.data
        else:
            start = int(wanted[1]) if wanted[1] else size - int(wanted[2])
            end = int(wanted[2]) if wanted[1] else size - 1
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{size + shelf.extra}")
            body = shelf.data[start : end + 1]
        self.send_header("ETag", shelf.tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    handler = type("Handler", (_Handler,), {"shelf": Shelf()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.shelf.address = f"http://127.0.0.1:{server.server_port}/x.whl"  # type: ignore[attr-defined]
        with serving(server):
            yield handler.shelf  # type: ignore[attr-defined]


def opened(shelf: Shelf, limit: int = SIZE) -> RemoteFile:
    return RemoteFile(Server(shelf.address, seconds=20), shelf.address, limit)


def test_a_file_in_parts(shelf: Shelf) -> None:
    file = opened(shelf)
    assert file.size == SIZE
    for place in (5 * BLOCK - 3, 0, SIZE - 10, 5 * BLOCK + 100):
        file.seek(place)
        assert file.read(20) == shelf.data[place : place + 20]


@pytest.mark.parametrize("heeds_tags", [True, False])
def test_a_file_that_changes_is_no_file_of_two_halves(shelf: Shelf, heeds_tags: bool) -> None:
    """The server sends a part only of the version that was begun with; one that knows of none shows another size."""
    file = opened(shelf)
    if heeds_tags:
        shelf.data, shelf.tag = shelf.data[::-1], '"two"'
    else:
        shelf.heeds_tags, shelf.extra = False, 1
    file.seek(0)
    said = "the whole file, which has changed meanwhile" if heeds_tags else "another part than was asked for"
    with pytest.raises(WebError, match=said):
        file.read(10)


def test_all_parts_together_have_a_limit(shelf: Shelf) -> None:
    """The end has two blocks."""
    file = opened(shelf, 5 * BLOCK)
    for number in range(3):
        file.seek(number * BLOCK)
        assert len(file.read(BLOCK)) == BLOCK
    file.seek(3 * BLOCK)
    with pytest.raises(TooLargeError, match="the limit is 0") as refused:
        file.read(BLOCK)
    assert not refused.value.fix, "an option of rocm-sdk-build artifacts does not help"

"""The end of a download, whatever a server answers: words that name the address, limits, no password."""

import base64
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from programs import completed

from rocm_sdk.index.web.links import LINK_LIMIT, PAGE_LIMIT
from rocm_sdk.index.web.server import UNANNOUNCED_LIMIT, Limits, Server, WebError, refuse_downgrade
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.download import download

NAME = "base_lib_generic.tar.xz"
Answer = bytes | Callable[[socket.socket], None]


class RawServer:
    """A server that answers each path with raw bytes, and closes the connection."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.address = f"http://{self.host}/"
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection, suppress(OSError):
                request = connection.recv(1 << 16).decode("latin-1")
                if not request:
                    return
                self.requests.append(request)
                answer = self.answers.get(request.split(" ")[1], b"HTTP/1.0 404 Not Found\r\n\r\n")
                if callable(answer):
                    answer(connection)
                else:
                    connection.sendall(answer)

    def close(self) -> None:
        with socket.create_connection(self._socket.getsockname()):
            pass
        self._thread.join()
        self._socket.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[RawServer]:
    monkeypatch.setattr("rocm_sdk.index.web.server._PAUSE", 0.0)
    monkeypatch.setattr("rocm_sdk.index.web.server._TIMEOUT", 2)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    found = RawServer()
    yield found
    found.close()


def ok(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def page(*links: str) -> bytes:
    return ok("".join(f'<a href="{link}">x</a>' for link in links).encode())


def endless(start: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(bytes(1 << 16))

    return answer


MANY_HEADERS = b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n"
BAD_ANSWERS: dict[str, tuple[Answer, str]] = {
    "no status": (b"hello\r\n\r\n", "the answer is not valid: BadStatusLine"),
    "a status of letters": (b"HTTP/1.1 ABC OK\r\n\r\n", "the answer is not valid: BadStatusLine"),
    "nothing": (b"", "closed connection without response"),
    "many headers": (MANY_HEADERS, "the answer is not valid: HTTPException: 'got more than 100 headers'"),
    "a long header": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000, "the answer is not valid: LineTooLong"),
    "an endless header": (endless(b"HTTP/1.1 200 OK\r\nX: "), "the answer is not valid: LineTooLong"),
    "chunks of letters": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "ends too early"),
    "a chunk that is cut": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nab", "ends too early"),
    "a negative length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "links to no artifact"),
    "a body that is cut": (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc", "96 bytes are missing"),
    "an error of the server": (b"HTTP/1.1 500 Oops\r\n\r\n", "cannot be had: Oops"),
    "a loop": (b"HTTP/1.1 302 Found\r\nLocation: #x\r\n\r\n", "infinite loop"),
    "a file": (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", "(not allowed|no address)"),
    "nowhere": (b"HTTP/1.1 302 Found\r\nLocation: http://x:y:z/\r\n\r\n", "is no address of a web server"),
}


@pytest.mark.parametrize("name", sorted(BAD_ANSWERS))
def test_a_bad_answer_is_named(server: RawServer, tmp_path: Path, name: str) -> None:
    server.answers["/"], message = BAD_ANSWERS[name]
    with pytest.raises(PackagingError, match=message) as caught:
        download(server.address, tmp_path / "kept", ())
    assert server.address in str(caught.value) or "no address" in message
    server.answers |= {"/": page(NAME), f"/{NAME}": BAD_ANSWERS[name][0]}
    if name != "a negative length":  # an archive to the end of the connection, of no bytes
        with pytest.raises(PackagingError, match=message):
            download(server.address, tmp_path / "kept", ())
    assert all(path.name == NAME for path in (tmp_path / "kept").glob("*/*"))


# ---- sizes ----


def test_a_body_without_end_is_ended(server: RawServer, tmp_path: Path) -> None:
    server.answers |= {"/": page(NAME), f"/{NAME}": endless(b"HTTP/1.1 200 OK\r\n\r\n")}
    start = time.process_time()
    with pytest.raises(
        PackagingError, match=f"more than {UNANNOUNCED_LIMIT} bytes, and the server did not say"
    ) as caught:
        download(server.address, tmp_path / "kept", ())
    assert time.process_time() - start < 5
    assert "--download-limit" in caught.value.fix
    assert list((tmp_path / "kept").glob("*/*")) == []
    server.answers["/"] = endless(b"HTTP/1.1 200 OK\r\n\r\n")
    with pytest.raises(PackagingError, match=f"{server.address}: has more than 8388608 bytes"):
        download(server.address, tmp_path / "kept", ())


def test_sizes_at_the_limit_and_one_above(server: RawServer, tmp_path: Path) -> None:
    server.answers["/"] = page(NAME)
    for head, said in ((f"Content-Length: {1000}\r\n", "would have 1000 bytes"), ("", "has more than 999 bytes")):
        server.answers[f"/{NAME}"] = f"HTTP/1.0 200 OK\r\n{head}\r\n".encode() + bytes(1000)
        place = download(server.address, tmp_path / "kept", (), Limits(1000, 1000))
        assert (place / NAME).stat().st_size == 1000
        with pytest.raises(PackagingError, match=f"{said}.*the limit is 999"):
            download(server.address, tmp_path / "kept", (), Limits(999, 999))


def test_more_than_the_disk_has_is_refused_at_once(server: RawServer, tmp_path: Path) -> None:
    server.answers |= {"/": page(NAME), f"/{NAME}": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\n"}
    with pytest.raises(PackagingError, match="has no room for the 99999999999999999 bytes of"):
        download(server.address, tmp_path / "kept", (), Limits(1 << 60, 1 << 60))
    with pytest.raises(PackagingError, match="would have 99999999999999999 bytes; the limit is 32000000000"):
        download(server.address, tmp_path / "kept", ())


def test_no_space_left_names_the_output(server: RawServer, tmp_path: Path) -> None:
    server.answers |= {"/": page(NAME), f"/{NAME}": ok(bytes(1 << 16))}
    place = tmp_path / "kept"
    code = f"""
import resource, signal, sys
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.download import download
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, 1 << 12))
try:
    download({server.address!r}, __import__("pathlib").Path({str(place)!r}), ())
except PackagingError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(place)), done
    assert done.stdout.endswith(f"{NAME}: cannot be written: File too large\n")


def test_a_killed_download_leaves_nothing(server: RawServer, tmp_path: Path) -> None:
    started, may_end = threading.Event(), threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + bytes(4_000_000))
        started.set()
        may_end.wait(60)

    server.answers |= {"/": page(NAME), f"/{NAME}": answer}
    code = f"""
from pathlib import Path
from rocm_sdk_build.inputs.download import download
download({server.address!r}, Path({str(tmp_path / "kept")!r}), ())
"""
    with subprocess.Popen([sys.executable, "-B", "-c", code]) as child:
        assert started.wait(60)
        child.kill()
    may_end.set()
    (place,) = (tmp_path / "kept").iterdir()
    assert list(place.iterdir()) == []
    (place / ".rocm-sdk-build-other").mkdir(mode=0o700)  # of another run, on a file system without nameless files
    (place / f"{NAME}.partial").touch()
    server.answers[f"/{NAME}"] = ok(b"x")
    assert download(server.address, tmp_path / "kept", ()) == place
    assert {path.name for path in place.iterdir()} <= {NAME, ".rocm-sdk-build-other"}


def test_pages_have_a_number_of_links(server: RawServer, tmp_path: Path) -> None:
    limit = LINK_LIMIT
    server.answers |= {"/": page(NAME, *["x"] * (limit - 1)), f"/{NAME}": ok(b"x")}
    download(server.address, tmp_path / "kept", ())
    server.answers["/"] = page(NAME, *["x"] * limit)
    with pytest.raises(PackagingError, match=f"has {limit + 1} links, more than the limit of {limit}"):
        download(server.address, tmp_path / "kept", ())


@pytest.mark.parametrize("part", ["<a", "<!--", "</", "<!", "<![", "<?", "&#", "<a href='", "<a b='", "<script>"])
def test_the_largest_page_takes_seconds(server: RawServer, tmp_path: Path, part: str) -> None:
    server.answers["/"] = ok((part * PAGE_LIMIT)[:PAGE_LIMIT].encode())
    start = time.process_time()
    with pytest.raises(PackagingError, match="links"):
        download(server.address, tmp_path / "kept", ())
    assert time.process_time() - start < 5


# ---- addresses ----


def test_odd_links(server: RawServer, tmp_path: Path) -> None:
    links = (
        "a%00_lib_generic.tar.xz",
        "a\0_lib_generic.tar.xz",
        "http://[x/y_lib_generic.tar.xz",
        "//x:y/a_b_c.tar.xz",
    )
    ours = ("h\u00e4h_lib_generic.tar.xz", "a b_lib_generic.tar.xz", "c%20d_lib_generic.tar.xz")
    server.answers |= {
        "/": page(links[0], links[1], links[2], *ours),
        "/h%C3%A4h_lib_generic.tar.xz": ok(b"1"),
        "/a%20b_lib_generic.tar.xz": ok(b"2"),
        "/c%20d_lib_generic.tar.xz": ok(b"3"),
    }
    place = download(server.address, tmp_path / "kept", ())
    found = {path.name: path.read_bytes() for path in place.iterdir()}
    assert found == {ours[0]: b"1", ours[1]: b"2", "c d_lib_generic.tar.xz": b"3"}
    server.answers["/"] = page(links[3])
    with pytest.raises(PackagingError, match=r"//x:y/a_b_c.tar.xz' is no address of a web server"):
        download(server.address, tmp_path / "kept", ())


@pytest.mark.parametrize(
    "text", ["http://", "http://x:y/", "http://[::1/", "http://a b/", "http://\u00e4..x/", "http://x\0y/"]
)
def test_bad_addresses(tmp_path: Path, text: str) -> None:
    with pytest.raises(PackagingError, match="is no address of a web server"):
        download(text, tmp_path, ())
    with pytest.raises(PackagingError, match="is no address of a web server") as caught:
        download(text.replace("://", "://user:secret@"), tmp_path, ())
    assert "secret" not in str(caught.value)


def authorized(server: RawServer) -> list[str]:
    found = []
    for request in server.requests:
        lines = [line.partition(": ")[2] for line in request.split("\r\n") if line.lower().startswith("authorization")]
        found.append(base64.b64decode(lines[0].split()[1]).decode() if lines else "")
    return found


def test_user_and_password(server: RawServer, tmp_path: Path) -> None:
    other = RawServer()
    try:
        other.answers[f"/{NAME}"] = ok(b"x")
        server.answers |= {
            "/run": b"HTTP/1.1 302 Found\r\nLocation: /run/\r\nContent-Length: 0\r\n\r\n",
            "/run/": page(NAME),
            f"/run/{NAME}": f"HTTP/1.1 302 Found\r\nLocation: {other.address}{NAME}\r\n\r\n".encode(),
        }
        place = download(f"http://me:p%40ss@{server.host}/run/", tmp_path / "kept", ())
        assert (place / NAME).read_bytes() == b"x"
        assert authorized(server) == ["me:p@ss"] * 2
        assert authorized(other) == [""]
        server.requests.clear()
        with pytest.raises(PackagingError, match=r"/base_lib_generic\.tar\.xz: cannot be had"):
            download(f"http://me:p%40ss@{server.host}/run", tmp_path / "kept", ())  # links are relative to that
        assert authorized(server) == ["me:p@ss"] * 3
    finally:
        other.close()


@pytest.mark.always
def test_a_password_is_not_printed(server: RawServer, tmp_path: Path) -> None:
    address = f"http://me:s3cret@{server.host}/"
    command = [
        sys.executable,
        "-m",
        "rocm_sdk_build",
        "artifacts",
        address,
        "--output",
        str(tmp_path / "o"),
        "--version",
        "1",
    ]
    for answer in (b"HTTP/1.1 401 No\r\n\r\n", page("x"), page(NAME), page(f"http://me:s3cret@{server.host}/{NAME}")):
        server.answers["/"] = answer
        done = completed(command)
        assert done.returncode == 1
        assert done.stderr.startswith(f"rocm-sdk-build: {server.address}"), done.stderr
        assert "s3cret" not in done.stderr + done.stdout
    server.answers["/"] = b"HTTP/1.1 302 Found\r\nLocation: http://me:s3cret@x:y/\r\n\r\n"
    done = completed(command)
    assert "is no address" in done.stderr
    assert "s3cret" not in done.stderr + done.stdout


def test_netrc(server: RawServer, tmp_path: Path) -> None:
    server.answers |= {"/": page(NAME), f"/{NAME}": ok(b"x")}
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login you password from-netrc\n")
    download(server.address, tmp_path / "kept", ())
    assert authorized(server) == ["you:from-netrc"] * 2
    server.requests.clear()
    download(f"http://me:own@{server.host}/", tmp_path / "kept", ())
    assert authorized(server) == ["me:own"] * 2
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login you password s3cret oops-s3cret\n")
    with pytest.raises(PackagingError, match=r"netrc:\d+: no valid line of a .netrc file") as caught:
        download(server.address, tmp_path / "kept", ())
    assert "s3cret" not in str(caught.value)
    (tmp_path / "netrc").write_bytes(b"machine \xff\n")
    with pytest.raises(PackagingError, match=r"netrc: cannot be read"):
        download(server.address, tmp_path / "kept", ())


def test_no_way_back_from_encryption() -> None:
    for one, other in (
        ("https://a.example/x", "http://a.example/x"),
        ("HTTPS://a.example/x", "HTTP://me:pw@b.example/"),
    ):
        with pytest.raises(WebError, match=r"leads to '(?i:http)://[ab].example/x?', without encryption") as caught:
            refuse_downgrade(one, other)
        assert "pw" not in str(caught.value)
    for one, other in (("https://a/x", "https://b/"), ("http://a/", "https://a/"), ("http://a/", "http://b/")):
        refuse_downgrade(one, other)


def test_a_time_limit_counts_for_all_of_an_answer(server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for headers and a body that come byte by byte, which no time without data ends."""
    monkeypatch.setattr("rocm_sdk.index.web.server._TIMEOUT", 60)

    def dribble(head: bytes) -> Callable[[socket.socket], None]:
        def answer(connection: socket.socket) -> None:
            connection.sendall(head)
            for _ in range(40):
                connection.sendall(b"x")
                time.sleep(0.1)

        return answer

    for head in (b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"):
        server.answers["/"] = dribble(head)
        start = time.monotonic()
        with pytest.raises(WebError, match=f"{server.address}: did not answer within 1 s"):
            Server(server.address, seconds=1).read(server.address, 10_000)
        assert time.monotonic() - start < 3


def test_a_password_goes_to_its_server_alone() -> None:
    server = Server("https://me:pw@one.example/x")
    asked = {
        address: server.request(address).get_header("Authorization")
        for address in (
            "https://one.example/y",
            "https://two.example/",
            "http://one.example/",
            "https://one.example:444/",
        )
    }
    assert [address for address, header in asked.items() if header] == ["https://one.example/y"]

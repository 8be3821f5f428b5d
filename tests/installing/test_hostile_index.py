"""Whatever an index answers to `rocm-sdk install`: no pages, no wheels, too much, too late."""

import json
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_packages import CORE, Index, indexed
from sample_devel import core_files, make_wheel

from rocm_sdk.index.web.remote_file import NoPartsError
from rocm_sdk.index.web.remote_wheel import _WHOLE_LIMIT, file_in_wheel
from rocm_sdk.index.web.server import Server, WebError
from rocm_sdk.index.web.simple_index import IndexedFile, files_of_project

OK = b"HTTP/1.0 200 OK\r\nContent-Type: %b\r\n\r\n%b"
JSON, HTML = b"application/vnd.pypi.simple.v1+json", b"text/html"
PROJECT, FACTS = "rocm-sdk-core", "rocm_sdk_core/_dist_info.py"
# Answers in the place of a page -> the refusal; None: it has no file that counts.
PAGES: dict[str, tuple[bytes, str | None]] = {
    "no JSON": (OK % (JSON, b"{"), "is no JSON"),
    "nested JSON": (OK % (JSON, b"[" * 100_000), "is no JSON"),
    "a list": (OK % (JSON, b"[]"), "it has no list of files"),
    "other values": (OK % (JSON, b'{"files": [1, null, {"filename": 1}, {"filename": "a", "url": 5}]}'), None),
    "many files": (OK % (JSON, b'{"files": [' + b"1," * 20_001 + b"1]}"), "20002 files, more than the limit"),
    "a huge page": (OK % (JSON, b" " * ((8 << 20) + 1)), "has more than 8388608 bytes"),
    "a redirect to a file": (b"HTTP/1.0 302 F\r\nLocation: file:///etc/passwd\r\n\r\n", "(not allowed|no address)"),
    "a loop": (b"HTTP/1.0 302 F\r\nLocation: #\r\n\r\n", "infinite loop"),
    "a refusal": (b"HTTP/1.0 403 Forbidden\r\n\r\n", "cannot be had: Forbidden"),
    "other schemes": (OK % (HTML, f'<a href="file:///tmp/{CORE}">x</a>'.encode()), None),
    "no address": (OK % (HTML, f'<a href="http://[x/{CORE}">x</a>'.encode()), None),
    "escapes": (OK % (HTML, b'<a href="http://x/\x1b[31m.whl">x</a>'), None),
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """Yield an index with the wheel of core."""
    make_wheel(tmp_path / "wheels", PROJECT, core_files() | {FACTS: b"facts"})
    with indexed(tmp_path / "wheels") as found:
        yield found


def files(index: Index, seconds: int = 20) -> list[IndexedFile]:
    return files_of_project(Server(index.address, seconds=seconds), PROJECT)


def facts(index: Index) -> bytes | None:
    (file,) = files(index)
    return file_in_wheel(Server(index.address, seconds=20), file, FACTS)


@pytest.mark.parametrize("form", ["json", "html"])
@pytest.mark.parametrize("sends_parts", [True, False])
def test_an_honest_index(index: Index, form: str, *, sends_parts: bool) -> None:
    index.form, index.sends_parts = form, sends_parts
    assert facts(index) == b"facts"


@pytest.mark.parametrize("name", PAGES)
def test_pages(index: Index, name: str) -> None:
    index.raw[f"/simple/{PROJECT}/"], refusal = PAGES[name]
    if refusal is None:
        assert files(index) == []
    else:
        with pytest.raises(WebError, match=refusal):
            files(index)


def test_a_page_does_not_give_up_encryption(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Server(index.address, seconds=20).answer(f"{index.address}{PROJECT}/", 1 << 20, {})
    for link, is_refused in (("http://b.example/x.whl", True), ("HTTP://a.example/x.whl", True), ("/x.whl", False)):
        body = json.dumps({"files": [{"filename": "x.whl", "url": link}]}).encode()
        answer.headers.replace_header("Content-Type", JSON.decode())
        safe = answer._replace(body=body, address="https://a.example/simple/x/")
        monkeypatch.setattr(Server, "answer", lambda *_words, safe=safe: safe)
        if is_refused:
            with pytest.raises(WebError, match=r"leads to '.*x\.whl', without encryption"):
                files(index)
        else:
            assert [each.address for each in files(index)] == ["https://a.example/x.whl"]


def test_a_slow_server_has_a_time_limit(index: Index) -> None:
    class Slow(dict[str, bytes]):
        def __contains__(self, path: object) -> bool:
            time.sleep(3)
            return super().__contains__(path)

    index.raw = Slow()
    with pytest.raises(WebError, match="did not answer within 1 s"):
        files(index, seconds=1)


def answers(wheel: Path) -> dict[str, tuple[bytes, str]]:
    """Return answers in the place of a wheel, and the refusal of each."""
    data = wheel.read_bytes()
    size, parts = len(data), b"HTTP/1.0 206 Partial\r\nContent-Range: %b\r\n\r\n%b"
    whole = b"bytes 0-%d/%d" % (size - 1, size)
    bomb = wheel.with_suffix(".bomb")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, b"\n" * (17 << 20))
    long = bytearray(data)
    end = long.rindex(b"PK\x05\x06")
    long[end + 12 : end + 16] = (1 << 30).to_bytes(4, "little")  # the size of the list of members
    return {
        "another range": (parts % (b"bytes 0-%d/%d" % (size - 1, size + 5), data), "another part than was asked for"),
        "no range": (parts % (b"lines 1-2/3", data), "no valid Content-Range"),
        "a huge file": (parts % (b"bytes 0-0/999999999999999999", b""), "another part than was asked for"),
        "fewer bytes": (parts % (whole, data[:-5]), "another part than was asked for"),
        "huge answer": (b"HTTP/1.0 206 P\r\nContent-Length: 99999999999\r\n\r\n", "would have 99999999999 bytes"),
        "no zip": (OK % (b"x", b"no zip file at all"), "no usable zip file"),
        "cut": (OK % (b"x", data[: size // 2]), "no usable zip file"),
        "bomb": (OK % (b"x", bomb.read_bytes()), "its _dist_info.py has 17825792 bytes, more than"),
        "a long list": (OK % (b"x", bytes(long)), "its list of members would have 1073741824 bytes"),
        "away": (b"HTTP/1.0 404 Gone\r\n\r\n", "cannot be had: Gone"),
    }


WHEELS = ("another range", "no range", "a huge file", "fewer bytes", "huge answer", "no zip", "cut", "bomb")


@pytest.mark.parametrize("name", [*WHEELS, "a long list", "away"])
def test_wheels(index: Index, name: str) -> None:
    index.raw[f"/files/{CORE}"], refusal = answers(index.wheels / CORE)[name]
    start = time.process_time()
    with pytest.raises(WebError) as refused:
        facts(index)
    assert re.search(refusal, str(refused.value)) and CORE in str(refused.value)
    assert time.process_time() - start < 5


def test_a_wheel_of_a_million_members(index: Index) -> None:
    """The list of the wheel is read in parts, and refused before an object is made of each member."""
    members = (b"PK\x01\x02" + bytes(42)) * 700_000
    (index.wheels / CORE).write_bytes(
        members + b"PK\x05\x06" + bytes(8) + len(members).to_bytes(4, "little") + bytes(6)
    )
    index.page = f'<a href="../../files/{CORE}">{CORE}</a>'.encode()
    start = time.process_time()
    with pytest.raises(WebError, match="it has more than 131072 members"):
        facts(index)
    assert time.process_time() - start < 5


def test_a_large_wheel_is_read_in_parts(index: Index) -> None:
    (index.wheels / CORE).unlink()
    large = {"_rocm_sdk_core/lib/big.bin": bytes(range(256)) * (_WHOLE_LIMIT // 256 + 1)}
    make_wheel(index.wheels, PROJECT, core_files() | large | {FACTS: b"facts"})
    index.sent = 0
    assert (facts(index), index.sent < 2_000_000) == (b"facts", True)
    index.sends_parts = False
    with pytest.raises(NoPartsError, match="it is large, and the server does not send parts of it"):
        facts(index)

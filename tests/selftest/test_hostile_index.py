"""`rocm-sdk test --index-digests` takes whatever an index answers: no pages, no wheels, too much, too late."""

import base64
import json
import os
import re
import time
import zipfile
from pathlib import Path

import pytest
from indexed_packages import CORE, Index, ask_about

OK = b"HTTP/1.0 200 OK\r\nContent-Type: %b\r\n\r\n%b"
JSON = b"application/vnd.pypi.simple.v1+json"
PAGES: dict[str, tuple[bytes, str]] = {
    "no JSON": (OK % (JSON, b"{"), "is no JSON"),
    "nested JSON": (OK % (JSON, b"[" * 100_000), "is no JSON"),
    "a list": (OK % (JSON, b"[]"), "it has no list of files"),
    "files of another kind": (
        OK % (JSON, b'{"files": [1, null, {"filename": 1}, {"filename": "a", "url": 5}]}'),
        "any more",
    ),
    "many files": (OK % (JSON, b'{"files": [' + b"1," * 20_001 + b"1]}"), "20002 files, more than the limit"),
    "a huge page": (OK % (JSON, b" " * ((8 << 20) + 1)), "has more than 8388608 bytes"),
    "a redirect to a file": (b"HTTP/1.0 302 F\r\nLocation: file:///etc/passwd\r\n\r\n", "(not allowed|no address)"),
    "a loop": (b"HTTP/1.0 302 F\r\nLocation: #\r\n\r\n", "infinite loop"),
    "a refusal": (b"HTTP/1.0 403 Forbidden\r\n\r\n", "cannot be had: Forbidden"),
    "links of other schemes": (OK % (b"text/html", f'<a href="file:///tmp/{CORE}">x</a>'.encode()), "any more"),
    "an address that is none": (OK % (b"text/html", f'<a href="http://[x/{CORE}">x</a>'.encode()), "any more"),
    "escapes": (OK % (b"text/html", b'<a href="http://x/\x1b[31m.whl">x</a>'), "any more"),
}


@pytest.mark.parametrize("name", PAGES)
def test_hostile_pages(fetched: Path, index: Index, name: str) -> None:
    answer, cause = PAGES[name]
    for project in ("rocm-sdk-core", "rocm-sdk-libraries"):
        index.raw[f"/simple/{project}/"] = answer
    said = ask_about(fetched, index)
    assert said.status == 1
    assert said.codes in ({"E-INDEX-005"}, {"E-INDEX-006"}), said
    assert re.search(cause, str([each["cause"] for each in said.problems])), said.problems
    assert "\x1b" not in str(said.document)


def parts(body: bytes, said: str) -> bytes:
    return f"HTTP/1.0 206 Partial\r\nContent-Range: {said}\r\n\r\n".encode() + body


def bomb(wheel: Path, member_name: str, size: int) -> bytes:
    """Return the wheel with a member that becomes large when it is decompressed."""
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(wheel.with_suffix(".new"), "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            is_it = info.filename.endswith(member_name)
            new.writestr(info.filename, b"\n" * size if is_it else old.read(info.filename))
    return wheel.with_suffix(".new").read_bytes()


def hostile_files(wheel: Path) -> dict[str, tuple[bytes, str]]:
    data = wheel.read_bytes()
    twice = wheel.with_suffix(".twice")
    with zipfile.ZipFile(twice, "w") as archive:
        for name in ("a-1.dist-info/RECORD", "rocm_sdk_core-7.10.0.dist-info/RECORD"):
            archive.writestr(name, "")
    foreign = wheel.with_suffix(".foreign")
    with zipfile.ZipFile(foreign, "w") as archive:
        for name in ("RECORD", "METADATA"):
            archive.writestr(f"other-7.10.0.dist-info/{name}", "")
    size = len(data)
    return {
        "another range": (parts(data, f"bytes 0-{size - 1}/{size + 5}"), "another part than was asked for"),
        "no range": (parts(data, "lines 1-2/3"), "no valid Content-Range"),
        "a huge file": (parts(b"", "bytes 0-0/999999999999999999"), "another part than was asked for"),
        "fewer bytes": (parts(data[:-5], f"bytes 0-{size - 1}/{size}"), "another part than was asked for"),
        "huge answer": (b"HTTP/1.0 206 P\r\nContent-Length: 99999999999\r\n\r\n", "would have 99999999999 bytes"),
        "no zip": (OK % (b"x", b"no zip file at all"), "no usable zip file"),
        "cut": (OK % (b"x", data[: size // 2]), "no usable zip file"),
        "bomb": (OK % (b"x", bomb(wheel, "RECORD", 17 << 20)), "its RECORD has 17825792 bytes, more than"),
        "RECORD of another": (OK % (b"x", foreign.read_bytes()), "it has no RECORD, or several"),
        "two RECORDs": (OK % (b"x", twice.read_bytes()), "it has no RECORD, or several"),
        "many rows": (OK % (b"x", bomb(wheel, "RECORD", 300_000)), "its RECORD has more than 131072 rows"),
        "no text": (
            OK % (b"x", data.replace(b"rocm_sdk_core/__init__.py,", b"\xff" * 26)),
            "cannot be read as a wheel",
        ),
        "away": (b"HTTP/1.0 404 Gone\r\n\r\n", "cannot be had: Gone"),
    }


HOSTILE_FILES = [
    *("another range", "no range", "a huge file", "fewer bytes", "huge answer", "no zip", "cut", "bomb", "two RECORDs"),
    *("RECORD of another", "many rows", "no text", "away"),
]


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_wheels(fetched: Path, index: Index, name: str) -> None:
    files = hostile_files(index.wheels / CORE)
    assert sorted(files) == sorted(HOSTILE_FILES)
    index.raw[f"/files/{CORE}"], cause = files[name]
    start = time.monotonic()
    found = ask_about(fetched, index).only("E-INDEX-005")
    assert cause in found["cause"]
    assert CORE in found["cause"]
    assert time.monotonic() - start < 30


def test_hostile_attestations(fetched: Path, index: Index) -> None:
    index.change = lambda row: row.update(provenance="/p")
    statement = base64.b64encode(b"[]")
    bodies: dict[bytes, str] = {
        b"{}": "has no attestations",
        b"[": "is no JSON",
        b'{"attestation_bundles": [{"attestations": [{}]}]}': "is no JSON",
        b'{"attestation_bundles": [{"publisher": 5, "attestations": [{"envelope": {"statement": "%b"}}]}]}'
        % statement: "an unnamed publisher is about another file",
        b'{"attestation_bundles": [{"attestations": [{"envelope": {"statement": "*"}}]}]}': "no valid statement",
        b'{"attestation_bundles": [{"attestations": [%b{"envelope": {"statement": "%b"}}]}]}'
        % (b'{"envelope": {"statement": "%b"}},' % statement * 256, statement): "more than 256 attestations",
    }
    for body, cause in bodies.items():
        index.raw["/p"] = OK % (b"application/json", body)
        said = ask_about(fetched, index)
        assert said.codes & {"E-INDEX-005", "E-INDEX-002"}, said
        assert cause in said.problems[0]["cause"], body[:100]


def test_a_slow_server_has_a_time_limit(fetched: Path, index: Index) -> None:
    class Slow(dict[str, bytes]):
        def __contains__(self, path: object) -> bool:
            time.sleep(3)
            return super().__contains__(path)

    index.raw = Slow()
    start = time.monotonic()
    found = ask_about(fetched, index, "--seconds", "1").problems
    assert [each["code"] for each in found] == ["E-INDEX-005"]
    assert "did not answer within 1 s" in str(found)
    assert time.monotonic() - start < 15


def test_a_wheel_of_a_million_members(fetched: Path, index: Index) -> None:
    """The list of the wheel is read in parts, and refused before an object is made of each member."""
    entry = b"PK\x01\x02" + bytes(24) + (0).to_bytes(2, "little") + bytes(16)
    data = entry * 700_000
    end = b"PK\x05\x06" + bytes(8) + len(data).to_bytes(4, "little") + bytes(6)
    (index.wheels / CORE).rename(index.wheels / "old")
    index.change = lambda row: row.update({"core-metadata": False})
    rows = [{"filename": CORE, "url": f"../../files/{CORE}", "hashes": {}}]
    index.raw["/simple/rocm-sdk-core/"] = OK % (
        b"application/vnd.pypi.simple.v1+json",
        json.dumps({"meta": {"api-version": "1.0"}, "files": rows}).encode(),
    )
    (index.wheels / CORE).write_bytes(data + end)
    start = os.times()
    assert "it has more than 131072 members" in ask_about(fetched, index).only("E-INDEX-005")["cause"]
    assert os.times().children_user - start.children_user < 5


def test_names_with_a_thousand_tags(fetched: Path, index: Index) -> None:
    """19,000 on a page; all are of the version that is asked for."""
    tags = "-".join(".".join(f"{kind}{number}" for number in range(10)) for kind in "abc")
    names = [f"rocm_sdk_core-7.10.0-{number}-{tags}.whl" for number in range(19_000)]
    (row,) = index.rows("rocm-sdk-core")
    rows = [{"filename": name, "url": name, "hashes": {}} for name in names]
    page = json.dumps({"meta": {"api-version": "1.0"}, "files": [*rows, row]}).encode()
    index.raw["/simple/rocm-sdk-core/"] = OK % (b"application/vnd.pypi.simple.v1+json", page)
    start = os.times()
    assert ask_about(fetched, index).problems == []
    end = os.times()
    assert end.children_user - start.children_user < 3


def test_members_of_a_wheel_are_bounded_by_what_is_read(fetched: Path, index: Index) -> None:
    """A list of members that claims to be larger than the file is refused before it is read."""
    data = bytearray((index.wheels / CORE).read_bytes())
    end = data.rindex(b"PK\x05\x06")
    data[end + 12 : end + 16] = (1 << 30).to_bytes(4, "little")
    index.raw[f"/files/{CORE}"] = OK % (b"x", bytes(data))
    assert "its list of members would have 1073741824 bytes" in ask_about(fetched, index).only("E-INDEX-005")["cause"]

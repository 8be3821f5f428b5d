"""`rocm-sdk test --index-digests`: RECORD of installed packages against the wheels of an index, on a web server."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from indexed_packages import Index, attestations, indexed, member, sha256
from sample_devel import core_files, libraries_files, make_wheel
from sample_report import Said, run_test
from sample_site import clean_environment

from rocm_sdk.web.server import Answer, WebError
from rocm_sdk.web.simple_index import files_of_project
from rocm_sdk.web.wheels import WHOLE_LIMIT, tags_in, tags_of

CORE, LIBRARIES = "rocm_sdk_core-7.10.0-py3-none-any.whl", "rocm_sdk_libraries-7.10.0-py3-none-any.whl"
LIBRARY = "_rocm_sdk_core/lib/libamdhip64.so.7"


def install(target: Path, *words: str) -> None:
    options = ["--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--no-cache-dir"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), *words]
    environment = clean_environment() | {"PIP_CONFIG_FILE": os.devnull}
    environment = {name: value for name, value in environment.items() if name not in {"PIP_FIND_LINKS", "PIP_NO_INDEX"}}
    result = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    for path in target.glob("_rocm_sdk_*/bin/*"):
        path.chmod(0o755)  # make_wheel keeps no modes


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheels of an index, and a directory in which pip has installed them from there. Not to be changed."""
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed") / "site-packages"
    make_wheel(wheels, "rocm-sdk-core", core_files())
    make_wheel(wheels, "rocm-sdk-libraries", libraries_files())
    with indexed(wheels) as index:
        index.form = "html"
        install(target, "--index-url", index.address, "rocm-sdk-core==7.10.0", "rocm-sdk-libraries==7.10.0")
    return wheels, target


@pytest.fixture
def site(built: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(built[1], tmp_path / "site-packages"))


@pytest.fixture
def index(built: tuple[Path, Path], tmp_path: Path) -> Iterator[Index]:
    with indexed(Path(shutil.copytree(built[0], tmp_path / "wheels"))) as found:
        yield found


def ask(site: Path, index: Index | str, *words: str, **environment: str) -> Said:
    """The answer of the subject alone."""
    address = index if isinstance(index, str) else index.address
    return run_test(site, "--index-digests", address, "--only", "index", *words, NETRC=os.devnull, **environment)


def rewrite_record(site: Path, path: str) -> None:
    """Changes a file, and RECORD with it."""
    file = site / path
    file.write_bytes(file.read_bytes()[::-1])
    (record,) = site.glob("rocm_sdk_core-*.dist-info/RECORD")
    digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
    rows = [
        f"{path},sha256={digest},{file.stat().st_size}" if row.startswith(f"{path},") else row
        for row in record.read_text().splitlines()
    ]
    record.write_text("\n".join([*rows, ""]))


# ---- what is compared


@pytest.mark.parametrize("form", ["json", "html"])
@pytest.mark.parametrize("sends_parts", [True, False])
def test_what_is_as_on_the_index(site: Path, index: Index, form: str, sends_parts: bool) -> None:
    index.form, index.sends_parts = form, sends_parts
    said = ask(site, index)
    assert (said.status, said.problems) == (0, []), said
    assert (said.subject("index")["count"], said.subject("index")["failed"]) == (2, 0)
    text = said_as_text(site, index, "--checks")
    files = len(core_files()) + 2  # METADATA and WHEEL
    assert (
        f"rocm-sdk-core 7.10.0: {files} files as in RECORD of {CORE} at {index.address}; METADATA has the digest that"
        " the index names; the wheel has the SHA-256 that it names" in text
    )
    assert "compared" in text


def said_as_text(site: Path, index: Index, *words: str) -> str:
    command = [sys.executable, "-m", "rocm_sdk", "test", "--index-digests", index.address, "--only", "index", *words]
    environment = clean_environment() | {"PYTHONPATH": str(site), "NETRC": os.devnull}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout


def test_a_network_is_asked_only_on_request(site: Path, index: Index) -> None:
    run_test(site, "--deep", "--only", "files,packages", PIP_INDEX_URL=index.address, ROCM_SDK_INDEX=index.address)
    assert index.asked == []
    said = run_test(site, "--index-digests", index.address, "--only", "files,index")
    assert [each["subject"] for each in said.document["subjects"]] == ["files", "index"]
    assert index.asked


def test_a_file_and_record_that_were_changed_together(site: Path, index: Index) -> None:
    rewrite_record(site, LIBRARY)
    assert run_test(site, "--deep", "--only", "files").problems == []  # which is why this exists
    found = ask(site, index).only("E-INDEX-001")
    assert found["title"] == f"rocm-sdk-core is not what {index.address} has"
    assert found["cause"] == f"RECORD and METADATA against {CORE}: {LIBRARY} has another digest"
    assert f"--index-url {index.address} rocm-sdk-core==7.10.0" in str(found["fix"])
    with_password = ask(site, index.address.replace("://", "://me:s3cret@")).only("E-INDEX-001")
    assert "s3cret" not in str(with_password)


def test_deep_comes_with_it(site: Path, index: Index) -> None:
    file = site / LIBRARY
    file.write_bytes(file.read_bytes()[::-1])
    said = run_test(site, "--index-digests", index.address, "--only", "files,index")
    assert said.codes == {"E-FILE-003"}


def test_rows_that_were_added_and_removed(site: Path, index: Index) -> None:
    (record,) = site.glob("rocm_sdk_core-*.dist-info/RECORD")
    rows = [row for row in record.read_text().splitlines() if "bin/hipcc" not in row]
    rows += ["_rocm_sdk_core/lib/libextra.so,sha256=abc,3", "_rocm_sdk_core/lib/__pycache__/a.pyc,sha256=abc,3"]
    rows += ["_rocm_sdk_core/without_a_digest,,", "elsewhere/file,sha256=abc,3"]
    record.write_text("\n".join([*rows, ""]))
    cause = ask(site, index).only("E-INDEX-001")["cause"]
    assert "RECORD does not list _rocm_sdk_core/bin/hipcc; the wheel has no _rocm_sdk_core/lib/libextra.so" in cause
    assert "pyc" not in cause
    assert "elsewhere" not in cause


def test_metadata_that_was_changed(site: Path, index: Index) -> None:
    (metadata,) = site.glob("rocm_sdk_core-*.dist-info/METADATA")
    metadata.write_text(f"{metadata.read_text()}more\n")
    assert "METADATA has another content" in ask(site, index).only("E-INDEX-001")["cause"]


def test_of_a_large_wheel_the_end_is_read(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheels, site = tmp_path / "wheels", tmp_path / "site-packages"
    big = {"_rocm_sdk_core/lib/big.bin": os.urandom(WHOLE_LIMIT + 1)}
    many = {f"_rocm_sdk_core/share/{n:05}": b"" for n in range(5000)}  # the list of members has more than one block
    make_wheel(wheels, "rocm-sdk-core", core_files() | big | many)
    install(site, "--no-index", str(wheels / CORE))
    with indexed(wheels) as index:
        said = ask(site, index)
        assert said.problems == []
        assert index.sent < 2_000_000
        assert all(wanted for path, wanted in index.asked if path.startswith("/files/"))
        text = said_as_text(site, index, "--checks")
        assert "the wheel was not read whole" in text
        assert f"direct_url.json has the SHA-256 of {CORE} on the index" in text
        rewrite_record(site, LIBRARY)
        assert ask(site, index).codes == {"E-INDEX-001"}
        index.sends_parts = False
        cause = ask(site, index).only("W-INDEX-004")["cause"]
        assert "it is large, and the server does not send parts of it" in cause
    del built


def test_another_wheel_of_the_same_version(site: Path, index: Index, tmp_path: Path) -> None:
    other = make_wheel(tmp_path / "own", "rocm-sdk-core", core_files() | {LIBRARY: b"a build of mine"})
    shutil.rmtree(site)
    install(site, "--no-index", str(other))
    found = ask(site, index).only("E-INDEX-003")
    assert str(found["path"]).endswith("direct_url.json")
    mine, theirs = sha256(other.read_bytes()), sha256((index.wheels / CORE).read_bytes())
    assert found["cause"] == f"direct_url.json says SHA-256 {mine}, the index {theirs} of {CORE}"


# ---- what an index says of itself


def test_a_wheel_that_is_not_what_the_page_says(site: Path, index: Index) -> None:
    index.digests[CORE] = "0" * 64
    found = ask(site, index).only("E-INDEX-002")
    assert (
        f"the wheel has SHA-256 {sha256((index.wheels / CORE).read_bytes())}, the page says {'0' * 64}"
        in found["cause"]
    )
    index.digests.clear()
    index.change = lambda row: row["core-metadata"].update(sha256="1" * 64)
    assert "its METADATA has SHA-256" in ask(site, index).problems[0]["cause"]


def test_attestations(site: Path, index: Index) -> None:
    index.change = lambda row: row.update(provenance=f"{index.root}integrity/{row['filename']}")
    for name in (CORE, LIBRARIES):
        body = attestations(name, sha256((index.wheels / name).read_bytes()))
        index.raw[f"/integrity/{name}"] = b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body
    for form in ("json", "html"):
        index.form = form
        said = ask(site, index)
        assert (said.status, said.codes) == (0, {"N-INDEX-007"})
        cause = said.problems[0]["cause"]
        assert cause.startswith("published by GitHub, ROCm/TheRock, release.yml, pypi, for SHA-256 ")
        assert "their signatures were not verified" in said_as_text(site, index, "--checks")
    index.raw[f"/integrity/{CORE}"] = b"HTTP/1.0 200 OK\r\n\r\n" + attestations(CORE, "2" * 64)
    found = ask(site, index).only("E-INDEX-002")
    assert f"an attestation by GitHub, ROCm/TheRock, release.yml, pypi is about {'2' * 64}" in found["cause"]
    index.raw[f"/integrity/{CORE}"] = b"HTTP/1.0 200 OK\r\n\r\n" + attestations("other.whl", "2" * 64)
    assert "is about another file" in ask(site, index).only("E-INDEX-002")["cause"]


# ---- what cannot be compared


def test_what_the_index_has_not(site: Path, index: Index) -> None:
    (index.wheels / LIBRARIES).unlink()
    said = ask(site, index)
    assert (said.status, said.codes) == (0, {"W-INDEX-004"})
    assert said.problems[0]["cause"] == "the index has no rocm-sdk-libraries"
    make_wheel(index.wheels, "rocm-sdk-libraries", libraries_files(), "7.10.1")
    cause = ask(site, index).only("W-INDEX-004")["cause"]
    assert cause == "the index has no wheel of rocm-sdk-libraries 7.10.0 (any more)"
    (index.wheels / CORE).rename(index.wheels / CORE.replace("-any", "-linux_x86_64"))
    said = ask(site, index)
    assert said.codes == {"W-INDEX-004", "E-INDEX-006"}
    assert said.status == 1
    assert "for py3-none-any, which is what is installed" in said.problems[1]["cause"]


def test_a_yanked_wheel_is_compared(site: Path, index: Index) -> None:
    index.change = lambda row: row.update(yanked="bad")
    for form in ("json", "html"):
        index.form = form
        assert "the wheel is yanked" in said_as_text(site, index, "--checks")


def test_an_empty_directory_has_not_passed(tmp_path: Path, index: Index) -> None:
    (tmp_path / "empty").mkdir()
    said = run_test(tmp_path, "--target", str(tmp_path / "empty"), "--index-digests", index.address, "--only", "index")
    assert (said.status, said.codes) == (1, {"E-INDEX-006"})
    assert said.problems[0]["cause"] == "no package of the SDK is installed here"


def test_a_closure_is_on_no_index(site: Path, index: Index) -> None:
    for info in site.glob("*.dist-info"):
        (info / "closure.json").write_text('{"command": "rocm-sdk-build closure --for x"}')
    said = ask(site, index)
    assert said.codes == {"W-INDEX-004", "E-INDEX-006"}
    assert "rocm-sdk-build closure made it" in said.only("E-INDEX-006")["cause"] + said.problems[1]["cause"]


def test_which_index_is_asked(site: Path, index: Index, tmp_path: Path) -> None:
    words = ("--index-digests", "--only", "index")
    other = "http://127.0.0.1:9/simple/"  # the port that discards
    cases: list[dict[str, str]] = [
        {"ROCM_SDK_INDEX": index.address, "PIP_INDEX_URL": other},
        {"PIP_INDEX_URL": index.address, "PIP_CONFIG_FILE": os.devnull},
        {"PIP_INDEX_URL": "", "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")},
    ]
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {index.address}\n")
    for variables in cases:
        said = run_test(site, *words, NETRC=os.devnull, **variables)
        assert said.problems == [], variables
    said = run_test(site, *words, ROCM_SDK_INDEX="file:///srv/simple")
    assert "file:///srv/simple, which is configured, is on no web server" in said.only("E-INDEX-006")["cause"] + str(
        [each["cause"] for each in said.problems]
    )


def test_a_password_is_not_printed(site: Path, index: Index) -> None:
    address = index.address.replace("://", "://me:s3cret@")
    said = ask(site, address)
    assert said.problems == []
    index.page = b"no links"
    said = ask(site, address)
    assert said.codes == {"W-INDEX-004", "E-INDEX-006"}
    assert "s3cret" not in str(said)


MISUSES = {
    "--index-digests file:///etc": "--index-digests: 'file:///etc' is no address of a web server",
    "--index-digests x y": "unrecognized arguments: y",
    "--index-digests http://x --only files": "--only files,index",
    "--index-digests http://x --skip index": "which --only or --skip leaves out",
    "--index-digests http://x --pid 1": "needs an installation",
    "--only index": "--only index needs --index-digests [ADDRESS]",
}


@pytest.mark.parametrize("words", MISUSES)
def test_misuse(words: str) -> None:
    command = [sys.executable, "-m", "rocm_sdk", "test", *words.split()]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert MISUSES[words] in result.stderr


# ---- whatever a server answers


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
def test_hostile_pages(site: Path, index: Index, name: str) -> None:
    answer, cause = PAGES[name]
    for project in ("rocm-sdk-core", "rocm-sdk-libraries"):
        index.raw[f"/simple/{project}/"] = answer
    said = ask(site, index)
    assert said.status == 1
    assert said.codes in ({"E-INDEX-005", "E-INDEX-006"}, {"W-INDEX-004", "E-INDEX-006"}), said
    assert re.search(cause, str([each["cause"] for each in said.problems])), said.problems
    assert "\x1b" not in str(said.document)


def test_a_page_does_not_give_up_encryption() -> None:
    for link in ("http://b.example/x.whl", "HTTP://a.example/x.whl"):
        row = {"filename": "x.whl", "url": link}
        body = json.dumps({"files": [row]}).encode()
        headers = Message()
        headers["Content-Type"] = "application/vnd.pypi.simple.v1+json"
        answer = Answer(body, "https://a.example/simple/x/", 200, headers)
        server: Any = SimpleNamespace(address="https://a.example/simple/", answer=lambda *_words, found=answer: found)
        with pytest.raises(WebError, match=r"leads to '.*x\.whl', without encryption"):
            files_of_project(server, "x")
        good = Answer(body.replace(link.encode(), b"/x.whl"), answer.address, 200, headers)
        server = SimpleNamespace(address=server.address, answer=lambda *_words, found=good: found)
        (file,) = files_of_project(server, "x")
        assert (file.address, file.sha256, file.metadata_sha256) == ("https://a.example/x.whl", "", "")


def test_an_index_without_digests(site: Path, index: Index) -> None:
    index.change = lambda row: (row["hashes"].clear(), row.update({"core-metadata": False}))[0]
    assert ask(site, index).problems == []
    assert "it names no SHA-256 of the wheel" in said_as_text(site, index, "--checks")


def parts(body: bytes, said: str) -> bytes:
    return f"HTTP/1.0 206 Partial\r\nContent-Range: {said}\r\n\r\n".encode() + body


def bomb(wheel: Path, member_name: str, size: int) -> bytes:
    """The wheel with a member that becomes much."""
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
def test_hostile_wheels(site: Path, index: Index, name: str) -> None:
    files = hostile_files(index.wheels / CORE)
    assert sorted(files) == sorted(HOSTILE_FILES)
    index.raw[f"/files/{CORE}"], cause = files[name]
    start = time.monotonic()
    found = ask(site, index).only("E-INDEX-005")
    assert cause in found["cause"]
    assert CORE in found["cause"]
    assert time.monotonic() - start < 30


def test_hostile_attestations(site: Path, index: Index) -> None:
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
        said = ask(site, index)
        assert said.codes & {"E-INDEX-005", "E-INDEX-002"}, said
        assert cause in said.problems[0]["cause"], body[:100]


def test_a_slow_server_has_a_time_limit(site: Path, index: Index) -> None:
    class Slow(dict[str, bytes]):
        def __contains__(self, path: object) -> bool:
            time.sleep(3)
            return super().__contains__(path)

    index.raw = Slow()
    start = time.monotonic()
    found = ask(site, index, "--seconds", "1").problems
    assert sorted(each["code"] for each in found) == ["E-INDEX-005", "E-INDEX-006"]
    assert "did not answer within 1 s" in str(found)
    assert time.monotonic() - start < 15


def test_a_wheel_of_a_million_members(site: Path, index: Index) -> None:
    """Its list is read in parts, and refused before an object is made of each."""
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
    assert "it has more than 131072 members" in ask(site, index).only("E-INDEX-005")["cause"]
    assert os.times().children_user - start.children_user < 5


def test_names_with_a_thousand_tags(site: Path, index: Index) -> None:
    """19,000 on a page; all are of the version that is asked for."""
    tags = "-".join(".".join(f"{kind}{number}" for number in range(10)) for kind in "abc")
    names = [f"rocm_sdk_core-7.10.0-{number}-{tags}.whl" for number in range(19_000)]
    (row,) = index.rows("rocm-sdk-core")
    rows = [{"filename": name, "url": name, "hashes": {}} for name in names]
    page = json.dumps({"meta": {"api-version": "1.0"}, "files": [*rows, row]}).encode()
    index.raw["/simple/rocm-sdk-core/"] = OK % (b"application/vnd.pypi.simple.v1+json", page)
    start = os.times()
    assert ask(site, index).problems == []
    end = os.times()
    assert end.children_user - start.children_user < 3


def test_tags_are_those_of_the_name() -> None:
    assert tags_of("x-1-py2.py3-none-any.whl") == tags_in(["py3-none-any", "py2-none-any", "py2-none-any"])
    assert tags_of("x-1-py2.py3-none-any.whl") != tags_in(["py3-none-any"])
    assert tags_in(["py2-none-any", "py3-abi3-any"]) is None
    assert tags_in([]) is tags_in(["py3-none"]) is tags_of("x-1.whl") is tags_of("x-1-py3-none-any.zip") is None


def test_members_of_a_wheel_are_bounded_by_what_is_read(site: Path, index: Index) -> None:
    """A list of members that claims to be larger than the file is refused before it is read."""
    data = bytearray((index.wheels / CORE).read_bytes())
    end = data.rindex(b"PK\x05\x06")
    data[end + 12 : end + 16] = (1 << 30).to_bytes(4, "little")
    index.raw[f"/files/{CORE}"] = OK % (b"x", bytes(data))
    assert "its list of members would have 1073741824 bytes" in ask(site, index).only("E-INDEX-005")["cause"]


def test_nobody_is_reached(site: Path) -> None:
    (site / "sitecustomize.py").write_text("from rocm_sdk.web import server; server._PAUSE = 0.01\n")
    found = ask(site, "http://127.0.0.1:9/simple/", "--seconds", "20")
    assert found.codes == {"E-INDEX-005", "E-INDEX-006"}
    assert found.only("E-INDEX-005")["title"] == "http://127.0.0.1:9/simple/ cannot be asked about rocm-sdk-core"
    skipped = found.subject("index")["not_tried"]
    assert skipped == ["rocm-sdk-libraries: http://127.0.0.1:9/simple/ is not reached"]
    assert "http_proxy" in str(found.problems) or "https_proxy" in str(found.problems)


def test_sarif_has_it(site: Path, index: Index, tmp_path: Path) -> None:
    rewrite_record(site, LIBRARY)
    ask(site, index, "--sarif", str(tmp_path / "found.sarif"))
    assert "E-INDEX-001" in (tmp_path / "found.sarif").read_text()


def test_metadata_is_that_of_the_wheel(index: Index) -> None:
    """The test's own index says the truth."""
    (row,) = index.rows("rocm-sdk-core")
    assert row["core-metadata"]["sha256"] == sha256(member(index.wheels / CORE, "METADATA"))

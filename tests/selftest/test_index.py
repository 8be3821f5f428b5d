"""`rocm-sdk test --index-digests`: RECORD of installed packages against the wheels of an index, on a web server."""

import base64
import hashlib
import json
import os
import shutil
import sys
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from indexed_packages import CORE, LIBRARIES, Index, ask_about, attestations, indexed, install, member, sha256
from programs import completed
from sample_devel import core_files, libraries_files, make_wheel
from sample_report import run_test
from sample_site import clean_environment

from rocm_sdk.index.web.remote_wheel import WHOLE_LIMIT, tags_in, tags_of
from rocm_sdk.index.web.server import Answer, WebError
from rocm_sdk.index.web.simple_index import files_of_project

LIBRARY = "_rocm_sdk_core/lib/libamdhip64.so.7"


def rewrite_record(site: Path, path: str) -> None:
    """Change a file, and RECORD with it."""
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
def test_what_is_as_on_the_index(fetched: Path, index: Index, form: str, sends_parts: bool) -> None:
    index.form, index.sends_parts = form, sends_parts
    said = ask_about(fetched, index)
    assert (said.status, said.problems) == (0, []), said
    assert (said.subject("index")["count"], said.subject("index")["failed"]) == (2, 0)
    text = said_as_text(fetched, index, "--checks")
    files = len(core_files()) + 2  # METADATA and WHEEL
    assert (
        f"rocm-sdk-core 7.10.0: {files} files as in RECORD of {CORE} at {index.address}; METADATA has the digest that"
        " the index names; the wheel has the SHA-256 that it names" in text
    )
    assert "compared" in text


def said_as_text(site: Path, index: Index, *words: str) -> str:
    command = [sys.executable, "-m", "rocm_sdk", "test", "--index-digests", index.address, "--only", "index", *words]
    environment = clean_environment() | {"PYTHONPATH": str(site), "NETRC": os.devnull}
    return completed(command, env=environment).stdout


def test_a_network_is_asked_only_on_request(fetched: Path, index: Index) -> None:
    run_test(fetched, "--deep", "--only", "files,packages", PIP_INDEX_URL=index.address, ROCM_SDK_INDEX=index.address)
    assert index.asked == []
    said = run_test(fetched, "--index-digests", index.address, "--only", "files,index")
    assert [each["subject"] for each in said.document["subjects"]] == ["files", "index"]
    assert index.asked


def test_a_file_and_record_that_were_changed_together(fetched: Path, index: Index) -> None:
    rewrite_record(fetched, LIBRARY)
    assert run_test(fetched, "--deep", "--only", "files").problems == []  # which is why this exists
    found = ask_about(fetched, index).only("E-INDEX-001")
    assert found["title"] == f"rocm-sdk-core is not what {index.address} has"
    assert found["cause"] == f"RECORD and METADATA against {CORE}: {LIBRARY} has another digest"
    assert f"--index-url {index.address} rocm-sdk-core==7.10.0" in str(found["fix"])
    with_password = ask_about(fetched, index.address.replace("://", "://me:s3cret@")).only("E-INDEX-001")
    assert "s3cret" not in str(with_password)


def test_deep_comes_with_it(fetched: Path, index: Index) -> None:
    file = fetched / LIBRARY
    file.write_bytes(file.read_bytes()[::-1])
    said = run_test(fetched, "--index-digests", index.address, "--only", "files,index")
    assert said.codes == {"E-FILE-003"}


def test_rows_that_were_added_and_removed(fetched: Path, index: Index) -> None:
    (record,) = fetched.glob("rocm_sdk_core-*.dist-info/RECORD")
    rows = [row for row in record.read_text().splitlines() if "bin/hipcc" not in row]
    rows += ["_rocm_sdk_core/lib/libextra.so,sha256=abc,3", "_rocm_sdk_core/lib/__pycache__/a.pyc,sha256=abc,3"]
    rows += ["_rocm_sdk_core/without_a_digest,,", "elsewhere/file,sha256=abc,3"]
    record.write_text("\n".join([*rows, ""]))
    cause = ask_about(fetched, index).only("E-INDEX-001")["cause"]
    assert "RECORD does not list _rocm_sdk_core/bin/hipcc; the wheel has no _rocm_sdk_core/lib/libextra.so" in cause
    assert "pyc" not in cause
    assert "elsewhere" not in cause


def test_metadata_that_was_changed(fetched: Path, index: Index) -> None:
    (metadata,) = fetched.glob("rocm_sdk_core-*.dist-info/METADATA")
    metadata.write_text(f"{metadata.read_text()}more\n")
    assert "METADATA has another content" in ask_about(fetched, index).only("E-INDEX-001")["cause"]


def test_of_a_large_wheel_the_end_is_read(offered: tuple[Path, Path], tmp_path: Path) -> None:
    wheels, site = tmp_path / "wheels", tmp_path / "site-packages"
    big = {"_rocm_sdk_core/lib/big.bin": os.urandom(WHOLE_LIMIT + 1)}
    many = {f"_rocm_sdk_core/share/{n:05}": b"" for n in range(5000)}  # the list of members has more than one block
    make_wheel(wheels, "rocm-sdk-core", core_files() | big | many)
    install(site, "--no-index", str(wheels / CORE))
    with indexed(wheels) as index:
        said = ask_about(site, index)
        assert said.problems == []
        assert index.sent < 2_000_000
        assert all(wanted for path, wanted in index.asked if path.startswith("/files/"))
        text = said_as_text(site, index, "--checks")
        assert "the wheel was not read whole" in text
        assert f"direct_url.json has the SHA-256 of {CORE} on the index" in text
        rewrite_record(site, LIBRARY)
        assert ask_about(site, index).codes == {"E-INDEX-001"}
        index.sends_parts = False
        found = ask_about(site, index).only("E-INDEX-006")
        assert f"in place of {index.address}" in found["fix"], "the address that was given"
        cause = found["cause"]
        assert "it is large, and the server does not send parts of it" in cause
    del offered


def test_another_wheel_of_the_same_version(fetched: Path, index: Index, tmp_path: Path) -> None:
    other = make_wheel(tmp_path / "own", "rocm-sdk-core", core_files() | {LIBRARY: b"a build of mine"})
    shutil.rmtree(fetched)
    install(fetched, "--no-index", str(other))
    found = ask_about(fetched, index).only("E-INDEX-003")
    assert str(found["path"]).endswith("direct_url.json")
    mine, theirs = sha256(other.read_bytes()), sha256((index.wheels / CORE).read_bytes())
    assert found["cause"] == f"direct_url.json says SHA-256 {mine}, the index {theirs} of {CORE}"


# ---- what an index says of itself


def test_a_wheel_that_is_not_what_the_page_says(fetched: Path, index: Index) -> None:
    index.digests[CORE] = "0" * 64
    found = ask_about(fetched, index).only("E-INDEX-002")
    assert (
        f"the wheel has SHA-256 {sha256((index.wheels / CORE).read_bytes())}, the page says {'0' * 64}"
        in found["cause"]
    )
    index.digests.clear()
    index.change = lambda row: row["core-metadata"].update(sha256="1" * 64)
    assert "its METADATA has SHA-256" in ask_about(fetched, index).problems[0]["cause"]


def test_attestations(fetched: Path, index: Index) -> None:
    index.change = lambda row: row.update(provenance=f"{index.root}integrity/{row['filename']}")
    for name in (CORE, LIBRARIES):
        body = attestations(name, sha256((index.wheels / name).read_bytes()))
        index.raw[f"/integrity/{name}"] = b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body
    for form in ("json", "html"):
        index.form = form
        said = ask_about(fetched, index)
        assert (said.status, said.codes) == (0, {"N-INDEX-007"})
        cause = said.problems[0]["cause"]
        assert cause.startswith("published by GitHub, ROCm/TheRock, release.yml, pypi, for SHA-256 ")
        assert "their signatures were not verified" in said_as_text(fetched, index, "--checks")
    index.raw[f"/integrity/{CORE}"] = b"HTTP/1.0 200 OK\r\n\r\n" + attestations(CORE, "2" * 64)
    found = ask_about(fetched, index).only("E-INDEX-002")
    assert f"an attestation by GitHub, ROCm/TheRock, release.yml, pypi is about {'2' * 64}" in found["cause"]
    index.raw[f"/integrity/{CORE}"] = b"HTTP/1.0 200 OK\r\n\r\n" + attestations("other.whl", "2" * 64)
    assert "is about another file" in ask_about(fetched, index).only("E-INDEX-002")["cause"]


# ---- what cannot be compared


def test_what_the_index_has_not(fetched: Path, index: Index) -> None:
    (index.wheels / LIBRARIES).unlink()
    said = ask_about(fetched, index)
    assert (said.status, said.codes) == (0, {"W-INDEX-004"})
    assert said.problems[0]["cause"] == "the index has no rocm-sdk-libraries"
    make_wheel(index.wheels, "rocm-sdk-libraries", libraries_files(), "7.10.1")
    cause = ask_about(fetched, index).only("W-INDEX-004")["cause"]
    assert cause == "the index has no wheel of rocm-sdk-libraries 7.10.0 (any more)"
    (index.wheels / CORE).rename(index.wheels / CORE.replace("-any", "-linux_x86_64"))
    said = ask_about(fetched, index)
    assert said.codes == {"E-INDEX-006"}
    assert said.status == 1
    assert "for py3-none-any, which is what is installed" in said.problems[0]["cause"]


def test_a_yanked_wheel_is_compared(fetched: Path, index: Index) -> None:
    index.change = lambda row: row.update(yanked="bad")
    for form in ("json", "html"):
        index.form = form
        assert "the wheel is yanked" in said_as_text(fetched, index, "--checks")


def test_an_empty_directory_has_not_passed(tmp_path: Path, index: Index) -> None:
    (tmp_path / "empty").mkdir()
    said = run_test(tmp_path, "--target", str(tmp_path / "empty"), "--index-digests", index.address, "--only", "index")
    assert (said.status, said.codes) == (1, {"E-INDEX-006"})
    assert said.problems[0]["cause"] == "no package of the SDK is installed here"


def test_a_closure_is_on_no_index(fetched: Path, index: Index) -> None:
    for info in fetched.glob("*.dist-info"):
        (info / "closure.json").write_text('{"command": "rocm-sdk-build closure --for x"}')
    said = ask_about(fetched, index)
    assert said.codes == {"E-INDEX-006"}
    assert "rocm-sdk-build closure made it" in said.only("E-INDEX-006")["cause"]


def test_which_index_is_asked(fetched: Path, index: Index, tmp_path: Path) -> None:
    words = ("--index-digests", "--only", "index")
    other = "http://127.0.0.1:9/simple/"  # the port that discards
    cases: list[dict[str, str]] = [
        {"ROCM_SDK_INDEX": index.address, "PIP_INDEX_URL": other},
        {"PIP_INDEX_URL": index.address, "PIP_CONFIG_FILE": os.devnull},
        {"PIP_INDEX_URL": "", "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")},
    ]
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {index.address}\n")
    for variables in cases:
        said = run_test(fetched, *words, NETRC=os.devnull, **variables)
        assert said.problems == [], variables
    said = run_test(fetched, *words, ROCM_SDK_INDEX="file:///srv/simple")
    assert "file:///srv/simple, which is configured, is on no web server" in said.only("E-INDEX-006")["cause"]


def test_a_password_is_not_printed(fetched: Path, index: Index) -> None:
    address = index.address.replace("://", "://me:s3cret@")
    said = ask_about(fetched, address)
    assert said.problems == []
    index.page = b"no links"
    said = ask_about(fetched, address)
    assert said.codes == {"E-INDEX-006"}
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
    result = completed(command)
    assert result.returncode == 2
    assert MISUSES[words] in result.stderr


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


def test_an_index_without_digests(fetched: Path, index: Index) -> None:
    index.change = lambda row: (row["hashes"].clear(), row.update({"core-metadata": False}))[0]
    assert ask_about(fetched, index).problems == []
    assert "it names no SHA-256 of the wheel" in said_as_text(fetched, index, "--checks")


def test_tags_are_those_of_the_name() -> None:
    assert tags_of("x-1-py2.py3-none-any.whl") == tags_in(["py3-none-any", "py2-none-any", "py2-none-any"])
    assert tags_of("x-1-py2.py3-none-any.whl") != tags_in(["py3-none-any"])
    assert tags_in(["py2-none-any", "py3-abi3-any"]) is None
    assert tags_in([]) is tags_in(["py3-none"]) is tags_of("x-1.whl") is tags_of("x-1-py3-none-any.zip") is None


def test_nobody_is_reached(fetched: Path) -> None:
    (fetched / "sitecustomize.py").write_text("from rocm_sdk.index.web import server; server._PAUSE = 0.01\n")
    found = ask_about(fetched, "http://127.0.0.1:9/simple/", "--seconds", "20")
    assert found.codes == {"E-INDEX-005"}
    assert found.only("E-INDEX-005")["title"] == "http://127.0.0.1:9/simple/ cannot be asked about rocm-sdk-core"
    skipped = found.subject("index")["not_tried"]
    assert skipped == ["rocm-sdk-libraries: http://127.0.0.1:9/simple/ is not reached"]
    assert "http_proxy" in str(found.problems) or "https_proxy" in str(found.problems)


def test_sarif_has_it(fetched: Path, index: Index, tmp_path: Path) -> None:
    rewrite_record(fetched, LIBRARY)
    ask_about(fetched, index, "--sarif", str(tmp_path / "found.sarif"))
    assert "E-INDEX-001" in (tmp_path / "found.sarif").read_text()


def test_metadata_is_that_of_the_wheel(index: Index) -> None:
    """The test's own index says the truth."""
    (row,) = index.rows("rocm-sdk-core")
    assert row["core-metadata"]["sha256"] == sha256(member(index.wheels / CORE, "METADATA"))

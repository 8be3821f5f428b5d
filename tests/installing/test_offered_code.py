"""The statements of an index's packages about their GPUs: read in small parts, and hostile."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_packages import Index as Pages
from indexed_packages import indexed
from package_index import serve

from rocm_sdk.index.install_errors import InstallRefusedError
from rocm_sdk.index.installer_answer import Answer, Package
from rocm_sdk.index.offered_code import DEVICE, WHOLE, Offer, read_offer
from rocm_sdk.index.request import Index

VERSION = "7.1.2"
CHOSEN = Answer({name: Package(VERSION, "") for name in ("rocm", "rocm-sdk-core", "rocm-sdk-libraries")}, frozenset())


def ask(address: str) -> Offer | str:
    return read_offer(Index(address, address, "stable", (7, 0)), CHOSEN, ("gfx1030",))


def archive(text: str | bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return rocm's source distribution with this selector.json."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        member = tarfile.TarInfo(f"rocm-{VERSION}/selector.json")
        content = text.encode() if isinstance(text, str) else text
        member.type, member.linkname = kind, member.name
        member.size = len(content) if kind == tarfile.REGTYPE else 0
        made.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue())


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Yield the address of an index in tmp_path, whose page of rocm has one file."""
    (tmp_path / "simple/rocm").mkdir(parents=True)
    (tmp_path / "simple/rocm/index.html").write_text(f'<a href="../../rocm-{VERSION}.tar.gz">rocm-{VERSION}.tar.gz</a>')
    yield from serve(tmp_path)


def _with_size(size: int) -> bytes:
    header = tarfile.TarInfo("odd")
    header.size = size
    return bytes(tarfile.TarInfo("first").tobuf()) + header.tobuf(tarfile.GNU_FORMAT) + bytes(10240)


DAMAGED = {
    "no gzip": b"PK",
    "a bomb": gzip.compress(bytes(64 << 20)),
    "no archive": gzip.compress(b"x" * 5000),
    "a negative size": gzip.compress(_with_size(-512)),
    "no JSON": archive("{"),
    "deep": archive("[" * 100_000),
    "a list": archive("[]"),
    "no list of names": archive('{"families": 5}'),
    "other than names": archive('{"families": ["gfx942", 5]}'),
    "a name that a terminal obeys": archive('{"families": ["gfx942\\u001b"]}'),
    "one name too many": archive(json.dumps({"families": [f"gfx{number}" for number in range(1001)]})),
    "a name too long": archive(json.dumps({"families": ["g" * 100]})),
    "large": bytes(5 << 20),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_selector(address: str, tmp_path: Path, content: bytes) -> None:
    (tmp_path / f"rocm-{VERSION}.tar.gz").write_bytes(content)
    with pytest.raises(
        InstallRefusedError, match=f"^{address.removesuffix('simple/')}rocm-{VERSION}.tar.gz: "
    ) as found:
        ask(address)
    assert found.value.fix


@pytest.mark.parametrize("content", [archive("", tarfile.SYMTYPE), archive('{"families": [], "extras": 5}')])
def test_a_selector_that_says_nothing(address: str, tmp_path: Path, content: bytes) -> None:
    """A link to itself is none. Then the index is asked on, which has nothing else."""
    (tmp_path / f"rocm-{VERSION}.tar.gz").write_bytes(content)
    said = ask(address)
    assert isinstance(said, str)


def test_extras_that_are_none(address: str, tmp_path: Path) -> None:
    (tmp_path / f"rocm-{VERSION}.tar.gz").write_bytes(archive('{"families": ["gfx942"], "extras": {"a": 5, "b": [5]}}'))
    assert ask(address) == Offer(WHOLE, ("gfx942",))


def test_the_most_and_longest_names(address: str, tmp_path: Path) -> None:
    names = ["g" * 99, *(f"gfx{number}" for number in range(999))]
    (tmp_path / f"rocm-{VERSION}.tar.gz").write_bytes(archive(json.dumps({"families": names})))
    assert ask(address) == Offer(WHOLE, tuple(names))


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    """Yield an index with a large rocm-sdk-core, and with rocm as a wheel."""
    for name in ("rocm", "rocm_sdk_core"):
        with zipfile.ZipFile(tmp_path / f"{name}-{VERSION}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}-{VERSION}.dist-info/METADATA", "")
            if name == "rocm_sdk_core":
                wheel.writestr("_rocm_sdk_core/lib/libx.so.1", bytes(20 << 20))
                facts = {"dist_amdgpu_targets": "gfx942:xnack+;gfx942;gfx1030"}
                wheel.writestr("_rocm_sdk_core/share/therock/dist_info.json", json.dumps(facts))
    with indexed(tmp_path) as index:
        index.raw["/simple/"] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        yield index


def test_the_facts_of_core_are_read_in_parts(pages: Pages) -> None:
    assert ask(pages.address) == Offer(WHOLE, ("gfx942", "gfx1030"))
    assert pages.sent < 1 << 19


@pytest.mark.parametrize("facts", [None, [], {"dist_amdgpu_targets": ""}, {"dist_amdgpu_targets": 5}])
def test_a_core_without_facts(pages: Pages, tmp_path: Path, facts: object) -> None:
    with zipfile.ZipFile(tmp_path / f"rocm_sdk_core-{VERSION}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"rocm_sdk_core-{VERSION}.dist-info/METADATA", "")
        if facts is not None:
            wheel.writestr("_rocm_sdk_core/share/therock/dist_info.json", json.dumps(facts))
    assert "does not say for which GPUs" in str(ask(pages.address))


@pytest.mark.parametrize(("version", "names"), [(VERSION, {"gfx942", "gfx1030"}), ("7.1.1", {"gfx942"})])
def test_a_target_whose_package_has_another_release(tmp_path: Path, version: str, names: set[str]) -> None:
    for name, of_it in {"rocm": VERSION, "rocm_sdk_device_gfx942": "7.0.0", "rocm_sdk_device_gfx1030": version}.items():
        with zipfile.ZipFile(tmp_path / f"{name}-{of_it}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}-{of_it}.dist-info/METADATA", "")
    with indexed(tmp_path) as index:
        page = b"".join(
            b'<a href="%s/">%s</a>' % (each, each) for each in (b"rocm-sdk-device-gfx942", b"rocm-sdk-device-gfx1030")
        )
        index.raw["/simple/"] = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page
        offer = ask(index.address)
    assert isinstance(offer, Offer) and (offer.kind, set(offer.names)) == (DEVICE, names)


@pytest.mark.parametrize("page", [bytes((8 << 20) + 1), b'<a href="x">' * 20_001], ids=["bytes", "links"])
def test_an_index_that_lists_all_of_pypi(pages: Pages, page: bytes) -> None:
    """The installer is asked for the packages by name."""
    pages.raw["/simple/"] = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page
    assert "limit" in str(ask(pages.address))


def test_a_server_without_parts(pages: Pages) -> None:
    pages.sends_parts = False
    assert "does not say for which GPUs" in str(ask(pages.address))
    assert pages.sent < 21 << 20  # what the system's buffers took of the wheel


def test_an_index_that_this_process_cannot_read(tmp_path: Path) -> None:
    assert "only the installer reads a directory" in str(ask(tmp_path.as_uri()))
    assert "Connection refused" in str(ask("http://127.0.0.1:9/simple/"))

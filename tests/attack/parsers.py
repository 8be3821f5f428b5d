"""Attacks what reads foreign bytes in Python with damaged files: an error must be of ours, and name the file.

usage: python tests/attack/parsers.py [--rounds N] [--seed S] [--only ROUND] [--keep DIR]

A round has one damaged input for each parser.
"""

import contextlib
import io
import json
import lzma
import random
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from email.message import Message
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sample_device_code import bundle, compressed, kpack, library, objects
from victims import WrongError, main

from rocm_sdk import RocmSdkError
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.devel.archive import Archive
from rocm_sdk.fit.code.found_code import code_in
from rocm_sdk.fit.code.note import parse_history
from rocm_sdk.index.web.remote_wheel import file_in_wheel
from rocm_sdk.index.web.server import Answer, WebError
from rocm_sdk.index.web.simple_index import IndexedFile, files_of_project
from rocm_sdk.installed.record import parse_record
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.extract import extract_code
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file
from rocm_sdk_build.code.trees import rewrite_wheel
from rocm_sdk_build.inputs.archives import MANIFEST
from rocm_sdk_build.inputs.archives import unpack as unpack_artifact
from rocm_sdk_build.inputs.download import _links_of
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.output.promotion import promote

WISH = NewCode(("gfx1030",), check_loading=False, may_grow=True)
BUNDLE = bundle(objects("gfx1030", "gfx942", size=600))
NUMBERS = (0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)
TEXTS = (b"\xff", b"\0", b'"', b"\n", b"\x91" * 50, b"[" * 2000, b"{", b"../", b"%00", b"gfx1030", b"<a href=")
WHEEL = "rocm_sdk_core-7.0.0rc1-py3-none-any.whl"


class Parser(NamedTuple):
    """Something that reads foreign bytes."""

    name: str  # of the file
    content: Callable[[], bytes]  # an intact one
    read: Callable[[Path], object]
    names_file: bool = True  # its errors do; the callers of others name it
    errors: tuple[type[Exception], ...] = (RocmSdkError, PackagingError)


@cache
def a_library() -> bytes:
    with tempfile.TemporaryDirectory() as place:
        return library(Path(place, "libx.so"), [BUNDLE, BUNDLE]).read_bytes()


def a_zip(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


@cache
def a_wheel() -> bytes:
    info = "rocm_sdk_core-7.0.0rc1.dist-info"
    return a_zip(
        ("_rocm_sdk_core/lib/x.co", BUNDLE),
        ("_rocm_sdk_core/.devel_links/links.json", b'{"version": "7.0.0rc1"}'),
        ("rocm_sdk_core/_dist_info.py", b"\n__version__ = '7.0.0rc1'\nAVAILABLE_TARGET_FAMILIES.append('gfx942')\n"),
        (f"{info}/METADATA", b"Metadata-Version: 2.4\nName: rocm-sdk-core\nVersion: 7.0.0rc1\nRequires-Dist: a==1\n"),
        (f"{info}/RECORD", b"_rocm_sdk_core/lib/x.co,sha256=abc,5\n"),
    )


def a_tar(mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("x.co")
        info.size = len(BUNDLE)
        archive.addfile(info, io.BytesIO(BUNDLE))
    return file.getvalue()


@cache
def an_artifact(form: str) -> bytes:
    """Return an archive of an artifact, without the checksums of compression, so that damage comes further."""
    files = {MANIFEST: b"x/stage\n", "x/stage/" + "n" * 120: BUNDLE, "x/stage/b": b"b"}
    data = tar_with_links(files, "x/stage")
    return data if form == "tar" else compressed_artifact(data, form)


def tar_with_links(files: Mapping[str, bytes], directory: str) -> bytes:
    """Return a tar archive of the files, and of links of both kinds in the directory to its file `b`."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, kind, target in (("c", tarfile.SYMTYPE, "b"), ("d", tarfile.LNKTYPE, f"{directory}/b")):
            info = tarfile.TarInfo(f"{directory}/{name}")
            info.type, info.linkname = kind, target
            archive.addfile(info)
    return file.getvalue()


def compressed_artifact(data: bytes, form: str) -> bytes:
    if form == "zst":
        return bytes(import_zstd().compress(data))
    return lzma.compress(data, check=lzma.CHECK_NONE)


def damaged_inside(path: Path) -> object:
    """Unpack a compressed archive whose damage is inside, where no checksum of the compression finds it."""
    path.write_bytes(compressed_artifact(path.read_bytes(), "zst"))
    return unpacked(path)


def unpacked(path: Path) -> object:
    return unpack_artifact(path, path.parent / "cache")


@cache
def a_development_tree() -> bytes:
    files = {"__init__.py": b"", "include/" + "n" * 120: b"x" * 700, "lib/b": b"b"}
    return tar_with_links({f"_rocm_sdk_devel/{name}": data for name, data in files.items()}, "_rocm_sdk_devel/lib")


def development_tree_read(path: Path) -> object:
    with Archive(str(path)) as archive:
        for member in archive.members():
            for _ in archive.data_of(member):
                pass
    return None


def rewritten(path: Path) -> object:
    return rewrite_file(str(path), str(path.with_name("new")), WISH)


def listed(path: Path) -> object:
    """List the code in a file, and raise the first error among the answers."""
    for found in code_in(str(path)):
        if isinstance(found, RocmSdkError):
            raise found
    return None


def of_page(path: Path) -> object:
    server: Any = SimpleNamespace(address="http://x/", read=lambda _address, _limit: path.read_bytes())
    return _links_of(server)


class Index:
    """An index that answers everything with one file, as a whole."""

    def __init__(self, path: Path, kind: str) -> None:
        self.address = "https://x/simple/"
        self._path = path
        self._headers = Message()
        self._headers["Content-Type"] = kind

    def answer(self, address: str, _limit: int, _headers: object = None, status: int = 200) -> Answer:
        if status == 206:
            raise WebError(f"{address}: whole", "", 200)
        return Answer(self._path.read_bytes(), address, 200, self._headers)

    def read(self, address: str, limit: int) -> bytes:
        return self.answer(address, limit).body


def indexed(path: Path) -> object:
    """Return the files that a page lists."""
    index: Any = Index(path, JSON_PAGE if path.suffix == ".json" else "text/html")
    return files_of_project(index, "rocm-sdk-core")


def remote(path: Path) -> object:
    index: Any = Index(path, "application/octet-stream")
    return file_in_wheel(index, INDEXED, "/METADATA")


def released(path: Path) -> object:
    return promote(path.parent, path.parent / "release", "7.0.0")


NOTE = json.dumps({"schema": 1, "sha256": "ab", "steps": [{"operation": "keep", "targets": ["gfx1030"]}]}).encode()
KERNELS = {f"lib/libx.so#{i}": objects("gfx1030", "gfx942", size=80) for i in range(2)}
ARCHIVE = {key: {name.split("--")[1]: data for name, data in images.items()} for key, images in KERNELS.items()}
PAGE = b'<html><a href="a_lib_generic.tar.xz">x</a><!-- y --><a href="http://x/b">z</a></html>'
JSON_PAGE = "application/vnd.pypi.simple.v1+json"
INDEXED = IndexedFile(WHEEL, f"https://x/{WHEEL}")
FILES = [{"filename": WHEEL, "url": f"../../{WHEEL}", "hashes": {"sha256": "ab" * 32}}]
LINKS = f'<a href="../../{WHEEL}#sha256={"ab" * 32}" data-core-metadata="sha256=cd">x</a>'
PARSERS = (
    Parser("index.json", lambda: json.dumps({"files": FILES}).encode(), indexed, False, (WebError,)),
    Parser("index.html", LINKS.encode, indexed, False, (WebError,)),
    Parser("remote.whl", a_wheel, remote, False, (WebError,)),
    Parser(
        "RECORD", lambda: b'a,sha256=b,5\n"c ""d",,\n', lambda p: parse_record(p.read_bytes()), False, (ValueError,)
    ),
    Parser("note", lambda: NOTE, lambda path: parse_history(path.read_bytes().decode("latin-1"), str(path))),
    Parser("page", lambda: PAGE, of_page, False, (WebError,)),
    Parser("plain.co", lambda: BUNDLE, rewritten),
    Parser("zstd.co", lambda: compressed(BUNDLE, 3), rewritten),
    Parser("zlib.co", lambda: compressed(BUNDLE, 2, "zlib"), rewritten),
    Parser("libx.so", a_library, rewritten),
    Parser("x.kpack", lambda: kpack(ARCHIVE), rewritten),
    Parser("y.co", lambda: BUNDLE, lambda path: extract_code(str(path), str(path.parent / "out"))),
    Parser("x.whl", a_wheel, listed),
    Parser("x.tar", lambda: a_tar("w"), listed),
    Parser("x.tar.gz", lambda: a_tar("w:gz"), listed),
    Parser("x_lib_generic.tar.xz", lambda: an_artifact("xz"), unpacked),
    Parser("y_lib_generic.tar.zst", lambda: an_artifact("zst"), unpacked),
    Parser("z_lib_generic.tar.zst", lambda: an_artifact("tar"), damaged_inside),
    Parser("_devel.tar", a_development_tree, development_tree_read),
    Parser("_devel.tar.xz", lambda: lzma.compress(a_development_tree(), check=lzma.CHECK_NONE), development_tree_read),
    Parser(f"code/{WHEEL}", a_wheel, lambda path: rewrite_wheel(str(path), str(path.parents[1] / WHEEL), WISH)),
    Parser(f"index/{WHEEL}", a_wheel, lambda path: write_index(path.parent)),
    Parser(f"promote/{WHEEL}", a_wheel, released),
)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return the data with a few bytes replaced, inserted, doubled or left out."""
    content = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        at = chance.randrange(len(content) or 1)
        match chance.choice(("byte", "byte", "bit", "number", "number", "text", "cut", "double", "end")):
            case "byte":
                content[at : at + 1] = bytes([chance.randrange(256)])
            case "bit":
                content[at : at + 1] = bytes([content[at] ^ 1 << chance.randrange(8)]) if content else b""
            case "number":
                size = chance.choice((2, 4, 8))
                number = chance.choice((*NUMBERS, len(data), chance.randrange(len(data) + 1)))
                order = chance.choice(("little", "little", "big"))
                content[at : at + size] = (number & (1 << 8 * size) - 1).to_bytes(size, order)
            case "text":
                content[at : at + chance.choice((0, 1, 4))] = chance.choice(TEXTS)
            case "cut":
                del content[at : at + chance.choice((1, 4, 100))]
            case "double":
                content[at:at] = content[at : at + chance.choice((1, 8, 64))]
            case "end":
                del content[at:]
    return bytes(content)


def attack(root: Path, chance: random.Random) -> str:
    """Give each parser a damaged input, and return a word for how the round ended."""
    refused = 0
    for parser in PARSERS:
        path = root / "in" / parser.name
        path.parent.mkdir(parents=True)
        path.write_bytes(damaged(parser.content(), chance))
        try:
            parser.read(path)
        except parser.errors as error:
            refused += 1
            if parser.names_file and str(path) not in str(error):
                raise WrongError(f"{parser.name}: its error does not name {path}: {error}") from error
        except Exception as error:
            raise WrongError(f"{parser.name}: {type(error).__name__}: {error}") from error
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(root / "in")
    return f"{refused * 10 // len(PARSERS)}0 % refused"


if __name__ == "__main__":
    sys.exit(main(attack, __doc__ or ""))

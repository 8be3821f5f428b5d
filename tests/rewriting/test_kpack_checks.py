"""The refusals of the reader of kpack archives, and the findings of the check of a new archive."""

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_device_code import FLAGS, code_object, kpack

from rocm_sdk import RewriteError
from rocm_sdk_build.code import kpack as module
from rocm_sdk_build.code.kpack import read_archive
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

ARCHIVE = kpack({"lib/libx.so#0": {target: code_object(FLAGS[target], size=900) for target in ("gfx1030", "gfx942")}})
(START,) = struct.unpack_from("<Q", ARCHIVE, 8)


def read(path: Path, magic: bytes, version: int, start: int, rest: bytes) -> None:
    path.write_bytes(magic + struct.pack("<IQ", version, start) + rest)
    with path.open("rb") as file:
        read_archive(file.fileno(), str(path))


def test_what_is_no_archive(tmp_path: Path) -> None:
    path, rest = tmp_path / "x.kpack", ARCHIVE[16:]
    read(path, b"KPAK", 1, START, rest)
    without_code = rest[:48] + b"\x82\xa3toc\x80\xa5blobs\x90"  # at the first byte where it may be
    read(path, b"KPAK", 1, 64, without_code)
    for magic, version, start in (
        (b"kpak", 1, START),
        (b"KPAK", 0, START),
        (b"KPAK", 2, START),
        (b"KPAK", 1, 0),
        (b"KPAK", 1, len(ARCHIVE)),
        (b"KPAK", 1, len(ARCHIVE) + 1),
        (b"KPAK", 1, 2**64 - 1),
    ):
        with pytest.raises(RewriteError, match="it is not a kpack archive of version 1"):
            read(path, magic, version, start, rest)
    with pytest.raises(RewriteError, match="it is not a kpack archive of version 1"):
        read(path, b"KPAK", 1, 63, rest[:47] + without_code[48:])


def one_byte_more(add: Callable[..., int]) -> Callable[..., int]:
    return lambda self, descriptor, offset, size, path: add(self, descriptor, offset, size + 1, path)


def one_byte_further(add: Callable[..., int]) -> Callable[..., int]:
    return lambda self, descriptor, offset, size, path: add(self, descriptor, offset + 1, size, path)


@pytest.mark.parametrize("fault", [one_byte_more, one_byte_further])
def test_a_wrong_copy_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[[Any], Any]) -> None:
    path = tmp_path / "x.kpack"
    path.write_bytes(ARCHIVE)
    monkeypatch.setattr(module.NewArchive, "add_stored", fault(module.NewArchive.add_stored))
    with pytest.raises(RewriteError, match=r"the code of lib/libx\.so#0 for gfx1030 differs") as caught:
        rewrite_file(str(path), str(tmp_path / "new.kpack"), NewCode(("gfx1030",)))
    assert caught.value.code == "E-CODE-013"
    assert [each.name for each in tmp_path.iterdir()] == ["x.kpack"]


def test_a_kernel_of_another_target_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, finish = tmp_path / "x.kpack", module.NewArchive.finish
    path.write_bytes(ARCHIVE)

    def with_another_target(self: module.NewArchive, contents: Any) -> None:
        finish(self, contents)
        file = self._output
        data = os.pread(file, os.fstat(file).st_size, 0)
        os.pwrite(file, data.replace(b"gfx1030", b"gfx1031"), 0)

    monkeypatch.setattr(module.NewArchive, "finish", with_another_target)
    with pytest.raises(RewriteError, match="it has other kernels"):
        rewrite_file(str(path), str(tmp_path / "new.kpack"), NewCode(("gfx1030",)))
    assert [each.name for each in tmp_path.iterdir()] == ["x.kpack"]

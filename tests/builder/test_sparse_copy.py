"""Copies that lack their GPU code: with it they are what whole copies would be."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from sample_code_libraries import FORMS, PLAIN, build
from sample_device_code import bundle, library, objects

from rocm_sdk import device_code
from rocm_sdk_build.base.original_bytes import Rest, complete, read_in_chunks
from rocm_sdk_build.code.patchelf import set_search_path
from rocm_sdk_build.code.sparse_copy import copy_file

ENTRIES = ["$ORIGIN", "$ORIGIN/../../_rocm_sdk_core/lib"]


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a library with 3 MB of code."""
    return library(tmp_path / "liblarge.so.1", [bundle(objects("gfx942", "gfx1030", "gfx90a", size=1 << 20))])


def test_a_hole(large: Path, tmp_path: Path) -> None:
    large.chmod(0o555)
    copy = tmp_path / "copy"
    rest = copy_file(large, copy)
    assert rest is not None, "this file system shares data, so that no copy needs a hole"
    (code,) = device_code(large).bundles
    assert rest == Rest(large, code.offset, rest.end)
    assert rest.end >= code.offset + code.size
    facts = copy.stat()
    assert (facts.st_size, facts.st_mode & 0o777) == (large.stat().st_size, 0o755)
    assert facts.st_blocks * 512 < 1 << 18
    assert b"".join(read_in_chunks(copy, rest)) == large.read_bytes() != copy.read_bytes()
    complete(copy, rest)
    assert copy.read_bytes() == large.read_bytes()
    assert b"".join(read_in_chunks(copy, None)) == large.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_a_search_path(tmp_path: Path, form: str) -> None:
    path = build(tmp_path, form, PLAIN)
    whole, sparse = tmp_path / "whole", tmp_path / "sparse"
    shutil.copy(path, whole)
    assert set_search_path(whole, ENTRIES, None) is None
    before = copy_file(path, sparse)
    rest = set_search_path(sparse, ENTRIES, before)
    assert rest == (None if "lld" in form else before)  # patchelf changes the whole file
    assert b"".join(read_in_chunks(sparse, rest)) == whole.read_bytes()
    assert ":".join(ENTRIES) in subprocess.check_output(["readelf", "-dW", whole], text=True)


def test_copies_without_a_hole(large: Path, tmp_path: Path) -> None:
    """Where there is no code, it is not a library, or something else lies in the code."""
    data = bytearray(large.read_bytes())
    (table,) = struct.unpack_from("<Q", data, 40)
    (code,) = device_code(large).bundles
    section = next(
        at for at in range(table, len(data), 64) if struct.unpack_from("<Q", data, at + 24)[0] not in (0, code.offset)
    )
    struct.pack_into("<Q", data, section + 24, code.offset + 8)
    cases = {"text": b"#!/bin/sh\n", "cut off": data[: len(data) // 2], "overlap": data, "empty": b""}
    plain = library(tmp_path / "libplain.so.1", [])
    cases["no code"] = plain.read_bytes()
    for name, content in cases.items():
        original, copy = tmp_path / name, tmp_path / f"{name} copy"
        original.write_bytes(content)
        assert copy_file(original, copy) is None, name
        assert copy.read_bytes() == content, name

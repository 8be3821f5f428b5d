"""Kernels and their metadata. Judge: llvm-readelf, which prints the notes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_device_code import bundle, compiled_kernel, compressed, library

from rocm_sdk import RewriteError
from rocm_sdk.gpu_code.kernels import kernels_in
from rocm_sdk.gpu_code.msgpack import unpack

ID = "hipv4-amdgcn-amd-amdhsa--"


@pytest.mark.parametrize("version", [3, 4])
def test_what_the_notes_say(tmp_path: Path, version: int) -> None:
    code = compiled_kernel(tmp_path, "gfx90a", version)
    (tmp_path / "k.co").write_bytes(code)
    told = subprocess.check_output(["llvm-readelf", "--notes", str(tmp_path / "k.co")], text=True)
    (kernel,) = kernels_in(str(tmp_path / "k.co"), str(tmp_path))
    assert kernel.name == "scale"
    for key in (".vgpr_count", ".sgpr_count", ".wavefront_size", ".kernarg_segment_size"):
        match = re.search(rf"{re.escape(key)}: +(\d+)", told)
        assert match is not None
        assert kernel.metadata[key] == int(match[1])
    arguments = kernel.metadata[".args"]
    assert isinstance(arguments, list)
    assert [each[".name"] for each in arguments[:2]] == ["Y", "N"]


def test_version_2(tmp_path: Path) -> None:
    """Its metadata is YAML, in which Y is a boolean for some readers; here it stays what it is."""
    (tmp_path / "k.co").write_bytes(compiled_kernel(tmp_path, "gfx900", 2))
    (kernel,) = kernels_in(str(tmp_path / "k.co"), str(tmp_path))
    assert (kernel.target, kernel.name, kernel.metadata) == ("gfx900:xnack+", "scale", {})


@pytest.mark.parametrize("packed", [False, True])
def test_the_command(tmp_path: Path, packed: bool) -> None:
    code = bundle({ID + name: compiled_kernel(tmp_path, name) for name in ("gfx1030", "gfx90a")})
    path = library(tmp_path / "libx.so", [compressed(code, 2) if packed else code])
    command = [sys.executable, "-m", "rocm_sdk", "code", str(path), "--kernels"]
    lines = subprocess.check_output(command, text=True).splitlines()
    assert [line.split("   ")[:3] for line in lines] == [
        [str(path), "gfx1030", "scale"],
        [str(path), "gfx90a", "scale"],
    ]
    assert all(re.search(r"\d+ VGPRs, \d+ SGPRs, 0 bytes of LDS, 0 bytes of scratch$", line) for line in lines)
    (file,) = json.loads(subprocess.check_output([*command, "--json"]))["files"]
    assert [each["target"] for each in file["kernels"]] == ["gfx1030", "gfx90a"]


def test_damaged_metadata(tmp_path: Path) -> None:
    code = compiled_kernel(tmp_path, "gfx1030")
    at = code.index(b"amdhsa.kernels")
    for damage in (b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"):
        path = tmp_path / "k.co"
        path.write_bytes(code[: at + 14] + damage + code[at + 14 + len(damage) :])
        with pytest.raises(RewriteError, match="the metadata of a code object is damaged"):
            list(kernels_in(str(path), str(tmp_path)))


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    try:
        unpack(data)
    except ValueError:
        return


def test_values_in_each_other() -> None:
    with pytest.raises(ValueError, match="32 deep"):
        unpack(b"\x91" * 1000)


def test_what_other_readers_of_msgpack_refuse_or_take() -> None:
    assert unpack(b"\x01 and more") == 1
    assert unpack(b"\x81\x01\xa1a") == {1: "a"}
    assert unpack(b"\xa2\xffa") == "\ufffda"
    with pytest.raises(ValueError, match="a value of an unknown type, 0xd4"):
        unpack(b"\xd4\x01\x00")

"""Kernels and their metadata. Judge: llvm-readelf, which prints the notes."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_device_code import bundle, compiled_kernel, compressed, described_object, library, message

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


# Each kind of value as msgpack, and as it is printed.
VALUES = {
    "nil": (b"\xc0", None),
    "true": (b"\xc3", True),
    "false": (b"\xc2", False),
    "small": (b"\x7f", 127),
    "small negative": (b"\xe0", -32),
    "unsigned 8": (b"\xcc\xff", 255),
    "unsigned 16": (b"\xcd\xff\xfe", 65534),
    "unsigned 32": (b"\xce\xff\xff\xff\xff", 4294967295),
    "unsigned 64": (b"\xcf" + b"\xff" * 8, 18446744073709551615),
    "signed 8": (b"\xd0\x80", -128),
    "signed 16": (b"\xd1\x80\x00", -32768),
    "signed 32": (b"\xd2\x80\x00\x00\x01", -2147483647),
    "signed 64": (b"\xd3\x80" + bytes(7), -9223372036854775808),
    "signed, not negative": (b"\xd1\x7f\xff", 32767),
    "float": (b"\xca\x3f\xc0\x00\x00", 1.5),
    "double": (b"\xcb\xbf\xb9\x99\x99\x99\x99\x99\x9a", -0.1),
    "text": (b"\xa2ab", "ab"),
    "text that is no UTF-8": (b"\xa3a\xff\x62", "a\ufffdb"),
    "text of 8": (b"\xd9\x01a", "a"),
    "text of 16": (b"\xda\x00\x03\xe2\x82\xac", "\u20ac"),
    "text of 32": (b"\xdb\x00\x00\x00\x00", ""),
    "bytes of 8": (b"\xc4\x02\x00\xff", "b'\\x00\\xff'"),
    "bytes of 16": (b"\xc5\x00\x01a", "b'a'"),
    "bytes of 32": (b"\xc6\x00\x00\x00\x00", "b''"),
    "list": (b"\x93\x01\x91\xc0\x90", [1, [None], []]),
    "list of 16": (b"\xdc\x00\x01\x01", [1]),
    "list of 32": (b"\xdd\x00\x00\x00\x01\x02", [2]),
    "map": (b"\x82\xa1a\x80\xa1b\x81\xff\xc3", {"a": {}, "b": {"-1": True}}),
    "map of 16": (b"\xde\x00\x01\x01\xa0", {"1": ""}),
    "map of 32": (b"\xdf\x00\x00\x00\x01\xc3\x01", {"true": 1}),
    "key that is there twice": (b"\x83\xa1a\x01\xa1b\x02\xa1a\x03", {"a": 3, "b": 2}),
}


def test_values_of_each_kind(tmp_path: Path) -> None:
    """All metadata is printed, in its order, whatever a compiler writes."""
    pairs = b"".join(message(name) + data for name, (data, _) in VALUES.items())
    kernel = b"\xde" + struct.pack(">H", len(VALUES) + 1) + pairs + message(".name") + b"\xa1\xff"
    other = message({".name": "second", "x": 1})
    (tmp_path / "k.co").write_bytes(
        described_object(b"\x82\xa1a\x01\xaeamdhsa.kernels\x94" + kernel + b"\x01\x80" + other + b"behind")
    )
    command = [sys.executable, "-m", "rocm_sdk", "code", "k.co", "--kernels", "--json"]
    kernels = [
        {
            "target": "gfx1030",
            "bundle": 0,
            "name": "\ufffd",
            "metadata": {name: each for name, (_, each) in VALUES.items()},
        },
        {"target": "gfx1030", "bundle": 0, "name": "second", "metadata": {".name": "second", "x": 1}},
    ]
    kernels[0]["metadata"] |= {".name": "\ufffd"}  # type: ignore[operator]
    document = {"schema": 1, "files": [{"path": "k.co", "kernels": [{**each, "demangled": None} for each in kernels]}]}
    assert subprocess.check_output(command, cwd=tmp_path, text=True) == json.dumps(document, indent=2) + "\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            b"---\nKernels:\n  - Name:            scale\n    SymbolName: x\n  - Name:            'Y'\n...\n",
            ["scale", "Y"],
        ),
        (b'  - Name:"a b"\r\n - Name: c\n  - Name: \xff', ["a b", "\ufffd"]),
        (b"  - Name:", [""]),
        (b"  - Name", []),
    ],
)
def test_names_in_yaml(tmp_path: Path, text: bytes, names: list[str]) -> None:
    (tmp_path / "k.co").write_bytes(described_object(text, b"AMD", 10))
    assert [(each.name, each.metadata) for each in kernels_in(str(tmp_path / "k.co"), str(tmp_path))] == [
        (name, {}) for name in names
    ]


def test_notes_that_are_padded_to_eight_bytes_and_those_of_others(tmp_path: Path) -> None:
    metadata = message({"amdhsa.kernels": [{".name": "scale"}]})
    for data, found in (
        (described_object(metadata, align=8), ["scale"]),
        (described_object(metadata, b"AMD"), []),
        (described_object(metadata, kind=33), []),
        (described_object(message([1, 2])), []),
        (described_object(message({"amdhsa.kernels": 1, "amdhsa.version": [1, 1]})), []),
        (described_object(message({"amdhsa.kernels": [{".name": 1}, 2, {"name": "x"}]})), []),
    ):
        (tmp_path / "k.co").write_bytes(data)
        assert [each.name for each in kernels_in(str(tmp_path / "k.co"), str(tmp_path))] == found


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

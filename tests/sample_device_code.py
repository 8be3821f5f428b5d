"""Containers of device code, written byte by byte from their specifications, and libraries that hold them."""

import hashlib
import shutil
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from compiled_files import compile_file

from rocm_sdk.base.zstd import import_zstd

CLANG = shutil.which("clang") or "clang"  # a test whose clang does not start skips
BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
HIPF, HIPK = 0x48495046, 0x4B504948
HOST = "host-x86_64-unknown-linux--"

# EF_AMDGPU_MACH and features of code object version 4
FLAGS = {
    "gfx1030": 0x36,
    "gfx1033": 0x39,
    "gfx90a": 0x53F,
    "gfx90a:xnack-": 0x63F,
    "gfx90a:xnack+": 0x73F,
    "gfx942": 0x54C,
    "gfx1100": 0x41,
}


def code_object(flags: int, abi: int = 2, size: int = 200, os_abi: int = 64) -> bytes:
    """Return an AMDGPU ELF file without segments; bytes that differ from file to file follow its header."""
    ident = b"\x7fELF\x02\x01\x01" + bytes([os_abi, abi]) + bytes(7)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, 0, flags, 64, 56, 0, 64, 0, 0)
    return (ident + header + hashlib.shake_256(header).digest(max(size, 64)))[:size]


def objects(*targets: str, size: int = 200) -> dict[str, bytes]:
    """Return entries of a bundle for these targets."""
    return {f"hipv4-amdgcn-amd-amdhsa--{target}": code_object(FLAGS[target], size=size) for target in targets}


def bundle(entries: Mapping[str, bytes], align: int = 4096, host: str = HOST) -> bytes:
    """Return an offload bundle, with an empty host entry first."""
    ids = [host, *entries]
    position = 32 + sum(24 + len(each) for each in ids)
    head, body = BUNDLE_MAGIC + struct.pack("<Q", len(ids)), b""
    start = -(-position // align) * align
    for name in ids:
        content = entries.get(name, b"")
        body += bytes(-len(body) % align)
        head += struct.pack("<QQQ", start + len(body), len(content), len(name)) + name.encode()
        body += content
    return head + bytes(start - len(head)) + body


def _zstd(plain: bytes) -> bytes:
    return bytes(import_zstd().compress(plain, 3))


def compressed(plain: bytes, version: int, method: str = "zstd") -> bytes:
    """Return the bundle as a CCOB."""
    packed = _zstd(plain) if method == "zstd" else zlib.compress(plain)
    digest = hashlib.md5(plain, usedforsecurity=False).digest()[:8]
    sizes = {
        1: struct.pack("<I", len(plain)),
        2: struct.pack("<II", 24 + len(packed), len(plain)),
        3: struct.pack("<QQ", 32 + len(packed), len(plain)),
    }[version]
    return b"CCOB" + struct.pack("<HH", version, method == "zstd") + sizes + digest + packed


def offload_binary(images: Sequence[tuple[str, str, bytes]], version: int = 2, method: str = "") -> bytes:
    """Return records of LLVM's OffloadBinary, one for each (triple, target, image); in version 3 perhaps compressed."""
    result = b""
    for triple, target, image in images:
        texts = {"triple": triple, "arch": target}
        row = 16 if version == 1 else 24
        header = 40 if version == 3 else 32
        strings_at = header + 40
        at = strings_at + row * len(texts)
        rows, pool = b"", b""
        for key, value in texts.items():
            row_values = [at + len(pool), at + len(pool) + len(key) + 1]
            rows += struct.pack("<QQ", *row_values) + (b"" if version == 1 else struct.pack("<Q", len(value)))
            pool += key.encode() + b"\0" + value.encode() + b"\0"
        image_at = -(-(at + len(pool)) // 8) * 8
        entry = struct.pack("<HHIQQQQ", 1, 4, 0, strings_at, len(texts), image_at, len(image))
        size = image_at + len(image)
        count = 40 if version == 1 else 1
        body = entry + rows + pool
        body += bytes(image_at - header - len(body)) + image
        inflated = 0
        if method:
            inflated, body = size, _zstd(body) if method == "zstd" else zlib.compress(body)
        fields = [version, header + len(body), header, count]
        result += b"\x10\xff\x10\xad" + struct.pack("<IQQQ", *fields)
        result += (struct.pack("<Q", inflated) if version == 3 else b"") + body
        result += bytes(-len(result) % 8)
    return result


def message(value: object) -> bytes:
    """Return a value in msgpack."""
    if isinstance(value, bool) or value is None:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 128 else b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 | len(text)]) if len(text) < 32 else b"\xd9" + bytes([len(text)])) + text
    if isinstance(value, bytes):
        return b"\xc4" + bytes([len(value)]) + value
    if isinstance(value, dict):
        return b"\xde" + struct.pack(">H", len(value)) + b"".join(message(k) + message(v) for k, v in value.items())
    assert isinstance(value, list)
    return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(message, value))


def kernel_index(rows: Mapping[str, Sequence[str]]) -> bytes:
    """Return Tensile's index of kernels: {condition: names of the tables}.

    A condition is a processor, "gfx90a CU104" for one with a number of compute units, or "" for any GPU.
    """

    def predicate(condition: str) -> object:
        processor, _, units = condition.partition(" CU")
        terms: list[object] = [{"type": "Processor", "value": processor}]
        terms += [{"type": "CUCount", "value": int(units)}] if units else []
        value = {"type": "And", "value": terms} if units else terms[0]
        return {"type": "AMDGPU", "value": value} if condition else {"type": "TruePred"}

    def problem(tables: Sequence[str]) -> object:
        places: list[object] = [
            {"predicate": {"type": "TypesEqual", "value": ["Half"]}, "library": {"type": "Placeholder", "value": name}}
            for name in tables
        ]
        matching = {
            "type": "Matching",
            "properties": [],
            "table": [{"key": [1, 2], "index": 3}],
            "distance": "Equality",
        }
        return {"type": "ProblemMap", "map": {"Contraction": {"type": "Problem", "rows": [*places, matching]}}}

    library = {
        "type": "Hardware",
        "rows": [{"predicate": predicate(each), "library": problem(tables)} for each, tables in rows.items()],
    }
    return message({"solutions": [{"name": "kernel", "ideals": {}}], "library": library, "version": "4"})


def kpack(kernels: Mapping[str, Mapping[str, bytes]], scheme: str = "none") -> bytes:
    """Return a kpack archive: {"lib/libx.so.1#0": {"gfx942": code object}}."""
    body, blobs, toc = b"", [], {}
    for key, images in kernels.items():
        toc[key] = {
            target: {"type": "hsaco", "ordinal": len(blobs) + i, "original_size": len(image), "metadata": {"x": None}}
            for i, (target, image) in enumerate(images.items())
        }
        for image in images.values():
            blobs.append({"offset": 64 + len(body), "size": len(image)})
            body += image
    contents = {
        "format_version": 1,
        "group_name": "rand",
        "gfx_arch_family": "gfx94X",
        "gfx_arches": ["gfx942"],
        "toc": toc,
        "compression_scheme": scheme,
        "blobs": blobs,
    }
    return b"KPAK" + struct.pack("<IQ", 1, 64 + len(body)) + bytes(48) + body + message(contents)


def library(path: Path, bundles: Sequence[bytes], *flags: str | Path, magic: int = HIPF, more: str = "") -> Path:
    """Make a library as the HIP compiler does, and return its path.

    The library has bundles, and a wrapper for each, whose address the linker fills in.
    """
    lines = ['.section .hip_fatbin,"a",@progbits']
    contents = [path.with_suffix(f".{i}.bundle") for i in range(len(bundles))]
    for i, (content, each) in enumerate(zip(contents, bundles, strict=True)):
        content.write_bytes(each)
        lines += [".p2align 12", f"fatbin{i}:", f'.incbin "{content}"']
    lines.append('.section .hipFatBinSegment,"aw",@progbits')
    lines.append(".p2align 3")
    for i in range(len(bundles)):
        address = f"fatbin{i}" if magic == HIPF else "marker"
        lines += [f".long {magic}, 1", f".quad {address}", f".quad {i if magic == HIPK else 0}"]
    source = "\n".join([*lines, more, '.section .note.GNU-stack,"",@progbits', ""])
    output = ("-c",) if path.suffix == ".o" else ("-shared", f"-Wl,-soname,{path.name}")
    command = ["gcc", *output, "-nostdlib", "-x", "assembler", "-", "-x", "none", *flags]
    return compile_file(command, path, source, contents)

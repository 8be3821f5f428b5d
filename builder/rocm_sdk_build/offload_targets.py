"""Finds for which GPUs a library holds device code: the targets that the offload bundles in .hip_fatbin name.

A bundle of clang: the magic, a count, then per entry offset, size and length of its name (each 64 bits, little endian),
and the name.
"""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path

from .errors import PackagingError
from .shared_object import find_sections

_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_COUNT = struct.Struct("<Q")
_ENTRY = struct.Struct("<QQQ")
_GFX_TARGET = re.compile(rb"-(gfx[0-9a-f]+)(?=:|$)")


def read_offload_targets(path: Path) -> frozenset[str]:
    """Base targets (`gfx90a`, without `:xnack-`) of all bundles; empty if the library has no device code."""
    found: set[bytes] = set()
    for section in find_sections(path, ".hip_fatbin"):
        if section.name == ".hip_fatbin" and section.size:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
                found |= _targets_between(path, content, section.offset, section.offset + section.size)
    return frozenset(target.decode() for target in found)


def _targets_between(path: Path, content: mmap.mmap, start: int, end: int) -> set[bytes]:
    found: set[bytes] = set()
    bundle = content.find(_MAGIC, start, end)
    while bundle >= 0:
        try:
            position = bundle + len(_MAGIC) + _COUNT.size
            for _ in range(_COUNT.unpack_from(content, bundle + len(_MAGIC))[0]):
                name_length = _ENTRY.unpack_from(content, position)[2]
                position += _ENTRY.size + name_length
                found.update(_GFX_TARGET.findall(content[position - name_length : position]))
        except (struct.error, OverflowError) as error:
            raise PackagingError(f"{path}: the offload bundle at byte {bundle} is cut off") from error
        bundle = content.find(_MAGIC, bundle + len(_MAGIC), end)
    return found


def in_hardware_order(targets: frozenset[str]) -> list[str]:
    """Sorts as versions: gfx90a before gfx1030. The last two digits are minor version and stepping."""
    return sorted(targets, key=lambda target: (len(target), target))

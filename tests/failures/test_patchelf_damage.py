"""A tool that changed the RPATH left program headers that contradict each other."""

import struct
import sys
from collections.abc import Callable

import pytest
from sample_report import install, reinstalls, run_test
from sample_site import Site

PT_LOAD = 1


def headers_of(data: bytes) -> tuple[int, int, int]:
    """Place, size and number of the program headers (64 bit, little-endian)."""
    (place,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return place, size, count


def enlarge(data: bytearray) -> None:
    """The last segment ends behind the file."""
    place, size, count = headers_of(data)
    loads = [place + i * size for i in range(count) if struct.unpack_from("<I", data, place + i * size)[0] == PT_LOAD]
    struct.pack_into("<QQ", data, loads[-1] + 32, len(data) * 4, len(data) * 4)


def overlap(data: bytearray) -> None:
    """The second segment begins in the first."""
    place, size, count = headers_of(data)
    loads = [place + i * size for i in range(count) if struct.unpack_from("<I", data, place + i * size)[0] == PT_LOAD]
    (address,) = struct.unpack_from("<Q", data, loads[0] + 16)
    struct.pack_into("<Q", data, loads[1] + 16, address)


def lose_headers(data: bytearray) -> None:
    """The program headers are said to be behind the file."""
    struct.pack_into("<Q", data, 32, len(data) + 64)


@pytest.mark.skipif(sys.byteorder != "little" or sys.maxsize < 1 << 32, reason="changes 64-bit little-endian headers")
@pytest.mark.parametrize("damage", [enlarge, overlap, lose_headers], ids=lambda each: each.__name__)
def test_it_is_damaged(linked_site: Site, damage: Callable[[bytearray], None]) -> None:
    path = linked_site.library("libamdhip64.so.7", "int value = 7; int get(void) { return value; }")
    data = bytearray(path.read_bytes())
    damage(data)
    path.write_bytes(data)
    install(linked_site)
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-006")
    assert found["title"] == "libamdhip64.so.7 is damaged"
    assert reinstalls(found["fix"], "rocm-sdk-core==7.10.0")

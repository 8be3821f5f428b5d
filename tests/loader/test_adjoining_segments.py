"""Tables in two segments without a gap between: patchelf makes such files, and the dynamic linker reads them."""

import struct
import subprocess
import sys
from pathlib import Path

from sample_site import compile_library

from rocm_sdk import _native

HEADERS, HEADER = 64, struct.Struct("<IIQQQQQQ")  # of programs: type, flags, offset, address, -, size, -, alignment
PAGE = 4096
LOAD, NOTE = 1, 4


def split_first_segment(path: Path, place: int) -> None:
    """Make two segments of the one that the file begins with; the header of a note becomes the second's."""
    data = bytearray(path.read_bytes())
    (count,) = struct.unpack_from("<H", data, 56)
    headers = [HEADER.unpack_from(data, HEADERS + i * HEADER.size) for i in range(count)]
    first = next(each for each in headers if each[0] == LOAD)
    kind, flags, offset, address, physical, size, memory, alignment = first
    assert offset == 0 < place < size == memory
    rest = (kind, flags, place, address + place, physical + place, size - place, size - place, alignment)
    note = next(each for each in headers if each[0] == NOTE)
    headers.remove(note)
    headers[headers.index(first)] = (kind, flags, offset, address, physical, place, place, alignment)
    headers.insert([each[0] for each in headers].index(LOAD) + 1, rest)
    for i, each in enumerate(headers):
        HEADER.pack_into(data, HEADERS + i * HEADER.size, *each)
    path.write_bytes(data)


def test_symbols_in_two_segments(tmp_path: Path) -> None:
    names = [f"function_{number:03}" for number in range(600)]
    source = "".join(f"int {name}(void) {{ return 7; }}" for name in names)
    path = compile_library(tmp_path / "libmany.so", "libmany.so", source)
    split_first_segment(path, PAGE)  # in the middle of the table of symbols
    program = f"import ctypes; print(ctypes.CDLL({str(path)!r}).function_599())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "7\n"
    assert _native.inspect_library(str(path)).damages == ()
    (row,) = _native.check_host_files((str(path),), ()).files
    assert (row.fault, row.lack_count) == (None, 0)


def test_a_gap_is_damage(tmp_path: Path) -> None:
    """Bytes that the file does not have behind the first segment are not read as if it went on."""
    source = "".join(f"int function_{number:03}(void) {{ return 7; }}" for number in range(600))
    path = compile_library(tmp_path / "libmany.so", "libmany.so", source)
    split_first_segment(path, PAGE)
    data = bytearray(path.read_bytes())
    (count,) = struct.unpack_from("<H", data, 56)
    loads = [i for i in range(count) if HEADER.unpack_from(data, HEADERS + i * HEADER.size)[0] == LOAD]
    place = HEADERS + loads[1] * HEADER.size
    kind, flags, offset, address, physical, size, memory, alignment = HEADER.unpack_from(data, place)
    HEADER.pack_into(
        data, place, kind, flags, offset + PAGE, address + PAGE, physical, size - PAGE, memory - PAGE, alignment
    )
    path.write_bytes(data)
    (row,) = _native.check_host_files((str(path),), ()).files
    assert row.fault_code == "E-LIB-006"

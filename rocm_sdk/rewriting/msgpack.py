"""msgpack, as far as code objects and kpack archives use it. Source: the msgpack specification."""

from __future__ import annotations

import struct

_DEPTH = 32
_FIXED = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
# kind, format of the length
_SIZED = {
    0xD9: ("text", ">B"),
    0xDA: ("text", ">H"),
    0xDB: ("text", ">I"),
    0xC4: ("bytes", ">B"),
    0xC5: ("bytes", ">H"),
    0xC6: ("bytes", ">I"),
    0xDC: ("list", ">H"),
    0xDD: ("list", ">I"),
    0xDE: ("map", ">H"),
    0xDF: ("map", ">I"),
}


def unpack(data: bytes) -> object:
    """The value that the data begins with. Raises ValueError for data that is damaged, or of an extension type."""
    return _Reader(data).value(0)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def value(self, depth: int) -> object:
        if depth > _DEPTH:
            raise ValueError("values lie in each other more than 32 deep")
        head = self._take(1)[0]
        if head < 0x80 or head >= 0xE0:
            return head if head < 0x80 else head - 0x100
        if head in _FIXED:
            return _FIXED[head]
        if head in _NUMBERS:
            return self._number(_NUMBERS[head])
        if head < 0xC0:
            kind = "map" if head < 0x90 else "list" if head < 0xA0 else "text"
            return self._sized(kind, head & (0x1F if kind == "text" else 0x0F), depth)
        if head not in _SIZED:
            raise ValueError(f"a value of an unknown type, {head:#x}")
        kind, length = _SIZED[head]
        return self._sized(kind, int(self._number(length)), depth)

    def _sized(self, kind: str, size: int, depth: int) -> object:
        if kind in ("text", "bytes"):
            data = self._take(size)
            return data.decode(errors="replace") if kind == "text" else data
        if size > len(self.data) - self.position:
            raise ValueError("a list or map ends too early")
        if kind == "list":
            return [self.value(depth + 1) for _ in range(size)]
        found = {}
        for _ in range(size):
            key = self.value(depth + 1)
            if not isinstance(key, (str, int)):
                raise ValueError("a key is neither a text nor a number")
            found[key] = self.value(depth + 1)
        return found

    def _number(self, layout: str) -> float | int:
        (value,) = struct.unpack(layout, self._take(struct.calcsize(layout)))
        return value  # type: ignore[no-any-return]

    def _take(self, size: int) -> bytes:
        part = self.data[self.position : self.position + size]
        if len(part) < size:
            raise ValueError("the data ends too early")
        self.position += size
        return part


def pack(value: object) -> bytes:
    """The value in msgpack, as short as it can be. Raises TypeError for others than `unpack` gives."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return _pack_number(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return _pack_size(len(data), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + data
    if isinstance(value, bytes):
        return _pack_size(len(value), None, 0, (0xC4, 0xC5, 0xC6)) + value
    if isinstance(value, list):
        return _pack_size(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        items = b"".join(pack(key) + pack(item) for key, item in value.items())
        return _pack_size(len(value), 0x80, 16, (None, 0xDE, 0xDF)) + items
    raise TypeError(f"{type(value).__name__} is nothing that the metadata of code has")


def _pack_number(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack(">B", value & 0xFF)
    for head in (0xCC, 0xCD, 0xCE, 0xCF) if value >= 0 else (0xD0, 0xD1, 0xD2, 0xD3):
        layout = _NUMBERS[head]
        bits = struct.calcsize(layout) * 8
        if (value < 1 << bits) if value >= 0 else (value >= -(1 << (bits - 1))):
            return bytes([head]) + struct.pack(layout, value)
    raise TypeError(f"{value} is too large a number")


def _pack_size(size: int, short: int | None, limit: int, heads: tuple[int | None, int, int]) -> bytes:
    if short is not None and size < limit:
        return bytes([short | size])
    for head, layout, bits in zip(heads, (">B", ">H", ">I"), (8, 16, 32), strict=True):
        if head is not None and size < 1 << bits:
            return bytes([head]) + struct.pack(layout, size)
    raise TypeError(f"{size} is too large a size")

"""A reader of msgpack, beside the reader of the C library. Source: the msgpack specification."""

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
    """Return the value that the data begins with.

    Raise ValueError for data that is damaged, or of an extension type.
    """
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

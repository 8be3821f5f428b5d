"""How values appear in messages: on one line, and sizes in decimal units."""

from rocm_sdk.errors import harmless

__all__ = ["harmless", "one_line", "size_text"]

_UNITS = ("kB", "MB", "GB")


def one_line(value: object) -> str:
    """A value as harmless text, with each run of blanks and line breaks as one blank."""
    return harmless(" ".join(str(value).split()))


def size_text(size: int) -> str:
    """A size in bytes in decimal units: "18.4 kB", "206.2 GB"."""
    if size < 1000:
        return f"{size} bytes"
    value, unit = size / 1e3, 0
    while value >= 999.95 and unit + 1 < len(_UNITS):
        value, unit = value / 1e3, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"

"""How values appear in messages: on one line, and sizes in decimal units."""

_UNITS = ("kB", "MB", "GB")


def one_line(value: object) -> str:
    """A value as text without line breaks and control characters: file names and program output may hold any."""
    text = str(value)
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def size_text(size: int) -> str:
    """A size in bytes in decimal units: "18.4 kB", "206.2 GB"."""
    if size < 1000:
        return f"{size} bytes"
    value, unit = size / 1e3, 0
    while value >= 999.95 and unit + 1 < len(_UNITS):
        value, unit = value / 1e3, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"

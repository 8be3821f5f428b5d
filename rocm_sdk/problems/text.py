"""How values appear in messages: on one line, and sizes in decimal units."""

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def one_line(value: object) -> str:
    """A value as text without line breaks and control characters: file names and program output may hold any."""
    text = str(value)
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def size_text(size: int) -> str:
    """A size in bytes in the largest decimal unit that it fills: "18.4 kB", "206.2 GB"."""
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"

"""How values appear in messages: on one line, and sizes in decimal units."""

_UNITS = ("kB", "MB", "GB")


def harmless(text: str) -> str:
    r"""A text in which a terminal finds nothing to obey: \x1b, \u202e and the like in place of what is not printable.

    These are control characters, line breaks too, marks of the direction of writing and others without width, and
    unpaired surrogates, which stand for bytes that are not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


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

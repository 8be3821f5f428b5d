"""How values appear in messages: on one line, sizes in decimal units, words of a command as a shell reads them."""

_UNITS = ("kB", "MB", "GB")
_NO_SIGNS = frozenset("@%+=:,./-_")  # of a shell


def harmless(text: str) -> str:
    r"""A text without anything that a terminal obeys: escapes such as \x1b and \u202e replace what is not printable.

    Not printable are control characters and line breaks; marks without width, such as those for the direction of
    writing; and unpaired surrogates. One that stands for a byte that is not UTF-8 is shown as the byte, \xff.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode()


def without_passwords(text: str) -> str:
    """The text with each URL in it without user and password: up to the last @, since a password may have one."""
    first, *rest = text.split("://")
    return "://".join([first, *map(_without_user, rest)])


def _without_user(text: str) -> str:
    """The text behind the scheme of a URL."""
    words = text.split(maxsplit=1)
    if not words or not text.startswith(words[0]):
        return text
    return words[0].rpartition("@")[2] + text[len(words[0]) :]


def one_line(value: object) -> str:
    """A value as harmless text, with each run of blanks and line breaks as one blank."""
    return harmless(" ".join(str(value).split()))


def counted(count: int, word: str) -> str:
    """A number of things: "1 file", "2,000 files"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def listed(text: str) -> list[str]:
    """The names of a list with `,` or `;` between them."""
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


def size_text(size: int) -> str:
    """A size in bytes in decimal units: "18.4 kB", "206.2 GB"."""
    if size < 1000:
        return f"{size} bytes"
    value, unit = size / 1e3, 0
    while value >= 999.95 and unit + 1 < len(_UNITS):
        value, unit = value / 1e3, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"


def quoted_for_shell(word: str) -> str:
    """The word as a shell reads it. As shlex.quote, whose module imports re."""
    if word and all(each.isascii() and (each.isalnum() or each in _NO_SIGNS) for each in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"

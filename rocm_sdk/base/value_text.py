"""The form of values in messages: one line, sizes in decimal units, words of a command quoted for a shell."""

_UNITS = ("kB", "MB", "GB")
_NO_SIGNS = frozenset("@%+=:,./-_")  # of a shell


def harmless(text: str) -> str:
    r"""Return a text without anything that a terminal obeys: escapes (\x1b, \u202e) replace what is not printable.

    These are not printable: control characters and line breaks; zero-width marks, such as those for the direction of
    writing; and unpaired surrogates. A surrogate that stands for a byte that is not UTF-8 is shown as that byte, \xff.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode()


def without_passwords(text: str) -> str:
    """Return the text with each URL in it without user, password, query and fragment.

    Everything up to the last @ goes, since a password may have an @.
    """
    first, *rest = text.split("://")
    return "://".join([first, *map(_without_user, rest)])


def _without_user(text: str) -> str:
    """Return what follows the scheme of a URL, without user, password, query and fragment."""
    words = text.split(maxsplit=1)
    if not words or not text.startswith(words[0]):
        return text
    plain = words[0].partition("?")[0].partition("#")[0]
    cut = words[0][len(plain) :]
    shown = "" if "@" in cut else plain.rpartition("@")[2]  # with both, it is not clear what is a password
    return shown + cut[len(cut.rstrip("`'\")]>:,.;")) :] + text[len(words[0]) :]


def one_line(value: object) -> str:
    """Return a value as harmless text, with each run of blanks and line breaks as one blank."""
    return harmless(" ".join(str(value).split()))


def counted(count: int, word: str) -> str:
    """Return a number of things, such as "1 file" or "2,000 files"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def listed(text: str) -> list[str]:
    """Return the names in a list separated by `,` or `;`."""
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


def size_text(size: int) -> str:
    """Return a size in bytes in decimal units, such as "18.4 kB" or "206.2 GB"."""
    if size < 1000:
        return f"{size} bytes"
    value, unit = size / 1e3, 0
    while value >= 999.95 and unit + 1 < len(_UNITS):
        value, unit = value / 1e3, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"


def quoted_for_shell(word: str) -> str:
    """Return the word as a shell reads it. shlex.quote does the same; its module imports re."""
    if word and all(each.isascii() and (each.isalnum() or each in _NO_SIGNS) for each in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"

"""The C library of this process."""

import os

_VARIABLE = "CS_GNU_LIBC_VERSION"


def glibc_version() -> str:
    """Return the version of glibc, such as "2.36"; "" if it is another C library."""
    try:
        name, _, version = (os.confstr(_VARIABLE) or "").partition(" ")
    except (ValueError, OSError):
        return ""
    return version if name == "glibc" else ""


def numbers_of(version: str) -> tuple[int, ...]:
    """Return the numbers of a version of glibc, to compare it with others.

    The numbers of "2.36" are (2, 36). A version that begins with no number has none: ().
    """
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: next((i for i, sign in enumerate(part) if not sign.isdecimal()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)

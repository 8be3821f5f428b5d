"""The C library of this process."""

import os

_VARIABLE = "CS_GNU_LIBC_VERSION"


def glibc_version() -> str:
    """ "2.36"; "" if it is another C library."""
    try:
        name, _, version = (os.confstr(_VARIABLE) or "").partition(" ")
    except (ValueError, OSError):
        return ""
    return version if name == "glibc" else ""


def numbers_of(version: str) -> tuple[int, ...]:
    """The numbers of a version of glibc, to compare it with others: (2, 36) of "2.36"; () if it begins with none."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: next((i for i, sign in enumerate(part) if not sign.isdecimal()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)

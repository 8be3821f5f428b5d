"""A check of unknown keyword arguments: some belong to a later release, some are misspelt."""

from collections.abc import Callable, Iterable

from rocm_sdk.errors import RocmSdkWarning, warn


def warn_of_misspelt(names: Iterable[str], function: Callable[..., object]) -> None:
    """Warn of each name that is one edit away from a keyword argument of the function."""
    for name in names:
        for each in function.__kwdefaults__ or ():
            if _is_one_edit_away(name, each):
                warn(f"{function.__name__}() ignores the unknown argument {name!r}: is {each!r} meant?", RocmSdkWarning)


def _is_one_edit_away(one: str, other: str) -> bool:
    """Return whether the texts differ by one letter, or by two neighbours that are swapped.

    The letter is added, removed or replaced.
    """
    length = len(_common_beginning(one, other))
    one, other = one[length:], other[length:]
    length = len(_common_beginning(one[::-1], other[::-1]))
    one, other = one[: len(one) - length], other[: len(other) - length]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])


def _common_beginning(one: str, other: str) -> str:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]

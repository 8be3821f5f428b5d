"""The values of options, as argparse's `type` takes them, and the fix that names a missing one.

A plain call does not import argparse.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLE_GPU = "gfx1151"
_LARGEST_PROCESS = (1 << 31) - 1  # of pid_t


def process_number(text: str) -> int:
    """Return the number of a process. Raise ArgumentTypeError for another text."""
    from argparse import ArgumentTypeError

    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(_LARGEST_PROCESS)) else 0
    if not 0 < number <= _LARGEST_PROCESS:
        raise ArgumentTypeError(f"not the number of a process: {text[:40]}")
    return number


def waiting_time(text: str) -> float:
    """Return the seconds to wait: from 0 to a million. Raise ArgumentTypeError for another text."""
    return _seconds(text, 0)


def pause(text: str) -> float:
    """Return the seconds between two looks: from 0.05 to a million. Raise ArgumentTypeError for another text."""
    return _seconds(text, 0.05)


def _seconds(text: str, least: float) -> float:
    from argparse import ArgumentTypeError

    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not least <= seconds <= 1e6:  # NaN neither
        raise ArgumentTypeError(f"not a number of seconds, {least:g} or more: {text}")
    return seconds


def with_gpu(typed: "Sequence[str]") -> str:
    """Return the fix: the command that was typed (its words), with --gpu GPU instead of the GPUs that it named."""
    from rocm_sdk.base.value_text import quoted_for_shell

    behind = zip(["", *typed], typed, strict=False)  # each word with the one before it
    others = [word for before, word in behind if "--gpu" not in (before, word.partition("=")[0])]
    words = " ".join(map(quoted_for_shell, others))
    return f"name it: rocm-sdk {words} --gpu GPU  # its target or product, such as {EXAMPLE_GPU} or MI300X"

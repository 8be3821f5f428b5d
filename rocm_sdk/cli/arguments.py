"""The values of options, as argparse's `type` takes them. A plain call does not import argparse."""

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
    from argparse import ArgumentTypeError

    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= 1e6:  # NaN neither
        raise ArgumentTypeError(f"not a number of seconds, 0 or more: {text}")
    return seconds


def pause(text: str) -> float:
    """Return the seconds between two looks: from 0.05 to a million. Raise ArgumentTypeError for another text."""
    from argparse import ArgumentTypeError

    try:
        seconds = waiting_time(text)
    except ArgumentTypeError:
        seconds = 0
    if seconds < 0.05:
        raise ArgumentTypeError(f"not a number of seconds, 0.05 or more: {text}")
    return seconds

"""Values of options, as argparse's `type` takes them."""

from argparse import ArgumentTypeError


def waiting_time(text: str) -> float:
    """Seconds to wait: from 0 to a million."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= 1e6:  # NaN neither
        raise ArgumentTypeError(f"not a number of seconds, 0 or more: {text}")
    return seconds

"""How values of files appear in messages. A copy of the function of `rocm_sdk.problems.text`, kept equal by a test."""

from __future__ import annotations


def harmless(text: str) -> str:
    r"""A text in which a terminal finds nothing to obey: \x1b, \u202e and the like in place of what is not printable.

    These are control characters, line breaks too, marks of the direction of writing and others without width, and
    unpaired surrogates, which stand for bytes that are not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)

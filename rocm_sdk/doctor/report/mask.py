"""The parts that a report leaves out: names of users and hosts, and variables that have nothing to do with the SDK."""

from __future__ import annotations

import os
import pwd
import re

from rocm_sdk import _native

_NOT_MASKED = frozenset({"", "/", "root", "localhost"})


def reported_environment() -> dict[str, str | None]:
    """Return the variables that a report names; None for a value that may be a secret."""
    return {
        name: value if _native.report_shows_variable(name) else None
        for name, value in sorted(os.environ.items())
        if _native.report_has_variable(name)
    }


def make_mask() -> Mask:
    """Return a mask of the home directory ($HOME and the system's entry), the user and the host."""
    words = {os.path.expanduser("~"): "HOME", os.environ.get("USER", ""): "USER", os.environ.get("LOGNAME", ""): "USER"}
    try:
        user = pwd.getpwuid(os.getuid())
        words |= {user.pw_dir: "HOME", user.pw_name: "USER"}
    except KeyError:  # a container may have no name for its user
        pass
    host = os.uname().nodename
    words |= {host: "HOST", host.partition(".")[0]: "HOST"}
    return Mask({word: f"<{name}>" for word, name in words.items() if word not in _NOT_MASKED})


class Mask:
    """The replacement of words in texts, by the dictionary."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words
        longest_first = sorted(words, key=len, reverse=True)
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first))

    def __call__(self, text: str) -> str:
        """Return a text in which the whole words of the dictionary are replaced, the longest first."""
        return self._pattern.sub(lambda match: self._words[match[0]], text) if self._words else text

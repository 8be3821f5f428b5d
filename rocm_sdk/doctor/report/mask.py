"""What a report leaves out: names of users and hosts, and variables that have nothing to do with the SDK."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable

from rocm_sdk import _native

_NOT_MASKED = frozenset({"", "/", "root", "localhost"})


def reported_environment() -> dict[str, str | None]:
    """Return the variables that a report names; None for a value that may be a secret."""
    return {
        name: value if _native.report_shows_variable(name) else None
        for name, value in sorted(os.environ.items())
        if _native.report_has_variable(name)
    }


def make_mask() -> Callable[[str], str]:
    """Return a function that masks the home directory ($HOME and the system's entry), the user and the host in a text.

    Whole words are replaced, the longest first.
    """
    words = {os.path.expanduser("~"): "HOME", os.environ.get("USER", ""): "USER", os.environ.get("LOGNAME", ""): "USER"}
    try:
        user = pwd.getpwuid(os.getuid())
        words |= {user.pw_dir: "HOME", user.pw_name: "USER"}
    except KeyError:  # a container may have no name for its user
        pass
    host = os.uname().nodename
    words |= {host: "HOST", host.partition(".")[0]: "HOST"}
    masked = {word: f"<{name}>" for word, name in words.items() if word not in _NOT_MASKED}
    longest_first = sorted(masked, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first))
    return lambda text: pattern.sub(lambda match: masked[match[0]], text) if masked else text

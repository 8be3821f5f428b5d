"""The requirements of a distribution on this system, as its metadata says them."""

from __future__ import annotations

import os
import re

from rocm_sdk.installed.distributions import normalised

_NAMES = "sys_platform|platform_system|platform_machine|os_name"
_HERE = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": os.uname().machine,
    "os_name": "posix",
}
# A comparison of an environment marker (PEP 508), in either order.
_COMPARISON = re.compile(
    rf"""\b(?P<name>{_NAMES})\s*(?P<how>[!=]=)\s*["'](?P<value>[^"']*)["']"""
    rf"""|["'](?P<first>[^"']*)["']\s*(?P<way>[!=]=)\s*(?P<last>{_NAMES})\b"""
)


def requirements(lines: list[str]) -> tuple[str, ...]:
    """Return the names of the distributions that values of Requires-Dist name for this system and without an extra."""
    needed = (name for name, _, marker in (line.partition(";") for line in lines) if not _leaves_out(marker))
    return tuple(dict.fromkeys(normalised(_first_name(name)) for name in needed))


def _leaves_out(marker: str) -> bool:
    """Return whether a marker asks for an extra or for other systems. Alternatives in parentheses may hold."""
    if re.search(r"\bextra\b", marker):
        return True
    alternatives = re.split(r"\bor\b", marker)
    if len(alternatives) > 1 and "(" in marker:
        return False
    return all(map(_is_of_another_system, alternatives))


def _is_of_another_system(alternative: str) -> bool:
    for found in _COMPARISON.finditer(alternative):
        name, how, value = found.group("name", "how", "value") if found["name"] else found.group("last", "way", "first")
        if (value == _HERE[name]) != (how == "=="):
            return True
    return False


def _first_name(line: str) -> str:
    line = line.strip()
    end = next((i for i, letter in enumerate(line) if not (letter.isalnum() or letter in "-_.")), len(line))
    return line[:end]

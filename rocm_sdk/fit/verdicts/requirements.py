"""The requirements of a distribution on this system, according to its metadata."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from contextlib import suppress

from rocm_sdk.installed.distributions import is_of_sdk, normalised
from rocm_sdk.installed.other_distributions import find

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
    """Return whether a marker asks for an extra or for other systems. Alternatives in parentheses may apply."""
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


OF_TORCH = ("torch", "torchvision", "torchaudio", "triton")
_HIP = re.compile(r"^([^,\n]+)/libamdhip64\.so[^/\n]*,", re.MULTILINE)
_RELEASE = re.compile(r"rocm([0-9]+\.[0-9]+)")


def own_rocm() -> tuple[str, str] | None:
    """Return the installed distribution that brings its own HIP, and words for that.

    A RECORD names the HIP. The result is None without one, and if a distribution requires an SDK beside it.
    """
    found = None
    for each in importlib.metadata.distributions():
        name, record = normalised(each.metadata["Name"] or ""), each.read_text("RECORD") or ""
        if {"rocm", "rocm-sdk-core"} & set(requirements(each.requires or [])):
            return None
        if (hip := _HIP.search(record)) is not None and not is_of_sdk(name):
            release = _RELEASE.search(each.version)
            words = f"{name} brings its own ROCm{f' {release[1]}' if release else ''} ({hip[1]}); no SDK is needed"
            found = name, f"{words}, and one beside it would be a second HIP"
    return found


def unmet() -> dict[str, str] | None:
    """Return facts about a requirement of torch and its companions for each other that is not met.

    The result is None if all are met. A missing package is not a matter of versions. Nothing is said if there is no
    copy of `packaging`.
    """
    for module in ("packaging.requirements", "pip._vendor.packaging.requirements"):
        if importlib.util.find_spec(module.partition(".")[0]) is not None:
            break
    else:
        return None
    parsed = importlib.import_module(module).Requirement
    installed = {name: found for name in OF_TORCH if (found := find(name)) is not None}
    lines = ((name, each, line) for name, each in installed.items() for line in each.requires or ())
    for name, each, line in lines:
        with suppress(ValueError):  # not a requirement, or not a version
            needed = parsed(line)
            other = installed.get(normalised(needed.name))
            applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if other is not None and applies and not needed.specifier.contains(other.version, prereleases=True):
                wanted, present = f"{needed.name}{needed.specifier}", f"{normalised(needed.name)} {other.version}"
                return {"distribution": f"{name} {each.version}", "wanted": wanted, "present": present}
    return None

"""Which kind of system this is, as far as fixes differ."""

import functools
import os
import platform

# Kind of system -> what os-release calls it or what it is derived from (ID, ID_LIKE), and its name for people.
SYSTEMS = {
    "debian": (("debian", "ubuntu"), "Debian, Ubuntu"),
    "fedora": (("fedora", "rhel", "centos"), "Fedora, RHEL"),
    "suse": (("suse", "opensuse"), "SUSE"),
    "arch": (("arch",), "Arch"),
    "gentoo": (("gentoo",), "Gentoo"),
    "nixos": (("nixos",), "NixOS"),
}

# Files that container engines leave in their containers.
_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")


@functools.cache
def this_system() -> str:
    """A key of SYSTEMS; "any" for everything else."""
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return "any"
    names = {facts.get("ID", ""), *facts.get("ID_LIKE", "").split()}
    return next((system for system, (known, _) in SYSTEMS.items() if names.intersection(known)), "any")


@functools.cache
def is_container() -> bool:
    """Whether this process runs in a container."""
    return any(os.path.exists(path) for path in _CONTAINER_FILES) or "container" in os.environ

"""The places that a fix may change: the environment, and the caches of installers; and the place of a copy."""

from __future__ import annotations

import os
import shutil
import site as site_module
import sys
import sysconfig
from collections.abc import Mapping
from typing import NamedTuple

from rocm_sdk.base.own_place import scratch_place
from rocm_sdk.base.processes import search_path
from rocm_sdk.installed.directory_walk import walk

# Installer -> the variable that names its cache, and the default place, below the user's cache.
_CACHES = {"uv": ("UV_CACHE_DIR", "uv"), "pip": ("PIP_CACHE_DIR", "pip")}


class Places(NamedTuple):
    """The directories of one installation."""

    changed: tuple[str, ...]  # that an installer changes, and that are compared afterwards
    shims: tuple[str, ...]  # those that pyenv rewrites after an installation
    caches: Mapping[str, str]  # of installers: those that are there

    @property
    def scratch(self) -> str:
        """The directory for the copies."""
        return scratch_place()

    @property
    def free(self) -> int:
        """The bytes that are free in that directory."""
        return shutil.disk_usage(self.scratch).free

    def survey(self) -> dict[str, tuple[int, ...]]:
        """Return the state of each name below the changed directories: inode, mode, owner, size and times.

        Nobody can set the time of the last change.
        """
        found: dict[str, tuple[int, ...]] = {}
        for top in self.changed:
            for directory, directories, files in walk(top, lambda _error: None):
                for name in (*directories, *files):
                    path = os.path.join(directory, name)
                    facts = os.lstat(path)
                    found[path] = (
                        *(facts.st_ino, facts.st_mode, facts.st_uid, facts.st_gid, facts.st_size),
                        *(facts.st_mtime_ns, facts.st_ctime_ns),
                    )
        return found


def places_of(site: str) -> Places:
    """Return the places of the installation in a site-packages directory."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    caches = {
        installer: os.environ.get(variable) or os.path.join(home, default)
        for installer, (variable, default) in _CACHES.items()
    }
    return Places(_environment(site), _shims(), {name: path for name, path in caches.items() if os.path.isdir(path)})


def _shims() -> tuple[str, ...]:
    """Return the directory of pyenv's shims, if commands come from there."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    return tuple(each for each in search_path() if each == os.path.join(root, "shims") and os.path.isdir(each))


def _environment(site: str) -> tuple[str, ...]:
    """Return the virtual environment, the user's directory, or site-packages and the directory of programs."""
    here = os.path.realpath(site)
    roots = [sys.prefix] if sys.prefix != sys.base_prefix else []
    roots += [base] if (base := site_module.getuserbase()) else []
    for root in map(os.path.realpath, roots):
        if f"{here}/".startswith(f"{root}/"):
            return (root,)
    return (here, os.path.realpath(sysconfig.get_path("scripts")))

"""The tested installation: a site-packages directory, the distributions of the SDK in it, and their files.

Everything is read from the directory itself (rocm_sdk.installed), never from what an earlier import has seen.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property

from rocm_sdk import _native
from rocm_sdk.base.files import installed_file, names_in, read_beginning
from rocm_sdk.base.walking import walk
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed import chosen_site
from rocm_sdk.installed.distributions import BUILDER, LOADER, Distribution, normalised, sdk_distributions
from rocm_sdk.installed.installer import own_site

from .prefix import Prefix, foreign_variables
from .prefix_versions import release_of

_DIST_INFO_LIMIT = 1 << 20  # bytes
_VERSION = re.compile(r"^__version__ *= *(['\"])([\w.+!-]+)\1", re.MULTILINE)
_PLATFORM = re.compile(r"_rocm_(sdk|profiler).*")


@dataclass(frozen=True)
class Installed:
    """A site-packages directory with an SDK, or where one should be; or a ROCm that is not a package of Python."""

    site: str  # absolute; the prefix of such a ROCm
    is_current: bool  # whether this process would use it
    distributions: tuple[Distribution, ...] = field(default=())
    fallback: str | None = None  # the place of ROCM_SDK_FALLBACK that it was taken from
    prefix: Prefix | None = None  # it is a hierarchy of files that is to be packaged
    chosen_by: str | None = None  # what named the directory: "ROCM_SDK_ROOT", "--target"; None: sys.path leads to it

    def distribution(self, name: str) -> Distribution | None:
        """The distribution of this name; None if it is not installed, or an empty placeholder."""
        return next((found for found in self.distributions if found.name == name and not found.is_placeholder), None)

    @cached_property
    def core(self) -> Distribution | None:
        return self.distribution("rocm-sdk-core")

    @cached_property
    def version(self) -> str:
        """The version of the core package, or what an SDK without metadata says of itself; "unknown" without either."""
        if self.core is not None:
            return self.core.version
        if self.fallback is not None:
            return str(_native.sdk_facts()["version"])
        if self.prefix is not None:
            return release_of(self.prefix)
        return _version_without_metadata(self.site) or "unknown"

    @cached_property
    def placeholders(self) -> tuple[Distribution, ...]:
        """The distributions that have the name of a package of the SDK but no content."""
        return tuple(each for each in self.distributions if each.is_placeholder)

    @cached_property
    def names(self) -> list[str]:
        """The names in the directory."""
        return names_in(self.site)

    @cached_property
    def platform_directories(self) -> tuple[str, ...]:
        """Absolute paths of the directories with the SDK's files, the development tree included."""
        names = [name for name in self.names if _PLATFORM.fullmatch(name)]
        return tuple(path for name in names if os.path.isdir(path := os.path.join(self.site, name)))

    @cached_property
    def owners(self) -> dict[str, Distribution]:
        """The distribution whose RECORD lists a file, by the file's path relative to `site`."""
        return {file.path: each for each in self.distributions for file in each.files}

    def owner_of(self, path: str) -> dict[str, object]:
        """Facts for problems: the distribution that a file belongs to, else core."""
        if self.prefix is not None:
            return self.prefix.facts
        if self.fallback is not None:
            return {"prefix": self.site, "system_prefix": self.site if self.fallback == "system" else None}
        owner = self.owners.get(os.path.relpath(path, self.site)) or self.core
        if owner is not None:
            return owner.facts
        if self.version == "unknown":
            return {"distribution": "rocm-sdk-core"}
        return {
            "distribution": "rocm-sdk-core",
            "version": self.version,
            "requirement": f"rocm-sdk-core=={self.version}",
        }

    def has(self, path: str) -> bool:
        """Whether a file is in the directory, or an installed link leads to it, by its real path."""
        return path.startswith(os.path.realpath(self.site) + os.sep) or path in self._linked_files

    @cached_property
    def _linked_files(self) -> frozenset[str]:
        """The files to which links of an installer lead; nothing leads to the development tree's."""
        directories = [each for each in self.platform_directories if "devel" not in os.path.basename(each)]
        paths = (os.path.join(root, name) for top in directories for root, _, names in walk(top) for name in names)
        return frozenset(file for path in paths if (file := installed_file(path)) != path)


def _version_without_metadata(site: str) -> str | None:
    """What `rocm_sdk_core/_dist_info.py` says; None if there is none that can be read."""
    try:
        text = read_beginning(os.path.join(site, "rocm_sdk_core", "_dist_info.py"), _DIST_INFO_LIMIT)
    except OSError:
        return None
    versions = [match[2] for match in _VERSION.finditer(text.decode(errors="replace"))]
    return versions[-1] if versions else None  # the last assignment counts


def current() -> Installed:
    """The installation that this process would use: the directory of ROCM_SDK_ROOT, or of core, else our own."""
    if (root := _native.sdk_root()) is not None:
        return replace(at(root, "ROCM_SDK_ROOT"), is_current=True)
    try:
        directory = _native.package_directory("core")
        if (fallback := _native.sdk_facts()["fallback"]) is not None:
            return Installed(directory, True, fallback=fallback)
        site = os.path.dirname(directory)
    except (ModuleNotFoundError, RocmSdkError):  # not installed, or too damaged to be found
        site = (
            _site_of("rocm-sdk-core")
            or _site_of("rocm-sdk-", "rocm-profiler")
            or _site_of("rocm-")  # the selector alone, or a placeholder of its name
            or own_site()
        )
    return Installed(site, True, tuple(sdk_distributions(site)))


def _site_of(*beginnings: str) -> str | None:
    """The first entry of sys.path with a name that begins so, this package ignored."""
    for entry in sys.path:
        site = os.path.abspath(entry)
        names = (normalised(name) for name in names_in(site) if name.endswith((".dist-info", ".egg-info")))
        if any(name.startswith(beginnings) and not name.startswith((LOADER, BUILDER)) for name in names):
            return site
    return None


def refused_root() -> RocmSdkError | None:
    """Why the directory of ROCM_SDK_ROOT cannot be used; None if it can, or is not named."""
    try:
        chosen_site()
    except RocmSdkError as error:
        return error if error.facts.get("variable") == "ROCM_SDK_ROOT" else None
    return None


def of_prefix(directory: str, destdir: str) -> Installed:
    """A prefix that is to be packaged. destdir: the staging directory that it is below; "": none.

    Unsets the variables that lead this process, and those that it starts, to another SDK.
    """
    site = os.path.abspath(directory)
    unset = foreign_variables()
    for name in unset:
        del os.environ[name]
    prefix = Prefix(site, os.path.abspath(destdir) if destdir else "", tuple(unset))
    return Installed(site, False, prefix=prefix, chosen_by="--sdk")


def at(directory: str, chosen_by: str | None = None) -> Installed:
    """The installation in any directory. chosen_by: what named the directory."""
    site = os.path.abspath(directory)
    return Installed(site, False, tuple(sdk_distributions(site)), chosen_by=chosen_by)

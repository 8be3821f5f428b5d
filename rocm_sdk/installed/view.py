"""The SDK that a command looks at: its site-packages directory, distributions, files, and facts of the C library.

A command makes one `Installed` and hands it down. Each part is read only once, when it is first asked for. Whoever
changes an installation makes a new one. Nothing comes from what an earlier import has seen.
"""

import os
import sys

from rocm_sdk._native import catalog, dist_info, open_sdk, sdk_root
from rocm_sdk.base.cached_property import cached_property

from . import chosen_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm_sdk._native import LibraryLocation, Sdk
    from rocm_sdk.errors import RocmSdkError

    from .distributions import Distribution
    from .needed_libraries import NeededLibraries
    from .prefix import Prefix
    from .shared_objects import SharedObject

_PLATFORM = ("_rocm_sdk", "_rocm_profiler")


class Installed:
    """A site-packages directory with an SDK, or for one; or a ROCm that is not a Python package.

    site is absolute; for a ROCm that is not a package it is the prefix. fallback is the place of ROCM_SDK_FALLBACK from
    which the ROCm comes, prefix a hierarchy of files that is to be packaged. chosen_by is what named the directory
    ("ROCM_SDK_ROOT", "--target"); None: sys.path leads to it.
    """

    def __init__(
        self,
        site: str,
        *,
        sdk: "Sdk | None" = None,
        fallback: str | None = None,
        prefix: "Prefix | None" = None,
        chosen_by: str | None = None,
    ) -> None:
        self.site = site
        self.fallback = fallback
        self.prefix = prefix
        self.chosen_by = chosen_by
        self._sdk = sdk

    # ---- what the C library says

    @property
    def is_current(self) -> bool:
        """True if this process would use this installation."""
        return self._sdk is not None

    @property
    def target(self) -> str | None:
        """The directory to name to a process that tests it, too; None if that would use the same one anyway."""
        return None if self.is_current else self.site

    @property
    def sdk(self) -> "Sdk":
        """The SDK as this process would use it, opened once, whose methods raise RocmSdkError."""
        if self._sdk is None:
            raise ValueError(f"{self.site}: this process uses another SDK")
        return self._sdk

    @cached_property
    def locations(self) -> "dict[str, LibraryLocation]":
        """The installed libraries of the catalog, by short name.

        Raises PackageNotInstalledError without an SDK.
        """
        self.sdk.facts()
        rows = zip(catalog(), self.sdk.located(), strict=True)
        return {name: found for (name, *_), found in rows if found is not None and found.path is not None}

    @cached_property
    def directories(self) -> tuple[str, ...]:
        """The directories of the packages with libraries. Raises PackageNotInstalledError without an SDK."""
        found = [self.sdk.package_directory("core")]
        try:  # noqa: SIM105  contextlib takes longer to import
            found.append(self.sdk.package_directory("libraries"))
        except ModuleNotFoundError:  # core may be there alone
            pass
        return tuple(dict.fromkeys(found))

    # ---- distributions

    @cached_property
    def distributions(self) -> "tuple[Distribution, ...]":
        """The distributions of the SDK, by directory, one of each name; () for a ROCm that is not a package."""
        return self._distributions_and_twins[0]

    @property
    def twins(self) -> "tuple[Distribution, ...]":
        """The metadata of distributions that have another one, which matches the files better."""
        return self._distributions_and_twins[1]

    @cached_property
    def _distributions_and_twins(self) -> "tuple[tuple[Distribution, ...], tuple[Distribution, ...]]":
        if self.fallback is not None or self.prefix is not None:
            return (), ()
        from .distributions import sdk_distributions  # here: commands that know what they want read none

        found = sdk_distributions(self.site)
        if len({each.name for each in found}) == len(found):
            return tuple(found), ()
        from .distributions import without_twins

        kept, others = without_twins(found, self.site)
        return tuple(kept), tuple(others)

    def distributions_in(self, site: str) -> "tuple[Distribution, ...]":
        """Return the SDK's distributions in a directory of sys.path, its own included: packages may be apart."""
        if site == self.site:
            return self.distributions
        from .distributions import sdk_distributions

        return tuple(sdk_distributions(site))

    def distribution(self, name: str) -> "Distribution | None":
        """Return the distribution of this name; None if it is not installed, or an empty placeholder."""
        return next((found for found in self.distributions if found.name == name and not found.is_placeholder), None)

    @cached_property
    def core(self) -> "Distribution | None":
        """The core package; None if no installer knows it."""
        return self.distribution("rocm-sdk-core")

    @cached_property
    def placeholders(self) -> "tuple[Distribution, ...]":
        """The distributions that have the name of a package of the SDK but no content."""
        return tuple(each for each in self.distributions if each.is_placeholder)

    @cached_property
    def version(self) -> str:
        """The version of the core package, else the one that the SDK states; "unknown" without either."""
        if self.core is not None:
            return self.core.version
        if self.fallback is not None:
            return str(self.sdk.facts()["version"])
        if self.prefix is not None:
            from .prefix_versions import release_of

            return release_of(self.prefix) or "unknown"
        return self.said_by("rocm_sdk_core").get("version") or "unknown"

    def said_by(self, module: str) -> dict[str, str]:
        """Return the facts of a module's `_dist_info.py`: version, nonce, default_family; {} if it cannot be read."""
        if module not in self._said_by:
            found: Mapping[str, object]
            try:
                if module == "rocm_sdk_core" and self.is_current and self.fallback is None:
                    found = self.sdk.facts()
                else:
                    found = dist_info(os.path.join(self.site, module, "_dist_info.py"))
            except _refusal():  # the subject `packages` reports the fault of core's module
                self._said_by[module] = {}
            else:
                said = ((name, found[name]) for name in ("version", "nonce", "default_family"))
                self._said_by[module] = {name: str(value) for name, value in said if value is not None}
        return self._said_by[module]

    @cached_property
    def _said_by(self) -> dict[str, dict[str, str]]:
        return {}

    @cached_property
    def owners(self) -> "dict[str, Distribution]":
        """The distribution whose RECORD lists a file, by the file's path relative to `site`."""
        return {file.path: each for each in self.distributions for file in each.files}

    def owner_of(self, path: str) -> dict[str, object]:
        """Return facts for problems: the distribution that a file belongs to, else core."""
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

    def known(self, site: str, distribution: str | None, requirement: str | None = None) -> dict[str, str]:
        """Return how the packages of a directory were installed, as installation_facts returns it.

        Each package is looked at once.
        """
        place = (site, distribution, requirement)
        if place not in self._known:
            from .installer import installation_facts

            self._known[place] = installation_facts(
                site, distribution, requirement, self.distributions_in(site) or None
            )
        return self._known[place]

    @cached_property
    def _known(self) -> dict[tuple[str, str | None, str | None], dict[str, str]]:
        return {}

    # ---- files

    @cached_property
    def names(self) -> list[str]:
        """The names in the directory."""
        from rocm_sdk.base.files import names_in

        return names_in(self.site)

    @cached_property
    def platform_directories(self) -> tuple[str, ...]:
        """The absolute paths of the directories with the SDK's files, the development tree included."""
        names = [name for name in self.names if name.startswith(_PLATFORM)]
        return tuple(path for name in names if os.path.isdir(path := os.path.join(self.site, name)))

    @property
    def core_directory(self) -> str:
        """The directory with the files of core, or the one that would have them.

        A renamed directory is not a package.
        """
        names = (os.path.basename(path) for path in self.platform_directories)
        name = next((name for name in names if "_core" in name and name.isidentifier()), "_rocm_sdk_core")
        return os.path.join(self.site, name)

    @cached_property
    def shared_objects(self) -> "tuple[SharedObject, ...]":
        """The shared objects, each file once. The development tree is skipped: it has the same files."""
        from .shared_objects import inspected, paths_below

        if self.prefix is not None:
            return inspected(self.prefix.libraries())
        if self.fallback is not None:  # its libraries are among others
            return inspected({str(each.path) for each in self.locations.values()})
        return inspected(
            paths_below(each for each in self.platform_directories if "devel" not in os.path.basename(each))
        )

    @cached_property
    def needed_libraries(self) -> "NeededLibraries":
        """Which of the shared objects need each other."""
        from .needed_libraries import NeededLibraries

        return NeededLibraries(self.shared_objects)

    @cached_property
    def linker_names(self) -> frozenset[str]:
        """The linker names of the libraries: "libamdhip64.so"."""
        from .catalog import linker_name

        return frozenset(linker_name(each.name) for each in self.shared_objects)

    @property
    def rocm_linker_names(self) -> frozenset[str]:
        """The linker names that only a ROCm has: the SDK's libraries without those that systems have, too."""
        from rocm_sdk.base.files import names_in

        from .catalog import linker_name
        from .shared_objects import OF_SYSTEMS

        if self.fallback is not None:
            return self.linker_names - OF_SYSTEMS
        directories = [os.path.join(directory, "lib") for directory in self.platform_directories]
        return frozenset(linker_name(name) for directory in directories for name in names_in(directory)) - OF_SYSTEMS

    @property
    def search_directories(self) -> list[str]:
        """The directories with libraries, and for a prefix the entries of LD_LIBRARY_PATH beside them."""
        directories = [os.path.dirname(each.path) for each in self.shared_objects]
        directories += self.prefix.library_path if self.prefix is not None else ()
        return list(dict.fromkeys(directories))

    def has(self, path: str) -> bool:
        """Return whether a file is in the directory, or an installed link leads to it, by its real path."""
        return path.startswith(os.path.realpath(self.site) + os.sep) or path in self._linked_files

    @cached_property
    def _linked_files(self) -> frozenset[str]:
        """The files to which an installer's links lead; nothing leads to those of the development tree."""
        from rocm_sdk.base.files import installed_file
        from rocm_sdk.installed.directory_walk import walk

        directories = [each for each in self.platform_directories if "devel" not in os.path.basename(each)]
        paths = (os.path.join(root, name) for top in directories for root, _, names in walk(top) for name in names)
        return frozenset(file for path in paths if (file := installed_file(path)) != path)


def current() -> Installed:
    """Return the installation that this process would use: ROCM_SDK_ROOT's directory, or core's, else our own."""
    sdk = open_sdk()
    if (root := sdk_root()) is not None:
        return Installed(os.path.abspath(root), sdk=sdk, chosen_by="ROCM_SDK_ROOT")
    try:
        directory = sdk.package_directory("core")
        if (fallback := sdk.facts()["fallback"]) is not None:
            return Installed(directory, sdk=sdk, fallback=fallback)
        site = os.path.dirname(directory)
    except (ModuleNotFoundError, _refusal()):  # not installed, or too damaged to be found
        from .installer import own_site

        site = (
            _site_of("rocm-sdk-core")
            or _site_of("rocm-sdk-", "rocm-profiler")
            or _site_of("rocm-")  # the selector alone, or a placeholder of its name
            or own_site()
        )
    return Installed(site, sdk=sdk)


def _site_of(*beginnings: str) -> str | None:
    """Return the first entry of sys.path with a name that begins like this, except this package's; None: none."""
    from rocm_sdk.base.files import names_in

    from .distributions import BUILDER, LOADER, normalised

    for entry in sys.path:
        site = os.path.abspath(entry)
        names = (normalised(name) for name in names_in(site) if name.endswith((".dist-info", ".egg-info")))
        if any(name.startswith(beginnings) and not name.startswith((LOADER, BUILDER)) for name in names):
            return site
    return None


def refused_root() -> "RocmSdkError | None":
    """Return why the directory of ROCM_SDK_ROOT cannot be used; None if it can, or is not named."""
    try:
        chosen_site()
    except _refusal() as error:
        return error if error.facts.get("variable") == "ROCM_SDK_ROOT" else None
    return None


def _refusal() -> "type[RocmSdkError]":
    """Return the class of our exceptions, whose module is imported only where something has gone wrong."""
    from rocm_sdk.errors import RocmSdkError

    return RocmSdkError


def of_prefix(directory: str, destdir: str) -> Installed:
    """Return a prefix that is to be packaged.

    destdir: the staging directory that it is below; "": none. The variables that lead this process, and the processes
    that it starts, to another SDK are unset.
    """
    from .prefix import Prefix, foreign_variables

    site = os.path.abspath(directory)
    unset = foreign_variables()
    for name in unset:
        del os.environ[name]
    prefix = Prefix(site, os.path.abspath(destdir) if destdir else "", tuple(unset))
    return Installed(site, prefix=prefix, chosen_by="--sdk")


def at(directory: str, chosen_by: str | None = None) -> Installed:
    """Return the installation in any directory. chosen_by: the option or variable that named the directory."""
    return Installed(os.path.abspath(directory), chosen_by=chosen_by)

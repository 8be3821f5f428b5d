"""The established API of the SDK's tables: packages, libraries, target families.

Programs read `ALL_PACKAGES` and `ALL_LIBRARIES`; both are made from the C library's tables. The facts of the installed
SDK (`__version__`, `PY_PACKAGE_SUFFIX_NONCE`, the family lists) are read from it on each access.
"""

import os
from collections.abc import Iterable, Iterator, MutableMapping
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec

from rocm_sdk.errors import PackageNotInstalledError, RocmSdkError, RocmSdkWarning, TopologyError, warn

from ._native import (
    LoadedLibrary,
    _preloaded,
    canonical_target,  # noqa: F401
    catalog,
    choose_family,
    package_owner,
    packages,
    sdk_facts,
    sdk_root,
    targets,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctypes import CDLL
    from typing import Any

_FAMILY = "{target_family}"

# Established names of the facts of sdk_facts(); tuples become lists.
_FACTS = {
    "__version__": "version",
    "PY_PACKAGE_SUFFIX_NONCE": "nonce",
    "DEFAULT_TARGET_FAMILY": "default_family",
    "AVAILABLE_TARGET_FAMILIES": "available_families",
    "LINUX_TARGET_FAMILIES": "linux_families",
    "WINDOWS_TARGET_FAMILIES": "windows_families",
}


class PackageEntry:
    """A package of the SDK."""

    def __init__(
        self, logical_name: str, dist_package_template: str, pure_module: str, template_directory: str, required: bool
    ) -> None:
        self.logical_name = logical_name
        self.pure_py_package_name = pure_module
        self.template_directory = template_directory
        self.required = required
        self._dist_package_template = dist_package_template

    @property
    def dist_package_template(self) -> str:
        """The distribution name, which contains "{target_family}" if there is a package for each family."""
        if self.logical_name == "libraries" and _is_kpack_split():
            return self._dist_package_template.replace(f"-{_FAMILY}", "")
        return self._dist_package_template

    @property
    def is_target_specific(self) -> bool:
        """True if there is a package for each target family."""
        return _FAMILY in self.dist_package_template

    def get_dist_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the distribution. Raise ValueError if it needs a target family and there is none."""
        if not self.is_target_specific:
            return self.dist_package_template
        if target_family is None:
            raise ValueError(f"package {self.logical_name} is target specific: name a target family")
        return self.dist_package_template.replace(_FAMILY, package_owner(target_family))

    def get_dist_package_require(self, target_family: str | None = None) -> str:
        """Return the requirement that pins the distribution to the SDK's version."""
        return f"{self.get_dist_package_name(target_family)}=={_fact('__version__')}"

    def get_py_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the platform package, the importable directory with the files."""
        if self.is_target_specific and target_family is None:
            target_family = determine_target_family()
        distribution = self.get_dist_package_name(target_family)
        return f"_{distribution.replace('-', '_')}{_nonce()}"

    def get_py_package(self, target_family: str | None = None) -> ModuleSpec | None:
        """Return the platform package's module spec, whose `origin` is `__init__.py`; None if it is not installed."""
        name, root = self.get_py_package_name(target_family), sdk_root()
        return find_spec(name) if root is None else PathFinder.find_spec(name, [root])

    def has_py_package(self, target_family: str | None = None) -> bool:
        """Return whether the platform package is installed."""
        return self.get_py_package(target_family) is not None

    def __repr__(self) -> str:
        return f"PackageEntry({self.logical_name!r}, {self.dist_package_template!r})"


class LibraryEntry:
    """A library of the catalog."""

    def __init__(  # noqa: PLR0917 - a row of the catalog
        self,
        shortname: str,
        package: str,
        so_pattern: str,
        dll_pattern: str,
        posix_relpath: str,
        optional: bool,
    ) -> None:
        self.shortname = shortname
        self.package = ALL_PACKAGES[package]
        self.so_pattern = so_pattern
        self.dll_pattern = dll_pattern
        self.posix_relpath = posix_relpath
        self.windows_relpath = "bin"
        self._optional = optional

    @property
    def optional(self) -> bool:
        """True if the installed SDK may lack the library: no SDK has to have it, or this release drops it."""
        try:
            rows = catalog(_fact("__version__"))
        except RocmSdkError:
            return self._optional
        return any(name == self.shortname and optional for name, *_, optional in rows)

    def __repr__(self) -> str:
        return f"LibraryEntry({self.shortname!r}, {self.package.logical_name!r}, {self.so_pattern!r})"


def ownership_data() -> "dict[str, Any]":
    """Return, for programs, the targets whose code is in the packages of another target."""
    owners = {row.name: row.package_owner for row in targets() if row.package_owner != row.name}
    return {"schema_version": 1, "package_owners": owners}


def group_package_targets(targets: Iterable[str]) -> dict[str, list[str]]:
    """Return the owners of packages, each with its targets, as they are spelled, in order, each once."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(targets):
        groups.setdefault(package_owner(name), []).append(name)
    return groups


def architectural_family(target: str) -> str | None:
    """Return the series ("gfx125X") of a target that shares its packages with another one; None for other names."""
    owner, shared = package_owner(target), ownership_data()["package_owners"].values()
    return f"{owner[:-1]}X" if owner in shared else None


def discover_current_target_family() -> str | None:
    """Return the target family of the SDK that supports the GPUs of this machine; None if none does.

    A single GPU decides: a visible one before a hidden one, a discrete one before an integrated one, then the one with
    more memory, then the first KFD node. A RocmSdkWarning is issued if other visible GPUs need another family.
    """
    try:
        family, other, _ = choose_family(tuple(_fact("AVAILABLE_TARGET_FAMILIES")))
    except TopologyError as error:
        warn(f"the GPUs of this machine are not known: {error}", RocmSdkWarning)
        return None
    if other is not None:
        warn(
            f"GPUs of several target families are visible: {family} is used, not {other};"
            " set ROCM_SDK_TARGET_FAMILY to choose",
            RocmSdkWarning,
        )
    return family


def determine_target_family() -> str:
    """Return the target family to use: ROCM_SDK_TARGET_FAMILY, else the machine's, else the SDK's default.

    Raises ValueError if the SDK has no packages for that family.
    """
    wanted = os.environ.get("ROCM_SDK_TARGET_FAMILY") or discover_current_target_family()
    family = wanted or _fact("DEFAULT_TARGET_FAMILY")
    available = _fact("AVAILABLE_TARGET_FAMILIES")
    if package_owner(family or "") not in map(package_owner, available):
        raise ValueError(
            f"target family {family!r} is not one that the installed ROCm SDK offers"
            f" ({', '.join(available) or 'none'}); set ROCM_SDK_TARGET_FAMILY to one of these"
        )
    return str(family)


def _fact(name: str) -> "Any":
    value = sdk_facts()[_FACTS[name]]  # type: ignore[literal-required]
    return list(value) if isinstance(value, tuple) else value


def _nonce() -> str:
    try:
        return str(_fact("PY_PACKAGE_SUFFIX_NONCE"))
    except PackageNotInstalledError:
        return ""


def _is_kpack_split() -> bool:
    try:
        return sdk_facts()["kpack_split"]
    except PackageNotInstalledError:
        return False


def __getattr__(name: str) -> "Any":
    if name not in _FACTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return _fact(name)
    except PackageNotInstalledError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from error


ALL_PACKAGES = {
    name: PackageEntry(
        logical_name=name,
        dist_package_template=distribution,
        pure_module=module,
        template_directory=directory,
        required=required,
    )
    for name, distribution, module, directory, required in packages()
}
ALL_LIBRARIES = {
    name: LibraryEntry(
        shortname=name,
        package=package,
        so_pattern=so_pattern,
        dll_pattern=dll_pattern,
        posix_relpath=directory,
        optional=optional,
    )
    for name, package, so_pattern, dll_pattern, directory, optional in catalog()
}
THIS_TARGET_FAMILY: str | None = None
THIS_PACKAGE_ENTRY = ALL_PACKAGES["meta"]


class CdllsByShortname(MutableMapping[str, "CDLL"]):
    """The preloaded libraries as ctypes.CDLL objects, by shortname: `rocm_sdk._ALL_CDLLS`.

    Programs read the mapping and clear it. The extension keeps its own record of handles: removing an entry unloads
    nothing, and the next preload of the library adds it again. A CDLL object is created, and ctypes imported, when an
    entry is read.
    """

    def __init__(self, record: "dict[str, LoadedLibrary | CDLL]") -> None:
        self._record = record

    def __getitem__(self, shortname: str) -> "CDLL":
        entry = self._record[shortname]
        if isinstance(entry, LoadedLibrary):
            from ctypes import CDLL

            entry = CDLL(entry.location.path, handle=entry.handle)
            self._record[shortname] = entry
        return entry

    def __setitem__(self, shortname: str, library: "CDLL") -> None:
        self._record[shortname] = library

    def __delitem__(self, shortname: str) -> None:
        del self._record[shortname]

    def __iter__(self) -> Iterator[str]:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)

    def __repr__(self) -> str:
        return repr(dict(self))


ALL_CDLLS = CdllsByShortname(_preloaded)

"""Which gfx targets the installed packages of the SDK support, and which packages the GPUs of this machine need.

The code in the files decides. If none can be read, what the packages say of themselves decides.
Libraries have two layouts. Either there is a package for each target family, with the device code of that family. Or
one neutral package has no device code, and there is a device package for each target.
"""

import os

from rocm_sdk import _native, targets
from rocm_sdk._dist_info import ALL_PACKAGES
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.errors import PackageNotInstalledError, UnknownTargetError
from rocm_sdk.installed.distributions import Distribution, normalised, same_release, sdk_distributions
from rocm_sdk.problems.fixes import install_fix

from .coverage import coverage, supported_by_code

TYPE_CHECKING = False  # for type checkers; what follows takes longer to import than this module
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


class PackageTargets(NamedTuple):
    """An installed distribution, and the targets that it has device code for."""

    distribution: str
    version: str
    targets: tuple[str, ...]
    fault: str | None  # why it supports none of them, although it is installed

    @property
    def supported(self) -> tuple[str, ...]:
        """The targets that it supports."""
        return self.targets if self.fault is None else ()


def supporting_packages() -> list[PackageTargets]:
    """The installed packages with device code, ordered by name. Raises PackageNotInstalledError without an SDK."""
    facts = _native.sdk_facts()
    try:
        libraries = _native.package_directory("libraries")
    except PackageNotInstalledError:
        return []
    site = os.path.dirname(libraries)
    if facts["kpack_split"]:
        return sorted(_device_packages(site, libraries, str(facts["version"])))
    package = ALL_PACKAGES["libraries"]
    return [
        PackageTargets(package.get_dist_package_name(family), str(facts["version"]), _targets_of(family), None)
        for family in sorted({name.partition(":")[0] for name in facts["available_families"]})
        if os.path.isdir(os.path.join(site, package.get_py_package_name(family)))
    ]


def targets_with_code() -> tuple[str, ...]:
    """The targets that a library of the SDK has code for, in the order of the table; () if none has any GPU code.

    Raises PackageNotInstalledError without an SDK.
    """
    return supported_by_code(coverage([row.name for row in targets.table()]))


def supported_targets() -> tuple[str, ...]:
    """The targets that the installed packages support, in the order of the table of targets, then unknown ones."""
    if by_code := targets_with_code():
        return by_code
    supported = {name for package in supporting_packages() for name in package.supported}
    known = [row.name for row in targets.table() if row.name in supported]
    return (*known, *sorted(supported.difference(known)))


def missing_targets(gpus: "Iterable[_native.Gpu]", supported: "Collection[str]") -> tuple[str, ...]:
    """The package owners of the GPUs that are not among the supported targets, in the order of the GPUs."""
    owners = dict.fromkeys(owner_of(gpu.processor) for gpu in gpus if gpu.processor != "unknown")
    return tuple(owner for owner in owners if owner not in supported)


def requirement_for(target: str) -> str | None:
    """The requirement that adds a target ("rocm-sdk-device-gfx942==7.10.0"); None if the SDK has no package for it."""
    facts = _native.sdk_facts()
    offered = [family for family in facts["available_families"] if target in _targets_of(family)]
    if not offered:
        return None
    family = min(offered, key=lambda name: (name.endswith("gpu-all") and not name.startswith("gfx"), name != target))
    return ALL_PACKAGES["device" if facts["kpack_split"] else "libraries"].get_dist_package_require(family)


def package_to_install(target: str) -> tuple[str | None, str | None]:
    """The requirement that brings the code for a target, and its distribution if that is installed and faulty.

    (None, None) if no package of the SDK has code for the target, or the one that would have it is installed.
    """
    requirement = requirement_for(owner_of(target))
    if requirement is None:
        return None, None
    name = normalised(requirement.partition("==")[0])
    found = next((each for each in supporting_packages() if normalised(each.distribution) == name), None)
    if found is None:
        return requirement, None
    return (None, None) if found.fault is None else (requirement, found.distribution)


def install_command(requirement: str) -> str:
    """The command that installs a requirement beside the SDK."""
    return install_fix(requirement, os.path.dirname(_native.package_directory("core")))


def owner_of(target: str) -> str:
    """The target whose packages support this one. A target that is not in the table yet owns its packages."""
    try:
        return targets.package_owner(target)
    except UnknownTargetError:
        return target


def _targets_of(family: str) -> tuple[str, ...]:
    """The targets of a family. A family that is not in the table yet is taken for a target."""
    name = family.partition(":")[0]
    try:
        return targets.expand(name)
    except UnknownTargetError:
        return (name,)


def _device_packages(site: str, libraries: str, sdk_version: str) -> "Iterator[PackageTargets]":
    prefix = ALL_PACKAGES["device"].get_dist_package_name("")
    for found in sdk_distributions(site):
        if not found.name.startswith(prefix):
            continue
        fault = None
        if not same_release(found.version, sdk_version):
            fault = f"its version is {found.version}, that of the SDK {sdk_version}"
        elif found.fault is not None:
            fault = found.fault
        elif missing := _missing_file(site, found, os.path.basename(libraries)):
            fault = f"its file {missing} does not exist"
        yield PackageTargets(found.name, found.version, _targets_of(found.name[len(prefix) :]), fault)


def _missing_file(site: str, distribution: Distribution, directory: str) -> str | None:
    """A file of the platform directory that RECORD lists and that does not exist."""
    paths = (file.path for file in distribution.files if file.path.startswith(f"{directory}/"))
    return next((path for path in paths if not os.path.exists(os.path.join(site, path))), None)

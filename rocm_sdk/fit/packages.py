"""The gfx targets that the installed packages of the SDK support, and the packages that this machine's GPUs need.

The code in the files decides or, if none can be read, what the packages say about themselves.

Libraries have two layouts. Either there is a package for each target family, with the device code of that family. Or
one neutral package has no device code, and there is a device package for each target.
"""

from __future__ import annotations

import os

from rocm_sdk import _native, targets
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.errors import PackageNotInstalledError, UnknownTargetError
from rocm_sdk.installed.distributions import Distribution, normalised, same_release
from rocm_sdk.problems.problem import install_fix

from .coverage import supported_by_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from rocm_sdk.installed.view import Installed


class PackageTargets(NamedTuple):
    """An installed distribution, and the targets that it has device code for."""

    distribution: str
    version: str
    targets: tuple[str, ...]
    fault: str | None  # why it supports none of them, although it is installed

    @property
    def supported(self) -> tuple[str, ...]:
        """The targets that the package supports."""
        return self.targets if self.fault is None else ()


def supporting_packages(installed: Installed) -> list[PackageTargets]:
    """Return the installed packages with device code, ordered by name.

    Raise PackageNotInstalledError without an SDK.
    """
    facts = installed.sdk.facts()
    try:
        libraries = installed.sdk.package_directory("libraries")
    except PackageNotInstalledError:
        return []
    site, version = os.path.dirname(libraries), str(facts["version"])
    if facts["kpack_split"]:
        return sorted(_device_packages(installed, site, libraries, version))
    names = {distribution_name("libraries", family): family for family in facts["available_families"]}
    return [
        PackageTargets(name, version, _targets_of(family), None)
        for name, family in sorted(names.items())
        if os.path.isdir(os.path.join(site, f"_{name.replace('-', '_')}{facts['nonce']}"))
    ]


def targets_with_code(installed: Installed) -> tuple[str, ...]:
    """Return the targets that a library of the SDK has code for, in the order of the table.

    The result is () if none has any GPU code. Raises PackageNotInstalledError without an SDK.
    """
    names = tuple(row.name for row in targets.table())
    return supported_by_code(_native.coverage(installed.directories, names, False))


def supported_targets(installed: Installed) -> tuple[str, ...]:
    """Return the targets that the installed packages support.

    The targets are in the order of the table, unknown ones last.
    """
    if by_code := targets_with_code(installed):
        return by_code
    supported = {name for package in supporting_packages(installed) for name in package.supported}
    known = [row.name for row in targets.table() if row.name in supported]
    return (*known, *sorted(supported.difference(known)))


def missing_targets(gpus: Iterable[_native.Gpu], supported: Collection[str]) -> tuple[str, ...]:
    """Return the package owners of the GPUs that are not among the supported targets, in the order of the GPUs."""
    owners = dict.fromkeys(owner_of(gpu.processor) for gpu in gpus if gpu.processor != "unknown")
    return tuple(owner for owner in owners if owner not in supported)


def requirement_for(installed: Installed, target: str) -> str | None:
    """Return the requirement that adds a target; None if the SDK has no package for it.

    An example is "rocm-sdk-device-gfx942==7.10.0".
    """
    facts = installed.sdk.facts()
    offered = [family for family in facts["available_families"] if target in _targets_of(family)]
    if not offered:
        return None
    family = min(offered, key=lambda name: (name.endswith("gpu-all") and not name.startswith("gfx"), name != target))
    return f"{distribution_name('device' if facts['kpack_split'] else 'libraries', family)}=={facts['version']}"


def package_to_install(installed: Installed, target: str) -> tuple[str | None, str | None]:
    """Return the requirement that brings the code for a target, and its distribution if that is installed but faulty.

    The result is (None, None) if no package of the SDK has code for the target, or if the one that should have it is
    installed.
    """
    requirement = requirement_for(installed, owner_of(target))
    if requirement is None:
        return None, None
    name = normalised(requirement.partition("==")[0])
    found = next((each for each in supporting_packages(installed) if normalised(each.distribution) == name), None)
    if found is None:
        return requirement, None
    return (None, None) if found.fault is None else (requirement, found.distribution)


def sound_package(installed: Installed, target: str) -> str | None:
    """Return the installed distribution with the code for a target; None if there is none, or if it is faulty."""
    owner = owner_of(target)
    found = (each.distribution for each in supporting_packages(installed) if owner in each.supported)
    return next(found, None)


def install_command(installed: Installed, requirement: str) -> str:
    """Return the command that installs a requirement beside the SDK."""
    return install_fix(requirement, os.path.dirname(installed.sdk.package_directory("core")))


def owner_of(target: str) -> str:
    """Return the target whose packages support this one. A target that is not in the table yet owns its packages."""
    return _native.package_owner(target)


def _targets_of(family: str) -> tuple[str, ...]:
    """Return the targets of a family. A family that is not in the table yet is taken for a target."""
    name = owner_of(family)
    try:
        return targets.expand(name)
    except UnknownTargetError:
        return (name,)


def distribution_name(package: str, family: str) -> str:
    """Return the name of the distribution of a package for one family, by the table of packages."""
    template = next(row[1] for row in _native.packages() if row[0] == package)
    return template.replace("{target_family}", owner_of(family))


def _device_packages(installed: Installed, site: str, libraries: str, sdk_version: str) -> Iterator[PackageTargets]:
    prefix = distribution_name("device", "")
    for found in installed.distributions_in(site):
        if not found.name.startswith(prefix):
            continue
        fault = None
        if not same_release(found.version, sdk_version):
            fault = f"its version is {found.version}, the version of the SDK {sdk_version}"
        elif found.fault is not None:
            fault = found.fault
        elif missing := _missing_file(site, found, os.path.basename(libraries)):
            fault = f"its file {missing} does not exist"
        yield PackageTargets(found.name, found.version, _targets_of(found.name[len(prefix) :]), fault)


def _missing_file(site: str, distribution: Distribution, directory: str) -> str | None:
    """Return a file of the platform directory that RECORD lists and that does not exist; None if all exist."""
    paths = (file.path for file in distribution.files if file.path.startswith(f"{directory}/"))
    return next((path for path in paths if not os.path.exists(os.path.join(site, path))), None)

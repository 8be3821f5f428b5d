"""The gfx targets to build for: this machine's, the SDK's or a list's, checked before a build starts."""

from rocm_sdk import _native, targets
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.errors import EmptySelectionError, RocmSdkError, UnknownTargetError, UnsupportedTargetError
from rocm_sdk.installed.view import Installed, current

from .packages import install_command, owner_of, requirement_for, supported_targets, supporting_packages


def select(selection: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the targets of "machine", of "sdk" or of a list of targets and families; and notes about skipped targets.

    Raises UnknownTargetError for a name that is unknown or that ROCm is not built for, EmptySelectionError, and, except
    for "sdk", UnsupportedTargetError if the installed libraries lack a target.
    """
    notes: tuple[str, ...] = ()
    installed = current()
    if selection == "sdk":
        built = installed.sdk.built_targets()
        if not built:
            raise EmptySelectionError(
                "the installed SDK does not say which targets it was built for (share/therock/dist_info.json)",
                "name the targets, or build for this machine: rocm-sdk targets --cmake machine",
            )
        chosen = targets.expand(built)
    elif selection == "machine":
        chosen, notes = _of_machine()
    else:
        chosen = targets.expand(selection)
        for name in chosen:
            if not _is_built_for(name):
                known = tuple(row.name for row in targets.table() if targets.families_of(row.name))
                meant = did_you_mean(name.partition(":")[0], known)
                raise UnknownTargetError(f"ROCm is not built for {name}", meant or None)
    if not chosen:
        raise EmptySelectionError(
            f"the selection {selection!r} contains no target", "name targets or families: gfx942,gfx110X-all"
        )
    if selection != "sdk":
        _require_packages(installed, chosen)
    return chosen, notes


def _of_machine() -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = dict.fromkeys(gpu.processor for gpu in _native.gpus() if gpu.processor != "unknown")
    if not found:
        from .wsl import explained

        causes = "; ".join(problem.cause for problem in explained(_native.check_gpu_access()))
        raise EmptySelectionError(f"no GPU of this machine is known{causes and f': {causes}'}", "name the targets")
    skipped = [name for name in found if not _is_built_for(name)]
    notes = tuple(f"{name} of this machine is skipped: ROCm is not built for it" for name in skipped)
    return tuple(name for name in found if name not in skipped), notes


def _is_built_for(target: str) -> bool:
    """Return whether ROCm is built for a target, or the target is newer than the table of targets."""
    try:
        return bool(targets.families_of(target))
    except UnknownTargetError:
        return True


def _require_packages(installed: Installed, chosen: tuple[str, ...]) -> None:
    try:
        supported, packages = supported_targets(installed), supporting_packages(installed)
    except RocmSdkError as error:
        if error.code != "E-PKG-001" or "variable" in error.facts:
            raise
        return  # nothing is installed: the flags are for another ROCm, such as a distribution's
    if not supported and not packages:
        return  # there is no installed library that a program could be built against
    for name in chosen:
        owner = owner_of(name)
        if owner not in supported:
            present = ", ".join(package.distribution for package in packages) or f"code for {', '.join(supported)}"
            requirement = requirement_for(installed, owner)
            raise UnsupportedTargetError(
                f"the installed libraries have no device code for {name}; installed: {present}",
                install_command(installed, requirement)
                if requirement
                else f"Leave {name} out: this SDK has no code for it",
            )

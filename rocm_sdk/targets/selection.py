"""The gfx targets to build for: those of this machine, of the SDK or of a given list, checked before a build starts."""

from rocm_sdk import _native, targets
from rocm_sdk.errors import EmptySelectionError, UnknownTargetError, UnservedTargetError

from .packages import owner_of, requirement_for, serving_packages


def select(selection: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The targets of "machine", of "sdk" or of a list of targets and families; and notes about what was left out.

    UnknownTargetError for names that are unknown or that ROCm is not built for, EmptySelectionError, and, except for
    "sdk", UnservedTargetError where the installed libraries lack a target.
    """
    notes: tuple[str, ...] = ()
    if selection == "sdk":
        chosen = _of_sdk()
    elif selection == "machine":
        chosen, notes = _of_machine()
    else:
        chosen = targets.expand(selection)
        _refuse_unsupported(chosen)
    if not chosen:
        raise EmptySelectionError(
            f"the selection {selection!r} stands for no target", "name targets or families: gfx942,gfx110X-all"
        )
    if selection != "sdk":
        _refuse_unserved(chosen)
    return chosen, notes


def _of_sdk() -> tuple[str, ...]:
    built = _native.built_targets()
    if not built:
        raise EmptySelectionError(
            "the installed SDK does not say what it was built for (share/therock/dist_info.json)",
            "name the targets, or build for this machine: rocm-sdk targets --cmake machine",
        )
    return targets.expand(built)


def _of_machine() -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = dict.fromkeys(gpu.processor for gpu in _native.gpus() if gpu.processor != "unknown")
    if not found:
        causes = "; ".join(problem.cause for problem in _native.check_gpu_access())
        raise EmptySelectionError(f"no GPU of this machine is known{causes and f': {causes}'}", "name the targets")
    left_out = [name for name in found if not _is_supported(name)]
    notes = tuple(f"{name} of this machine is left out: ROCm is not built for it" for name in left_out)
    return tuple(name for name in found if name not in left_out), notes


def _is_supported(target: str) -> bool:
    """Whether ROCm is built for it, or it is newer than our table."""
    try:
        return bool(targets.families_of(target))
    except UnknownTargetError:
        return True


def _refuse_unsupported(chosen: tuple[str, ...]) -> None:
    for name in chosen:
        if not _is_supported(name):
            from difflib import get_close_matches

            supported = [row.name for row in targets.table() if targets.families_of(row.name)]
            nearest = get_close_matches(name.partition(":")[0], supported)
            raise UnknownTargetError(
                f"ROCm is not built for {name}", f"supported and near: {', '.join(nearest)}" if nearest else None
            )


def _refuse_unserved(chosen: tuple[str, ...]) -> None:
    packages = serving_packages()
    served = {name for package in packages for name in package.served}
    if not packages:
        return  # no library is installed that a program could be built against
    for name in chosen:
        owner = owner_of(name)
        if owner not in served:
            installed = ", ".join(package.distribution for package in packages)
            requirement = requirement_for(owner)
            raise UnservedTargetError(
                f"the installed libraries have no device code for {name}; installed: {installed}",
                f'pip install "{requirement}"' if requirement else "this SDK offers no package for it: leave it out",
            )

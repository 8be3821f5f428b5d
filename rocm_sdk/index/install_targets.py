"""The targets to install for: the targets of the machine's GPUs, or targets that the user names."""

from __future__ import annotations

from rocm_sdk import targets
from rocm_sdk._native import check_gpu_access, detect_gpus, survey_gpus
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import listed
from rocm_sdk.errors import RocmSdkError, UnknownTargetError
from rocm_sdk.fit.packages import owner_of
from rocm_sdk.fit.wsl import explained, unseen

from .install_errors import InstallRefusedError, WrongWordError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from rocm_sdk._native import DetectionSource

    Detected: TypeAlias = tuple[tuple[str | None, str, DetectionSource, str], ...]

_CLASSES = {"discrete": ("discrete", "data centre"), "integrated": ("integrated",)}


class InstallTargets(NamedTuple):
    """The targets whose packages are needed, in the order of the GPUs, each once; and what to say about it.

    beside: targets of integrated GPUs beside others, which are left out if the index has nothing for them.
    """

    targets: tuple[str, ...]
    notes: tuple[str, ...]
    beside: tuple[str, ...] = ()

    def without(self, target: str) -> InstallTargets:
        """Return the choice without an integrated GPU for which the index has nothing."""
        note = f"{target}, the integrated GPU, is left out: rocm-sdk run --gpu supported PROGRAM uses the other one"
        rest = tuple(each for each in self.targets if each != target)
        return InstallTargets(rest, (*self.notes[:-1], note), tuple(each for each in self.beside if each != target))


def choose_gpus(wanted: str | None, name_one: str) -> InstallTargets:
    """Return the targets for a value of --gpu; None is the machine. Raise InstallRefusedError if there are none.

    name_one: the fix if a GPU has to be named.
    """
    wanted = None if wanted == "machine" else wanted
    if wanted is not None and wanted not in _CLASSES:
        return InstallTargets(tuple(dict.fromkeys(map(owner_of, named := _named(wanted, name_one)))), unseen(named))
    found = detect_gpus()
    if not found:
        causes = "; ".join(problem.cause for problem in explained(check_gpu_access()))
        raise InstallRefusedError(f"no GPU was found{causes and f': {causes}'}", name_one)
    found, hidden = _without_hidden(found) if wanted is None else (found, ())
    chosen = [gpu for gpu in found if wanted is None or gpu[1] in _CLASSES[wanted]]
    if not chosen:
        raise InstallRefusedError(f"--gpu {wanted}: no GPU of this machine is {wanted}", "leave out --gpu, or name one")
    notes = [*hidden, *(_description(*gpu) for gpu in chosen)]
    known = tuple(dict.fromkeys(owner_of(target) for target, *_ in chosen if target is not None))
    if not known:
        raise InstallRefusedError("; ".join(notes), name_one)
    if wanted is None and len({gpu_class == "integrated" for _, gpu_class, _, _ in chosen}) > 1:
        others = {owner_of(target) for target, kind, *_ in chosen if target is not None and kind != "integrated"}
        notes.append("packages for the integrated GPU are included; --gpu discrete leaves them out")
        return InstallTargets(known, tuple(notes), tuple(each for each in known if each not in others))
    return InstallTargets(known, tuple(notes))


def _without_hidden(found: Detected) -> tuple[Detected, tuple[str, ...]]:
    """Return the GPUs that no variable hides from programs, and a note on each hidden one.

    The result is all GPUs if that leaves none.
    """
    try:
        gpus, _, hidden_by = survey_gpus()
    except RocmSdkError:  # the driver's list is damaged: the GPUs are the bus's
        return found, ()
    hidden = {gpu.target.partition(":")[0]: variable for gpu, variable in zip(gpus, hidden_by, strict=True) if variable}
    seen = {gpu.target.partition(":")[0] for gpu, variable in zip(gpus, hidden_by, strict=True) if not variable}
    left = tuple(each for each in found if each[0] not in hidden or each[0] in seen)
    if not left or len(left) == len(found):
        return found, ()
    gone = (each for each in found if each not in left)
    return left, tuple(
        f"{place}: {target} is left out: {hidden[target or '']} hides it" for target, _, _, place in gone
    )


def nearest_targets(target: str) -> dict[str, str]:
    """Return targets and generic targets whose code a GPU of this target runs -> how it fits, the best first."""
    others = dict.fromkeys([row.name for row in targets.table()] + [row.generic or "" for row in targets.table()])
    order = ("compatible", "generic", "unofficial")
    fits = {other: _fit(other, target) for other in others if other and other != target}
    return {other: fit for wanted in order for other, fit in fits.items() if fit == wanted}


def _fit(code: str, gpu: str) -> str:
    try:
        return targets.compatibility(code, gpu, generic_version=1, unofficial=True).fit
    except (UnknownTargetError, ValueError):
        return "none"


def _named(names: str, name_one: str) -> tuple[str, ...]:
    generic = {row.generic for row in targets.table()}
    found: list[str] = []
    for name in listed(names):
        found += [name] if name in generic else [each.partition(":")[0] for each in targets.expand(name)]
    if not found:
        raise WrongWordError(f"--gpu {names!r} names no GPU", name_one)
    return tuple(found)


def _description(target: str | None, gpu_class: str, source: str, place: str) -> str:
    if target is None:
        return f"the GPU at {place} is not known here"
    if source == "PCI id":
        return f"{place}: {target}, {gpu_class}: a guess by its PCI id, because no driver says what it is"
    how = "" if source == "KFD" else ", by the amdgpu driver: KFD does not have it, so ROCm cannot use it yet"
    return f"{place}: {target}, {gpu_class}{how}"

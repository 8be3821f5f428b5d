"""The packages that have the code for each GPU: single ones, a family's, or the libraries with all code."""

from __future__ import annotations

from rocm_sdk import targets as known
from rocm_sdk._native import sdk_indexes
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.errors import UnknownTargetError
from rocm_sdk.installed.distributions import normalised

from .install_errors import InstallRefusedError
from .install_targets import nearest_targets
from .installer_answer import Answer, Package, ask, offered
from .offered_code import DEVICE, FAMILY, WHOLE, Offer, offered_targets, package_of, read_offer
from .request import Requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .destination import Destination
    from .request import Index

SELECTOR = "rocm"
_NEWEST = "nightly"
_NAMED = 6  # targets that a message names


class Placed(NamedTuple):
    """The requirements to ask for, the installer's answer to them, and what to say about it."""

    requirements: tuple[Requirement, ...]
    answer: Answer
    notes: tuple[str, ...]


def with_code(
    requirements: tuple[Requirement, ...],
    targets: tuple[str, ...],
    answer: Answer,
    destination: Destination,
    index: Index,
) -> Placed:
    """Return the requirements with the packages that have the code for the targets.

    Raises InstallRefusedError if a target has no package of a product, and no other package has its code.
    """
    notes: tuple[str, ...] = ()
    if lacking := _lacking(SELECTOR, requirements, targets, answer):
        offer = read_offer(index, answer, lacking)
        if isinstance(offer, str):
            offer = _asked(requirements, destination, index) or offer
        if isinstance(offer, str):
            return Placed(requirements, answer, (f"{offer}: the check after the installation finds out",))
        for target in lacking:
            _check_code(offer, target, targets, answer, index)
        requirements, answer = _by_names(offer, requirements, lacking, answer, destination, index)
        if offer.kind != DEVICE:  # the other products are built in the same way
            packages = _packages(offer, lacking) or ["rocm-sdk-libraries"]
            return Placed(requirements, answer, (f"the code for these GPUs is in {', '.join(packages)}",))
    elif answer.unoffered:
        notes = ("this index has no extras for single GPUs: the packages for all GPUs come along",)
    for each in requirements:
        for target in _lacking(each.name, requirements, targets, answer):
            fits = nearest_targets(target)
            found = offered_targets(index, each.device)
            if found is None:
                found = _asked_for(each, fits, destination, index)
            message = f"{each.name} {_version(each.name, answer)} has no package for {target}"
            fix = _nearest(found, target, fits, _in_other_stream(index))
            fix += _without(target, targets)
            raise InstallRefusedError(f"{message} ({each.device}{target}) at {index.shown}", fix, target)
    return Placed(requirements, answer, notes)


def _lacking(
    name: str, requirements: Iterable[Requirement], targets: tuple[str, ...], answer: Answer
) -> tuple[str, ...]:
    """Return the targets for which the installer did not find a package of a product."""
    (device,) = (each.device for each in requirements if each.name == name)
    return tuple(each for each in targets if device and normalised(device + each) not in answer.packages)


def _version(name: str, answer: Answer) -> str:
    return answer.packages.get(normalised(name), Package("", "")).version


def _asked(requirements: tuple[Requirement, ...], destination: Destination, index: Index) -> Offer | None:
    """Return the targets that have device packages, if the installer finds packages of any known target; else None."""
    (sdk,) = (each for each in requirements if each.name == SELECTOR)
    names = dict.fromkeys(name for row in known.table() for name in (row.name, row.generic) if name)
    found = _asked_for(sdk, names, destination, index)
    return Offer(DEVICE, tuple(found)) if found else None


def _asked_for(requirement: Requirement, targets: Iterable[str], destination: Destination, index: Index) -> list[str]:
    """Return the targets for which the installer finds packages of a product."""
    others = (each for each in requirement.extras if not each.startswith("device-"))
    extras = (*others, *(f"device-{each}" for each in targets))
    answer = ask((requirement._replace(extras=extras),), destination, index)
    found = offered((requirement.device + each for each in targets), answer)
    return [name[len(requirement.device) :] for name in found]


def _check_code(offer: Offer, target: str, targets: tuple[str, ...], answer: Answer, index: Index) -> None:
    """Raise InstallRefusedError if no package of the SDK has code for a target."""
    fits = nearest_targets(target)
    offered_for = [each for name in offer.names for each in _targets_of(offer, name)]
    runs = {target, *(name for name, fit in fits.items() if fit != "unofficial")} if offer.kind == WHOLE else {target}
    if runs.intersection(offered_for):
        return
    what = f"rocm {_version(SELECTOR, answer)}"
    if offer.kind == DEVICE:
        message = f"{what} has no package for {target} ({package_of(offer, target)}) at {index.shown}"
    else:
        message = f"{what} at {index.shown} has no code for {target}: it has that for {', '.join(offer.names)}"
    fix = _nearest(offered_for, target, fits, _in_other_stream(index))
    raise InstallRefusedError(message, fix + _without(target, targets), target)


def _targets_of(offer: Offer, name: str) -> tuple[str, ...]:
    """Return the targets of a family; a target stands for itself."""
    try:
        return known.expand(name) if offer.kind == FAMILY else (name,)
    except UnknownTargetError:
        return (name,)


def _packages(offer: Offer, targets: tuple[str, ...]) -> list[str]:
    """Return the packages of the offer that have code for the targets."""
    if offer.kind == WHOLE:
        return []
    found = (next(name for name in offer.names if each in _targets_of(offer, name)) for each in targets)
    return list(dict.fromkeys(package_of(offer, name) for name in found))


def _by_names(  # noqa: PLR0917 - what each step needs
    offer: Offer,
    requirements: tuple[Requirement, ...],
    targets: tuple[str, ...],
    answer: Answer,
    destination: Destination,
    index: Index,
) -> tuple[tuple[Requirement, ...], Answer]:
    """Return the requirements with the packages that no extra brings, and the answer to them.

    An SDK for one GPU has no extra for it, and with an SDK for families, `libraries` brings this machine's.
    """
    names = [name for name in _packages(offer, targets) if name not in answer.packages]
    if not names:
        return requirements, answer
    version = f"=={_version(SELECTOR, answer)}"
    dropped = {"libraries"} if offer.kind == FAMILY else set()
    kept = []
    for each in requirements:
        gone = dropped | {extra for name, extra in answer.unoffered if name == normalised(each.name)}
        extras = tuple(extra for extra in each.extras if each.name != SELECTOR or extra not in gone)
        kept.append(each._replace(extras=extras, version=version if each.name == SELECTOR else each.version))
    requirements = (*kept, *(Requirement(name, (), "", version, "") for name in names))
    return requirements, ask(requirements, destination, index)


def _nearest(found: Iterable[str], target: str, fits: dict[str, str], further: str) -> str:
    """Return words for what comes nearest to a target that nothing supports.

    further: the option that asks another stream.
    """
    offered_for = list(dict.fromkeys(found))
    other = next((each for each in fits if each in set(offered_for)), None)
    if other is None:
        return f"this index has {_listed(offered_for)}; {further}"
    if fits[other] == "unofficial":
        return (
            f"no code for {target} is offered. The code for {other} is nearest, and only runtimes with"
            f" distributions' patches try it; nobody supports that: --gpu {other}"
        )
    return f"the code for {other} runs on {target}: --gpu {other}"


def _listed(names: list[str]) -> str:
    """Return some of the names in words."""
    if not names:
        return "no package for a GPU"
    last = f"{len(names) - _NAMED} more" if len(names) > _NAMED else names[-1]
    return " and ".join(filter(None, (", ".join(names[:_NAMED] if len(names) > _NAMED else names[:-1]), last)))


def _in_other_stream(index: Index) -> str:
    """Return the option that asks the stream of nightly builds, which has new GPUs first."""
    if index.stream == _NEWEST:
        return "no other stream has newer releases"
    is_known = index.address in {row[3] for row in sdk_indexes()}
    return f"try --rocm {_NEWEST}{'' if is_known else ', and take ROCM_SDK_INDEX away: env -u ROCM_SDK_INDEX COMMAND'}"


def _without(target: str, targets: tuple[str, ...]) -> str:
    others = ",".join(other for other in targets if other != target)
    return f"; or leave this GPU out: --gpu {others}" if others else ""

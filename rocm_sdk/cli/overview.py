"""The command `rocm-sdk` without arguments: the state of this machine in five lines, and the commands in groups.

The command reads less than `rocm-sdk info`: no metadata of packages, and no library. So the verdict goes by the names
of the packages, and the last line names the command that looks inside them.
"""

import os

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.standings import BESIDE, COUNTS, standings
from rocm_sdk.terminal.output import tell, tell_row

from .commands import COMMANDS, GROUPS
from .gpu_table import equal_gpus, lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm_sdk._native import Gpu, Sdk

_KINDS = 3  # of GPUs that the line names
_TYPED = 24  # columns of the command to type
_NAMES = 50  # columns of the commands of a group


def run() -> int:
    """Print the overview. Return status 1 if there is no SDK."""
    sdk = _native.open_sdk()
    try:
        facts = sdk.facts()
    except RocmSdkError as error:
        has_sdk, name, place, built = False, "not installed", error.message, None
    else:
        has_sdk, built = True, _built_targets(sdk)
        name = f"ROCm {facts['version'] or 'of an unknown version'}, for {' '.join(built or ('unknown GPUs',))}"
        place = facts["root"] or facts["fallback"] or os.path.dirname(sdk.package_directory("core"))
    try:
        gpus: Sequence[Gpu] = _native.gpus()
        groups = equal_gpus(gpus)
        more = f"; and {len(groups) - _KINDS} more kinds" if len(groups) > _KINDS else ""
        shown = "; ".join(lines_of(groups[:_KINDS])) + more or "none that the kernel's driver knows"
    except RocmSdkError as error:
        gpus, shown = (), error.message
    own = None
    if not has_sdk:
        from rocm_sdk.fit.verdicts.requirements import own_rocm

        own = own_rocm()
    if own is not None:
        verdict, typed = own[1], f"check {own[0]}"
    else:
        verdict, typed = _verdict(built, gpus) if has_sdk else ("nothing can be loaded yet", _installing(gpus))
    for title, text in (("SDK", name), ("place", place), ("GPU", shown), ("verdict", verdict)):
        tell_row(f"{title:<7}", text)
    about = COMMANDS[typed.partition(" ")[0]] if "--gpu" not in typed else "name the GPU that it is for"
    tell_row(f"{'next':<7}  {'rocm-sdk ' + typed:<{_TYPED}}", about)
    tell("")
    for group, (words, names) in GROUPS.items():
        tell_row(f"{group:<7}  {' '.join(names):<{_NAMES}}", words)
    tell_row(f"{'make':<7}", "rocm-sdk-build: wheels, smaller SDKs, images (a package of its own)")
    tell_row(f"{'help':<7}", "rocm-sdk help COMMAND; rocm-sdk --help has a line for each")
    return 0 if has_sdk or own is not None else 1


def _built_targets(sdk: "Sdk") -> "tuple[str, ...] | None":
    """Return the targets that the SDK says it was built for; None if it does not say."""
    try:
        return tuple(filter(None, sdk.built_targets().split(";"))) or None
    except RocmSdkError:
        return None


def _verdict(built: "tuple[str, ...] | None", gpus: "Sequence[Gpu]") -> tuple[str, str]:
    """Return whether the SDK was built for the GPUs, in words, and what to type next."""
    usable = [gpu for gpu in gpus if gpu.usable]
    if not usable:
        return "no GPU is usable" if gpus else "there is no GPU to run on; no library was looked at", "gpus"
    if built is None:
        return "the SDK does not say for which GPUs it was built", "check-gpu"
    standing = standings(usable, [None] * len(usable), lambda gpu: _is_built_for(built, gpu))
    beside = [gpu.processor for gpu, each in zip(usable, standing) if each.kind == BESIDE]  # noqa: B905
    pairs = zip(usable, standing)  # noqa: B905
    lacking = dict.fromkeys(
        gpu.processor for gpu, each in pairs if each.kind == COUNTS and not _is_built_for(built, gpu)
    )
    if beside and not lacking:
        others = ", ".join(dict.fromkeys(beside))
        return f"the SDK was built for the discrete GPU, not for {others}: rocm-sdk run --gpu supported PROGRAM", "test"
    if lacking:
        return f"the SDK was not built for {', '.join(lacking)}", "check-gpu"
    return "the SDK was built for each usable GPU", "test"


def _is_built_for(built: "Iterable[str]", gpu: "Gpu") -> bool:
    return any(_fits(name, gpu.processor) for name in built)


def _fits(target: str, processor: str) -> bool:
    """Return whether a target fits a processor, by the names.

    A name that the table of targets lacks is compared as it is.
    """
    try:
        return _native.compatibility(target, processor, None, False).fit != "none"
    except RocmSdkError:
        return target == processor


def _installing(gpus: "Iterable[Gpu]") -> str:
    """Return the words that install the SDK. If there is no GPU, they ask the user to name one."""
    return "install torch" if any(gpu.processor != "unknown" for gpu in gpus) else "install torch --gpu GPU"

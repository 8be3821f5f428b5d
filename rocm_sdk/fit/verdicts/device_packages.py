"""The packages with the GPU code of torch and torchvision: amd-torch-device-gfx942 has torch's code for gfx942."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocm_sdk.fit.packages import owner_of
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.installed.other_distributions import find, versions
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.problems import Problem

_EXTRA = "device-"


def device_package_problems(name: str, gpus: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each GPU whose package is missing beside a distribution.

    The GPU code of such a distribution is in packages for each target, and it has an extra for each target,
    "device-gfx942". A distribution without such extras has its code in itself.
    """
    base = find(name)
    if base is None:
        return
    offered = {extra for extra in base.metadata.get_all("Provides-Extra") or () if extra.startswith(_EXTRA)}
    if not offered:
        return
    stem = f"amd-{normalised(name)}-device-"
    installed = versions(stem)
    for gpu in gpus:
        owner = owner_of(gpu.partition(":")[0])
        wanted, version = f"{stem}{owner}", base.version
        if installed.get(wanted) == version:
            continue
        if wanted in installed:
            detail = f"{wanted} has version {installed[wanted]}, {name} {version}"
        elif installed:
            detail = f"{wanted} is not installed; {', '.join(sorted(installed))} is for other GPUs"
        else:
            detail = f"{wanted} is not installed"
        requirement = f"{wanted}=={version}" if f"{_EXTRA}{owner}" in offered else None
        yield problem("E-PKG-021", distribution=name, target=gpu, detail=detail, requirement=requirement)

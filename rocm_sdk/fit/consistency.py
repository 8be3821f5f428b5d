"""A comparison of the GPUs that the installed packages support.

If the packages differ, a program fails late, at its first kernel.
"""

from typing import NamedTuple

from rocm_sdk import _native, targets
from rocm_sdk.base.processes import own_code, run
from rocm_sdk.installed.init_module import init_module
from rocm_sdk.installed.view import Installed

from .packages import supporting_packages, targets_with_code

_TORCH_SECONDS = 120.0  # a cold `import torch` reads gigabytes
_TORCH_PROGRAM = "import torch; print(*(torch._C._cuda_getArchFlags() or '').split(), sep=';')"


class Gap(NamedTuple):
    """A target that one part of the installation supports, but another does not."""

    part: str
    target: str
    other: str


class Consistency(NamedTuple):
    """The targets that each part supports, by its name; the gaps; and notes for the user."""

    parts: dict[str, tuple[str, ...]]
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...]


def check(installed: Installed) -> Consistency:
    """Compare core, libraries, device packages and torch, and return what they support and the gaps.

    The comparison is for the GPUs of this machine and of the chosen packages. That core was built for more targets than
    are installed is normal, and not a gap.
    """
    parts: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    if built := installed.sdk.built_targets():
        parts["rocm-sdk-core"] = targets.expand(built)
    packages = supporting_packages(installed)
    notes += [f"{package.distribution}: {package.fault}" for package in packages if package.fault]
    chosen = [name for package in packages for name in package.supported]
    if by_code := targets_with_code(installed):
        parts["libraries"] = by_code
    elif packages:
        label = "device packages" if installed.sdk.facts()["kpack_split"] else "libraries"
        parts[label] = tuple(dict.fromkeys(chosen))
    if torch := _targets_of_torch(notes):
        parts["torch"] = torch
    here = [gpu.processor for gpu in _native.gpus() if gpu.known]
    gaps: list[Gap] = []
    for name in dict.fromkeys(targets.package_owner(name) for name in (*here, *chosen)):
        supporting = [part for part, supported in parts.items() if name in supported]
        if supporting:
            gaps += [Gap(part, name, supporting[0]) for part in parts if part not in supporting]
    return Consistency(parts, tuple(gaps), tuple(notes))


def _targets_of_torch(notes: list[str]) -> tuple[str, ...]:
    """Return the targets that an installed torch reports in a separate process; () without a torch for ROCm."""
    if init_module("torch") is None:
        return ()
    try:
        done = run(own_code(_TORCH_PROGRAM), seconds=_TORCH_SECONDS)
    except TimeoutError:
        notes.append(f"torch: `import torch` did not end within {_TORCH_SECONDS:.0f} s")
        return ()
    if done.returncode != 0:
        notes.append(f"torch: {(done.stderr.strip() or 'it cannot be imported').splitlines()[-1]}")
        return ()
    names = [name for name in done.stdout.strip().split(";") if name.startswith("gfx")]
    return tuple(dict.fromkeys(name.partition(":")[0] for name in names))

"""Whether the installed packages serve the same GPUs: a program fails late, at its first kernel, where they do not."""

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import NamedTuple

from rocm_sdk import _native, targets

from .packages import serving_packages

_TORCH_SECONDS = 120.0  # a cold `import torch` reads gigabytes
_TORCH_PROGRAM = "import torch; print(*(torch._C._cuda_getArchFlags() or '').split(), sep=';')"


class Coherence(NamedTuple):
    """What each part serves, and who lacks what."""

    parts: tuple[tuple[str, tuple[str, ...]], ...]  # name of the part, its targets
    gaps: tuple[tuple[str, str, str], ...]  # the part that lacks, the target, a part that serves it
    notes: tuple[str, ...]


def check() -> Coherence:
    """Compares core, libraries, device packages and torch, for the GPUs that are here or that packages were chosen for.

    A core that was built for more targets than packages are installed for is the normal case, and no gap.
    """
    parts: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    if built := _native.built_targets():
        parts["rocm-sdk-core"] = targets.expand(built)
    packages = serving_packages()
    notes += [f"{package.distribution}: {package.fault}" for package in packages if package.fault]
    chosen = [name for package in packages for name in package.served]
    if packages:
        label = "device packages" if _native.sdk_facts()["kpack_split"] else "libraries"
        parts[label] = tuple(dict.fromkeys(chosen))
    if torch := _targets_of_torch(notes):
        parts["torch"] = torch
    here = [gpu.processor for gpu in _native.gpus() if gpu.known]
    relevant = dict.fromkeys(targets.package_owner(name) for name in (*here, *chosen))
    gaps = [
        (lacking, name, server)
        for name in relevant
        for server in [next((part for part, served in parts.items() if name in served), None)]
        if server is not None
        for lacking, served in parts.items()
        if name not in served
    ]
    return Coherence(tuple(parts.items()), tuple(gaps), tuple(notes))


def _targets_of_torch(notes: list[str]) -> tuple[str, ...]:
    """What an installed torch says of itself, asked in a process of its own; empty without a torch for ROCm."""
    spec = find_spec("torch")
    origin = spec.origin if spec is not None else None
    if origin is None or not os.path.exists(os.path.join(os.path.dirname(origin), "_rocm_init.py")):
        return ()
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _TORCH_PROGRAM], capture_output=True, text=True, timeout=_TORCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        notes.append(f"torch: `import torch` did not end within {_TORCH_SECONDS:.0f} s")
        return ()
    if answer.returncode != 0:
        notes.append(f"torch: {(answer.stderr.strip() or 'it cannot be imported').splitlines()[-1]}")
        return ()
    names = [name for name in answer.stdout.strip().split(";") if name.startswith("gfx")]
    return tuple(dict.fromkeys(name.partition(":")[0] for name in names))

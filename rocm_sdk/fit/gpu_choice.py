"""The environment of a program that is to see only some of the GPUs."""

from __future__ import annotations

from rocm_sdk import _native

LAYERS = {"hip": "HIP_VISIBLE_DEVICES", "rocr": "ROCR_VISIBLE_DEVICES"}  # layer -> the variable that it reads


def variables_for(words: str, layer: str) -> dict[str, str | None]:
    """Return the variables of a program that is to see the chosen GPUs alone: variable -> value, None: to be removed.

    The choice never widens what the environment's variables leave.

    words: HIP's device numbers, `discrete`, `integrated`, `supported`, targets, families and UUIDs, with commas.
    layer: a key of LAYERS.

    Raises EmptySelectionError if there is no such GPU, UnknownTargetError for an unknown word, TopologyError.
    """
    wants_supported = any(word.strip() == "supported" for word in words.split(","))
    return dict(_native.choose_gpus(words, layer, _supported_targets() if wants_supported else ()))


def _supported_targets() -> tuple[str, ...]:
    """Return the targets of this machine that a library has code for.

    If no file has any code, the result is the packages' targets.
    """
    from rocm_sdk.installed.view import current

    from .coverage import machine_targets, supported_by_code, with_code
    from .packages import supported_targets

    installed = current()
    found = _native.coverage(installed.directories, machine_targets(), False)
    return supported_by_code(found) if with_code(found) else supported_targets(installed)

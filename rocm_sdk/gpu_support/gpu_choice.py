"""Which GPUs an option chooses, and the environment of a program that is to see only these."""

from __future__ import annotations

from rocm_sdk import _native
from rocm_sdk.base.value_text import listed
from rocm_sdk.errors import EmptySelectionError

LAYERS = {"hip": "HIP_VISIBLE_DEVICES", "rocr": "ROCR_VISIBLE_DEVICES"}  # layer -> the variable that it reads


def refuse_no_target(option: str, selection: str) -> None:
    """EmptySelectionError for a list of targets that names none. option: what has the list."""
    if not listed(selection):
        raise EmptySelectionError(f"{option} {selection!r} names no target", "name some: gfx942,gfx110X-all")


def variables_for(words: str, layer: str) -> dict[str, str | None]:
    """Variable -> value, None: to be removed. Never widens what the environment's variables leave.

    words: HIP's device numbers, `discrete`, `integrated`, `supported`, targets, families and UUIDs, with commas.
    layer: a key of LAYERS.

    Raises EmptySelectionError if there is no such GPU, UnknownTargetError for an unknown word, TopologyError.
    """
    wants_supported = any(word.strip() == "supported" for word in words.split(","))
    return dict(_native.choose_gpus(words, layer, _supported_targets() if wants_supported else ()))


def _supported_targets() -> tuple[str, ...]:
    """The targets of this machine that a library has code for; if no file has any code, those of the packages."""
    from rocm_sdk.installed.installation import current

    from .coverage import machine_targets, supported_by_code, with_code
    from .packages import supported_targets

    installed = current()
    found = _native.coverage(installed.directories, machine_targets(), False)
    return supported_by_code(found) if with_code(found) else supported_targets(installed)

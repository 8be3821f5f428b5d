"""The options that set variables of HIP for a program.

`--gpu` and `--layer` choose GPUs, `--no-comgr-cache` switches comgr's cache off.
"""

from __future__ import annotations

from rocm_sdk import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

LAYERS = {"hip": "HIP_VISIBLE_DEVICES", "rocr": "ROCR_VISIBLE_DEVICES"}  # layer -> the variable that it reads


def add_gpu_options(parser: ArgumentParser) -> None:
    """Add the options: the GPUs, the variable that chooses them, and whether comgr has a cache."""
    parser.add_argument(
        "--gpu",
        metavar="GPUS",
        help="only these GPUs: HIP's device numbers, `discrete`, `integrated`, `supported` (by the SDK's libraries),"
        " targets or families, UUIDs; several separated by commas",
    )
    parser.add_argument(
        "--layer",
        metavar="LAYER",
        help="for --gpu: `hip` (the default) sets HIP_VISIBLE_DEVICES, `rocr` ROCR_VISIBLE_DEVICES, which OpenMP and"
        " OpenCL obey too",
    )
    parser.add_argument(
        "--no-comgr-cache",
        action="store_true",
        help="AMD_COMGR_CACHE=0 too: for a comgr that mistakes one compressed bundle for another (W-CODE-018)",
    )


def is_misused(options: Namespace) -> bool:
    """Return whether --layer is wrong usage; complain if so."""
    if options.layer is None:
        return False
    from rocm_sdk.terminal.output import complain

    if options.layer not in LAYERS:
        complain(f"there is no layer {options.layer}", f"take one of {', '.join(LAYERS)}")
    elif options.gpu is None:
        complain("--layer needs --gpu", "name the GPUs: --gpu discrete")
    else:
        return False
    return True


def chosen_variables(options: Namespace) -> dict[str, str | None]:
    """Return variable -> value, None: to be removed; nothing without an option.

    Raise RocmSdkError if no GPU is chosen.
    """
    cache: dict[str, str | None] = {"AMD_COMGR_CACHE": "0"} if options.no_comgr_cache else {}
    if options.gpu is None:
        return cache

    return variables_for(options.gpu, options.layer or "hip") | cache


def variables_for(words: str, layer: str) -> dict[str, str | None]:
    """Return the variables that show a program only the chosen GPUs: variable -> value, None: to be removed.

    The program never sees more GPUs than the environment's variables allow.

    words: HIP's device numbers, `discrete`, `integrated`, `supported`, targets, families, UUIDs; separated by commas.
    layer: a key of LAYERS.

    Raises EmptySelectionError if there is no such GPU, UnknownTargetError for an unknown word, TopologyError.
    """
    wants_supported = any(word.strip() == "supported" for word in words.split(","))
    return dict(_native.choose_gpus(words, layer, _supported_targets() if wants_supported else ()))


def _supported_targets() -> tuple[str, ...]:
    """Return the targets of this machine that a library has code for.

    If no file has any code, the result is the packages' targets.
    """
    from rocm_sdk.fit.coverage import machine_targets, supported_by_code, with_code
    from rocm_sdk.fit.packages import supported_targets
    from rocm_sdk.installed.view import current

    installed = current()
    found = _native.coverage(installed.directories, machine_targets(), False)
    return supported_by_code(found) if with_code(found) else supported_targets(installed)

"""The options `--gpu` and `--layer` of commands that choose GPUs for a program."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_gpu_options(parser: "ArgumentParser") -> None:
    """Which GPUs, and the variable that chooses them."""
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


def chosen_variables(options: "Namespace") -> "dict[str, str | None]":
    """Variable -> value, None: to be removed; nothing without --gpu. Raises RocmSdkError if no GPU is chosen."""
    if options.gpu is None and options.layer is None:
        return {}
    from rocm_sdk.errors import RocmSdkError
    from rocm_sdk.gpu_support.gpu_choice import LAYERS, variables_for

    layer = options.layer or "hip"
    if options.gpu is None:
        raise RocmSdkError("--layer needs --gpu", "name the GPUs: --gpu discrete")
    if layer not in LAYERS:
        raise RocmSdkError(f"there is no layer {layer}", f"take one of {', '.join(LAYERS)}")
    return variables_for(options.gpu, layer)

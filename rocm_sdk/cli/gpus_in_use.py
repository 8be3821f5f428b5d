"""The forms of `rocm-sdk gpus` that nvidia-smi has too: single fields as CSV, and the processes on each GPU."""

import sys

from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.terminal.output import tell, tell_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from rocm_sdk._native import Gpu
    from rocm_sdk.fit.in_use import GpuProcess

_FORMATS = ("csv", "csv,noheader")
_USED, _PROCESSES = "used", "processes"
_QUOTED = frozenset(',"\r\n')
_HEADINGS = ("node", "process", "memory", "name")


def wrong_query(options: "Namespace") -> tuple[str, str] | None:
    """Return what is wrong with --query and --format, and what to do; None if nothing is."""
    from rocm_sdk import Gpu  # here: an import of the package does not make it

    if options.query is None:
        return "--format is the form of --query", "--query target,memory,used --format csv"
    if options.format is not None and options.format not in _FORMATS:
        return f"--format: there is no form {options.format!r}", f"name one: {' or '.join(_FORMATS)}"
    known = (*Gpu.__match_args__, _USED, _PROCESSES)
    for name in _names(options):
        if name not in known:
            return f"--query: there is no field {name!r}", did_you_mean(
                name, known
            ) or f"name one of {', '.join(known)}"
    return None


def print_query(gpus: "Iterable[Gpu]", options: "Namespace") -> None:
    """Print a line for each GPU. Sizes are bytes, an unknown value is empty."""
    names = _names(options)
    lines = [] if options.format == "csv,noheader" else [",".join(names)]
    lines += [",".join(_field(gpu, name) for name in names) for gpu in gpus]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _names(options: "Namespace") -> list[str]:
    return [name.strip() for name in options.query.split(",")]


def _field(gpu: "Gpu", name: str) -> str:
    from rocm_sdk.fit.in_use import gpu_processes, used_memory

    if name == _PROCESSES:
        return " ".join(str(each.process) for each in gpu_processes([gpu]))
    value = used_memory(gpu) if name == _USED else getattr(gpu, name)
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED & set(text) else text


def print_processes(gpus: "Iterable[Gpu]") -> None:
    """Print a table of the processes, if there are any."""
    from rocm_sdk.fit.in_use import gpu_processes

    if found := gpu_processes(gpus):
        tell("")
        tell_table(_HEADINGS, [_row(each) for each in found], {"process", "memory"})


def _row(found: "GpuProcess") -> tuple[str, ...]:
    from rocm_sdk.base.value_text import size_text

    return str(found.node), str(found.process), size_text(found.memory), found.name or "-"

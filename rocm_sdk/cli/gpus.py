"""The command `rocm-sdk gpus`, which prints the GPUs of this machine, and why one cannot be used."""

import sys

from rocm_sdk import _native
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.terminal.output import complain, tell, tell_table

from .gpu_table import nodes_text, tell_gpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from rocm_sdk._native import Gpu
    from rocm_sdk.fit.in_use import GpuProcess
    from rocm_sdk.problems import Problem

EXAMPLE = "hipcc $(rocm-sdk gpus --arch | sort -u | sed s/^/--offload-arch=/) saxpy.hip"

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_HEXADECIMAL = {"unique_id": 16, "hive_id": 16, "vendor_id": 4, "device_id": 4, "gpu_id": 1}  # field -> digits
_NONE_IF_ZERO = frozenset({"unique_id", "hive_id", "compute_units", "hip_processors"})
_OTHER_MAJOR = "ROCm since May 2026 (rocm-systems 5686) refuses a version of another major number than the GPU's"
_FORMATS_OF_QUERY = ("csv", "csv,noheader")
_USED, _PROCESSES = "used", "processes"
_QUOTED = frozenset(',"\r\n')
_PROCESS_HEADINGS = ("node", "process", "memory", "name")


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: the forms of the output."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="all facts, for programs")
    form.add_argument("--all", action="store_true", help="all facts about each GPU, as text")
    form.add_argument(
        "--query",
        metavar="FIELDS",
        help="a line for each GPU with these, comma-separated: fields of --json, `used` (memory, bytes), `processes`",
    )
    form.add_argument("--arch", action="store_true", help="only the target of each GPU, a line each, like offload-arch")
    form.add_argument(
        "--require",
        nargs="?",
        const="one",
        choices=("one", "all"),
        help="for a test phase: print nothing and exit with 0 if one GPU, or all of them, can be used; otherwise say"
        " why not and exit with 1. The device files are opened",
    )
    parser.add_argument("--format", metavar="FORM", help="of --query: csv (the default), or csv,noheader")
    parser.add_argument(
        "--health",
        action="store_true",
        help="the condition of each GPU instead: power, kernel, firmware, memory, link, error counters; wakes no GPU."
        " The exit status is 1 if there is a warning",
    )
    parser.add_argument(
        "--visible",
        action="store_true",
        help="only the GPUs that HIP sees, in HIP's order and as HIP presents them: with HSA_OVERRIDE_GFX_VERSION and"
        " the *_VISIBLE_DEVICES variables applied",
    )


def run(options: "Namespace") -> int:
    """Print the GPUs. Return status 1 with the reason on stderr if none is usable (with --arch: if there is none)."""
    if wrong := _misuse(options):
        complain(*wrong)
        return 2
    if options.arch and not options.visible:
        # The real targets of all GPUs, in the order of their nodes.
        return _print_lines((name for name in _native.gpu_processors() if name != "unknown"), ())
    if options.health:
        return _print_health(options)
    if options.require is not None:
        from rocm_sdk.fit.opened_devices import survey_opened

        return _require(*survey_opened(), options.require)
    gpus, found, _ = _native.survey_gpus()
    problems = _explained(found)
    if options.visible:
        gpus = tuple(sorted((gpu for gpu in gpus if gpu.hip_index is not None), key=_hip_index))
    if options.arch:
        return _print_lines((gpu.processor for gpu in gpus), problems)
    if options.json:
        import json

        content = {
            "schema": _SCHEMA,
            "gpus": [dict(zip(_native.Gpu.__match_args__, gpu, strict=True)) for gpu in gpus],
            "problems": [problem.as_document() for problem in problems],
        }
        print(json.dumps(content, indent=2))
    elif options.query is not None:
        names = _queried(options)
        lines = [] if options.format == "csv,noheader" else [",".join(names)]
        lines += [",".join(_field_text(gpu, name) for name in names) for gpu in gpus]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    elif options.all:
        _print_all(gpus)
    else:
        are_together = sys.stdout.isatty() and sys.stderr.isatty()
        tell_gpus(gpus, each=options.verbose, said=[found.cause for found in problems] if are_together else ())
        print_processes(gpus)
    _print_notes(gpus, problems)
    return 0 if any(gpu.usable for gpu in gpus) else 1


def _misuse(options: "Namespace") -> "tuple[str, ...] | None":
    """Return what is wrong with the options, and what to do; None if nothing is."""
    others = (options.arch, options.all, options.require, options.visible, options.query)
    if options.health and any(others):
        return ("--health goes with --json only",)
    if options.query is not None or options.format is not None:
        return wrong_query(options)
    return None


def _require(gpus: "tuple[Gpu, ...]", problems: "tuple[Problem, ...]", wanted: str) -> int:
    """Say why a program that needs one GPU, or all of them, cannot run. Return status 0 if it can, else 1."""
    usable = [gpu.usable for gpu in gpus]
    has_all = all(usable) and all(found.code not in {"W-GPU-015", "N-GPU-037"} for found in problems)
    if any(usable) and (wanted == "one" or has_all):
        return 0
    for gpu in gpus:
        if not gpu.usable:
            complain(f"node {gpu.node}: {gpu.why_not}")
    _print_notes((), _explained(problems))
    return 1


def _print_health(options: "Namespace") -> int:
    """Print the condition of all GPUs. Return status 1 if there is a warning, or no GPU."""
    from .gpus_health import print_health

    gpus, found, _ = _native.survey_gpus()
    access = _explained(found)
    items = _native.gpu_health()
    problems = [problem for *_, problem in items if problem is not None]
    print_health(gpus, items, for_programs=options.json)
    _print_notes((), problems if gpus else access)
    return 1 if not gpus or any(problem.severity != "note" for problem in problems) else 0


def _hip_index(gpu: "Gpu") -> int:
    return gpu.hip_index if gpu.hip_index is not None else -1


def _print_lines(names: "Iterable[str]", problems: "Iterable[Problem]") -> int:
    text = "".join(f"{name}\n" for name in names)
    sys.stdout.write(text)
    if not text:
        _print_notes((), problems or _explained(_native.check_gpu_access()))
    return 0 if text else 1


def _print_all(gpus: "Iterable[Gpu]") -> None:
    for gpu in gpus:
        tell(f"node {gpu.node}: {gpu.name}")
        for name, value in zip(_native.Gpu.__match_args__, gpu, strict=True):
            tell(f"  {name.replace('_', ' '):<16} {_fact_text(name, value)}")


def _fact_text(name: str, value: object) -> str:
    """Return a field for people: identifiers as the system's tools write them, sizes with a unit, "-" for none."""
    from rocm_sdk.base.value_text import size_text

    if value is None or (name in _NONE_IF_ZERO and value == 0):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name in _HEXADECIMAL:
        return f"0x{value:0{_HEXADECIMAL[name]}x}"
    return size_text(value) if name == "memory" and isinstance(value, int) else str(value)


def _explained(problems: "tuple[Problem, ...]") -> "tuple[Problem, ...]":
    """Return the problems; that of WSL2 also says what the SDK has for it, which takes a look at the SDK."""
    if not any(found.code == "W-GPU-020" for found in problems):
        return problems
    from rocm_sdk.fit.wsl import explained

    return explained(problems)


def _print_notes(gpus: "Iterable[Gpu]", problems: "Iterable[Problem]") -> None:
    """Print each note once, however many GPUs it concerns."""
    overridden: dict[str, list[int]] = {}
    for gpu in gpus:
        if gpu.overridden:
            overridden.setdefault(f"real {gpu.real_processor}, presented as {gpu.processor}", []).append(gpu.node)
    for text, nodes in overridden.items():
        complain(f"{nodes_text(nodes)}: {text}")
    if any(gpu.overridden and _major(gpu.processor) != _major(gpu.real_processor) for gpu in gpus):
        from rocm_sdk.fit.runtime_rules import installed_rules  # here: it reads the SDK

        _, takes_any_version, _ = installed_rules()
        if not takes_any_version:
            complain(_OTHER_MAJOR)
    for problem in each_once(problems):
        complain(f"{problem.title}: {problem.cause} [{problem.code}]", problem.fix)


def _major(processor: str) -> str:
    """Return the major version in the name of a processor: everything except the last two digits."""
    return processor.removeprefix("gfx").partition("-")[0][:-2]


def each_once(problems: "Iterable[Problem]") -> "Iterable[Problem]":
    """Return the problems of the GPUs.

    A problem that several GPUs have counts once, and a problem that follows from another is left out.
    """
    if not problems:
        return ()
    from rocm_sdk.doctor.causes.followers import without_followers
    from rocm_sdk.problems.examples import one_of_many

    return one_of_many(without_followers(tuple(problems)), lambda _: 1)


def wrong_query(options: "Namespace") -> tuple[str, str] | None:
    """Return what is wrong with --query and --format, and what to do; None if nothing is."""
    from rocm_sdk import Gpu  # here: an import of the package does not make it

    if options.query is None:
        return "--format is the form of --query", "--query target,memory,used --format csv"
    if options.format is not None and options.format not in _FORMATS_OF_QUERY:
        return f"--format: there is no form {options.format!r}", f"name one: {' or '.join(_FORMATS_OF_QUERY)}"
    known = (*Gpu.__match_args__, _USED, _PROCESSES)
    for name in _queried(options):
        if name not in known:
            return f"--query: there is no field {name!r}", did_you_mean(
                name, known
            ) or f"name one of {', '.join(known)}"
    return None


def _queried(options: "Namespace") -> list[str]:
    return [name.strip() for name in options.query.split(",")]


def _field_text(gpu: "Gpu", name: str) -> str:
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
        tell_table(_PROCESS_HEADINGS, [_process_row(each) for each in found], {"process", "memory"})


def _process_row(found: "GpuProcess") -> tuple[str, ...]:
    from rocm_sdk.base.value_text import size_text

    return str(found.node), str(found.process), size_text(found.memory), found.name or "-"

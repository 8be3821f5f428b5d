"""The command `rocm-sdk info`, which shows everything about this installation, on one screen."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rocm_sdk import _native
from rocm_sdk.devel.layout import tree_state
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.view import Installed, current
from rocm_sdk.terminal.output import complain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk info --json > bug-report.json"
DESCRIPTION = """\
Show everything about this installation: versions, packages, target families, GPUs, the state of the development tree.
Unknown values are null, and "problems" says why."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_TITLE = 13  # columns of a title and the blanks behind it
_GPU_FACTS = ("processor", "name", "pci_address", "memory", "usable", "why_not")


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: the form of the output."""
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, "loader": {}, "sdk": {}, ...}')

    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--sizes", action="store_true", help="the sizes of packages, libraries and the GPU code in them instead"
    )
    instead.add_argument(
        "--build-id",
        nargs="*",
        metavar="NAME|FILE",
        help="the build IDs of libraries instead, with their licences and debug files: short names, paths, or all",
    )


def run(options: "Namespace") -> int:
    """Print everything. Return status 1 if there is no SDK."""
    if options.sizes:
        from .sizes import print_sizes

        return print_sizes(for_programs=options.json)
    if options.build_id is not None:
        from .build_id import print_build_ids

        return print_build_ids(options.build_id, for_programs=options.json)
    facts, gpus = collect()
    if options.json:
        import json

        print(json.dumps(facts, indent=2))
    else:
        _tell(facts, gpus)
        for problem in facts["problems"]:
            complain(problem)
    return 0 if facts["sdk"]["version"] else 1


def collect() -> "tuple[dict[str, Any], tuple[_native.Gpu, ...]]":
    """Return the document of --json, which docs/commands.md describes, and the GPUs."""
    import platform

    problems: list[str] = []

    def ask(question: Callable[[], Any]) -> Any:
        try:
            return question()
        except RocmSdkError as error:
            if error.message not in problems:
                problems.append(error.message)
            return None

    installed = current()
    facts = ask(installed.sdk.facts) or {}
    targets = ask(installed.sdk.built_targets)
    gpus = ask(_native.gpus)
    problems += _ownership_problems()
    document = {
        "schema": _SCHEMA,
        "loader": {"version": _native.loader_version, "directory": os.path.dirname(_native.__file__)},
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "sdk": {
            "version": facts.get("version"),
            "root": facts.get("root"),
            "fallback": facts.get("fallback"),
            "targets": targets.split(";") if targets else None,
            "default_family": facts.get("default_family"),
            "available_families": facts.get("available_families"),
        },
        "packages": ask(lambda: _packages(installed)) or [],
        "gpus": None if gpus is None else [{name: getattr(gpu, name) for name in _GPU_FACTS} for gpu in gpus],
        "devel": ask(tree_state),
        "problems": problems,
    }
    return document, gpus or ()


def _ownership_problems() -> list[str]:
    """Return a sentence if AMD's distribution rocm and this one claim the same files; [] if not."""
    from rocm_sdk.adoption import state
    from rocm_sdk.adoption.distribution import AdoptionError

    try:
        found = state()
    except AdoptionError:  # an editable installation, which shares no files
        return []
    return [f"{found.problem}; {found.fix}"] if found.problem else []


def _packages(installed: Installed) -> list[dict[str, Any]]:
    """Return the installed distributions of the SDK, and their platform directories."""
    from rocm_sdk.installed import sdk_sites

    found: dict[str, str] = {}
    for site in sdk_sites():
        for distribution in installed.distributions_in(site):
            found.setdefault(distribution.spelling, distribution.version)
    directories = installed.sdk.package_directories().values()
    return [
        {"name": name, "version": version, "directory": next(filter(_belongs_to(name), directories), None)}
        for name, version in sorted(found.items())
    ]


def _belongs_to(distribution: str) -> Callable[[str], bool]:
    """Return a test whether a platform directory belongs to this distribution.

    The directory's name may end with the SDK's nonce.
    """
    prefix = f"_{distribution.replace('-', '_')}"
    return lambda directory: os.path.basename(directory).startswith(prefix)


def _tell(facts: dict[str, Any], gpus: "tuple[_native.Gpu, ...]") -> None:
    """Tell the facts for people."""
    from rocm_sdk.cli.gpu_table import tell_gpus

    sdk = facts["sdk"]
    _tell_fact("ROCm SDK", sdk["version"] or "not installed")
    for place, variable in ((sdk["root"], "ROCM_SDK_ROOT"), (sdk["fallback"], "ROCM_SDK_FALLBACK")):
        if place:
            _tell_fact("taken from", f"{place}  ({variable})")
    _tell_fact("loader", facts["loader"]["version"], facts["loader"]["directory"])
    _tell_fact("Python", facts["python"]["version"], facts["python"]["executable"])
    if sdk["version"]:
        _tell_fact("targets", " ".join(sdk["targets"] or ()) or "unknown")
        default, names = sdk["default_family"], sdk["available_families"] or ()
        families = " ".join(f"{name} (default)" if name == default else name for name in names)
        _tell_fact("families", families or "none")
    _tell_fact("development", facts["devel"] or "unknown")
    packages = [each for each in facts["packages"] if each["name"] != "rocm-sdk-loader"]  # the loader has a line
    sites = {os.path.dirname(each["directory"]) for each in packages if each["directory"]}
    site = f"{sites.pop()}/" if len(sites) == 1 else ""
    if packages:
        _tell_fact("packages", site.rstrip("/"))
    for each in packages:
        _tell_fact("", f"{each['name']} {each['version']}", (each["directory"] or "").removeprefix(site))
    _tell_fact("GPUs", "" if gpus else "none found: see rocm-sdk gpus")
    tell_gpus(gpus)


def _tell_fact(title: str, text: str, place: str = "") -> None:
    """Tell a line: its title, a text, and the file or directory that it is about."""
    from rocm_sdk.terminal.output import tell_row
    from rocm_sdk.terminal.style import style

    strong, faint = style("bold", sys.stdout), style("faint", sys.stdout)
    start = f"{title:<{_TITLE}}" if title else "  "

    def painted(cell: str) -> str:
        return cell.replace(title, strong(title), 1) if title else cell

    if place:
        tell_row(f"{start}{text}", place, (painted, faint))
    else:
        tell_row(start[:-2], text, (painted, str))

"""`rocm-sdk info`: everything about this installation, on one screen."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rocm_sdk import _native
from rocm_sdk.devel.layout import tree_state
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.installation import Installed, current
from rocm_sdk.terminal.output import complain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk info --json > bug-report.json"
DESCRIPTION = """\
Show everything about this installation: versions, packages, target families, GPUs, the state of the development tree.
Unknown values are null, and "problems" says why."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_GPU_FACTS = ("processor", "name", "pci_address", "memory", "usable", "why_not")


def add_arguments(parser: "ArgumentParser") -> None:
    """The form of the output."""
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, "loader": {}, "sdk": {}, ...}')

    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--sizes", action="store_true", help="the sizes of packages, libraries and the GPU code in them instead"
    )
    instead.add_argument(
        "--provenance",
        action="store_true",
        help="the sources, makers, build IDs, compilers and licences of packages and libraries instead",
    )
    instead.add_argument(
        "--build-id",
        nargs="*",
        metavar="NAME|FILE",
        help="the build IDs of libraries instead, for debuginfod and debug files: short names, paths, or all",
    )


def run(options: "Namespace") -> int:
    """Prints everything; status 1 if there is no SDK."""
    if options.sizes:
        from .info_sizes import print_sizes

        return print_sizes(for_programs=options.json)
    if options.provenance:
        from .info_provenance import print_provenance

        return print_provenance(for_programs=options.json)
    if options.build_id is not None:
        from .info_build_id import print_build_ids

        return print_build_ids(options.build_id, for_programs=options.json)
    facts = collect()
    if options.json:
        import json

        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(_lines(_harmless(facts))))
        for problem in facts["problems"]:
            complain(problem)
    return 0 if facts["sdk"]["version"] else 1


def collect() -> dict[str, Any]:
    """The document of --json, which docs/commands.md describes."""
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
    return {
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


def _ownership_problems() -> list[str]:
    """Whether AMD's distribution rocm and this one claim the same files."""
    from rocm_sdk.adoption import state
    from rocm_sdk.adoption.errors import AdoptionError

    try:
        found = state()
    except AdoptionError:  # an editable installation, which shares no files
        return []
    return [f"{found.problem}; {found.fix}"] if found.problem else []


def _packages(installed: Installed) -> list[dict[str, Any]]:
    """The installed distributions of the SDK, and their platform directories."""
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
    """Whether a platform directory belongs to this distribution: its name may end with the SDK's nonce."""
    prefix = f"_{distribution.replace('-', '_')}"
    return lambda directory: os.path.basename(directory).startswith(prefix)


def _harmless(value: Any) -> Any:
    """Makes every text in a document harmless. Whole lines would be too late: they contain styles."""
    from rocm_sdk.base.value_text import harmless

    if isinstance(value, dict):
        return {name: _harmless(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_harmless(each) for each in value]
    return harmless(value) if isinstance(value, str) else value


def _families(sdk: dict[str, Any]) -> Iterator[str]:
    for name in sdk["available_families"] or ():
        yield f"{name} (default)" if name == sdk["default_family"] else name


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    from rocm_sdk.terminal.style import style

    strong, faint = style("bold", sys.stdout), style("faint", sys.stdout)
    sdk = facts["sdk"]
    yield f"{strong('ROCm SDK')}     {sdk['version'] or 'not installed'}"
    if sdk["root"]:
        yield f"{strong('taken from')}   {sdk['root']}  (ROCM_SDK_ROOT)"
    if sdk["fallback"]:
        yield f"{strong('taken from')}   {sdk['fallback']}  (ROCM_SDK_FALLBACK)"
    yield f"{strong('loader')}       {facts['loader']['version']}  {faint(facts['loader']['directory'])}"
    yield f"{strong('Python')}       {facts['python']['version']}  {faint(facts['python']['executable'])}"
    if sdk["version"]:
        yield f"{strong('targets')}      {' '.join(sdk['targets'] or ()) or 'unknown'}"
        yield f"{strong('families')}     {' '.join(_families(sdk)) or 'none'}"
    yield f"{strong('development')}  {facts['devel'] or 'unknown'}"
    yield strong("packages")
    for package in facts["packages"]:
        yield f"  {package['name']} {package['version']}  {faint(package['directory'] or '')}".rstrip()
    yield strong("GPUs")
    for gpu in facts["gpus"] or ():
        usable = "usable" if gpu["usable"] else f"not usable: {gpu['why_not']}"
        yield f"  {gpu['processor']}  {gpu['name']}  {gpu['pci_address']}  {usable}"
    if not facts["gpus"]:
        yield "  none found: see rocm-sdk gpus"

"""The command `artifacts`: packages of the artifacts of a ROCm build."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError, WrongUsageError

from .options import add_count, add_version_file, add_writing, names, tell_made, wish_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk_build.packages.costs import Cost, Estimate

_SCHEMA = 1  # of the answer of --dry-run --json


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the artifacts and the packages made from them."""
    command.add_argument(
        "artifacts", nargs="*", metavar="DIR", help="directories of artifacts, or http(s) addresses of pages with links"
    )
    command.add_argument("--artifact-dir", metavar="DIR", help="another directory of artifacts")
    most = "size of an archive from a server (32,000, and 256 if the server does not say the size first)"
    add_count(command, "--download-limit", "MB", most)
    place = command.add_mutually_exclusive_group(required=True)
    place.add_argument("--output", type=Path, metavar="DIR", help="where the packages go")
    place.add_argument("--dest-dir", type=Path, metavar="DIR", help="the packages go to `dist` in it")
    for system in ("linux", "windows"):
        command.add_argument(
            f"--{system}-amdgpu-families", metavar="FAMILIES", help=f"families that are built for {system}"
        )
    only = "make only these packages: core,device-gfx942 (other runs make the others; families are needed)"
    command.add_argument("--only", type=names, default=(), metavar="NAMES", help=only)
    dry = "write nothing, and print what each package would be, and the most memory and disk that it can take"
    command.add_argument("--dry-run", action="store_true", help=dry)
    command.add_argument("--json", action="store_true", help="with --dry-run: print the answer for programs")
    command.add_argument(
        "--allow-no-profiler",
        action="store_true",
        help="make no rocm-profiler if the artifacts have no files for it",
    )
    strict = "fail if an artifact has files that go into no package; without it they are only listed"
    command.add_argument("--strict", action="store_true", help=strict)
    command.add_argument(
        "--version", default="", help="of the packages (version.json's with .dev0, else the artifacts')"
    )
    add_version_file(command)
    command.add_argument(
        "--build-packages",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="make packages (on), or directories with what they would have",
    )
    add_writing(command)
    for option, compression in (("--devel-tarball-compression", "xz"), ("--no-devel-tarball-compression", "none")):
        command.add_argument(
            option,
            action="store_const",
            const=compression,
            dest="devel_compression",
            help=f"the same as --devel-compression {compression}",
        )


def run(options: argparse.Namespace) -> int:
    """Print the packages that are made, or with --dry-run their estimates."""
    places = [*options.artifacts, *([options.artifact_dir] if options.artifact_dir else [])]
    if not places:
        raise PackagingError("no artifacts are named", "rocm-sdk-build artifacts DIR")
    if options.json and not options.dry_run:
        raise WrongUsageError("--json is the form of the answer of --dry-run", "--dry-run --json")
    return _make(places, options)


def _make(places: Sequence[str], options: argparse.Namespace) -> int:
    """Make the packages, or with --dry-run print their estimates; return the exit status."""
    from rocm_sdk.index.web.server import SCHEMES
    from rocm_sdk_build.base.named_directory import require_directory
    from rocm_sdk_build.building.artifacts import build, choice_of, estimate
    from rocm_sdk_build.inputs.catalog import NAME_IT, OVERLAY, everything
    from rocm_sdk_build.inputs.rules import read_rules
    from rocm_sdk_build.packages.version import default_version

    families = (options.linux_amdgpu_families, options.windows_amdgpu_families)
    output = options.output or options.dest_dir

    def local(is_wanted: Callable[[str], bool]) -> list[Path]:
        return [_local(place, output, families, options.download_limit, is_wanted) for place in places]

    for place in places:
        if not place.startswith(SCHEMES):
            require_directory(Path(place), NAME_IT)
    options.version = options.version or default_version(options.version_file)
    rules = read_rules(options.rules)
    wish = wish_of(options, (), output)._replace(
        linux_families=families[0],
        windows_families=families[1],
        needs_profiler=not options.allow_no_profiler,
        makes_packages=options.build_packages,
        only=options.only,
        is_strict=options.strict,
    )
    if wish.only:  # the form of the build decides on the artifacts to download
        wish = wish._replace(artifacts=local(lambda stem: stem == OVERLAY))
    choice = choice_of(wish, rules)
    wish = wish._replace(artifacts=local(choice.needs if choice else everything))
    if options.dry_run:
        _tell(estimate(wish, rules), options.json)
    else:
        tell_made(build(wish, rules))
    return 0


def _tell(estimates: Sequence[Estimate], as_json: bool) -> None:
    """Print a table of the packages, then the artifacts of each package; or a JSON document."""
    from rocm_sdk.base.value_text import size_text
    from rocm_sdk.terminal.output import tell, tell_table
    from rocm_sdk_build.packages.costs import cost_of_run

    run = cost_of_run([each.cost for each in estimates])
    if as_json:
        packages = [
            {"name": each.name, "file": each.file, "artifacts": list(each.artifacts), **_numbers(each.cost)}
            for each in estimates
        ]
        print(json.dumps({"schema": _SCHEMA, "packages": packages, "run": _numbers(run)}, indent=2))
        return
    rows = [(each.name, each.cost, each.file) for each in estimates]
    rows += [("all in one run", run, "")] if len(rows) > 1 else []
    table = [(name, *map(size_text, (cost.wheel, cost.disk, cost.memory)), file) for name, cost, file in rows]
    tell_table(("package", "wheel", "disk", "memory", "file"), table, ("wheel", "disk", "memory"))
    for each in estimates:
        tell(f"{each.name} is made of {', '.join(each.artifacts)}")


def _numbers(cost: Cost) -> dict[str, int]:
    return {**cost._asdict(), "disk": cost.disk}


def _local(
    place: str, output: Path, families: Sequence[str | None], limit: int, is_wanted: Callable[[str], bool]
) -> Path:
    """Return the directory of artifacts; artifacts of a web server are downloaded into a directory below the output.

    `limit` is the size in megabytes of an archive from a server; 0 stands for the usual limits. `is_wanted` says
    whether an artifact of this name is downloaded.
    """
    from rocm_sdk.index.web.server import SCHEMES, Limits
    from rocm_sdk_build.inputs.download import download
    from rocm_sdk_build.packages.parts import expand, names_in

    if not place.startswith(SCHEMES):
        return Path(place)
    wanted = {*names_in(",".join(text or "" for text in families))}.union(*(expand(text) or () for text in families))
    limits = Limits(limit * 1_000_000, limit * 1_000_000) if limit else Limits()
    return download(place, output / ".artifacts/downloads", wanted, limits, is_wanted)

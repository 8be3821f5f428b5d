"""The command `rocm-sdk-build`: its arguments, its output, its errors."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import PackagingError
from .packages.release_types import RELEASE_TYPES

if TYPE_CHECKING:  # the command is parsed without the modules that do the work
    from .build import Wish


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if it worked, 1 with cause and fix on standard error if not."""
    from rocm_sdk import RocmSdkError
    from rocm_sdk.base.scratch import removed_at_signals
    from rocm_sdk.base.value_text import harmless
    from rocm_sdk.gpu_code.pieces import NO_SPACE
    from rocm_sdk.terminal.output import complain, end_without_output

    options = _parse(sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(format="%(message)s", level=logging.INFO if sys.stderr.isatty() else logging.WARNING)
    try:
        with removed_at_signals():
            status = int(options.run(options))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except PackagingError as error:
        message, fix = str(error), error.fix
    except RocmSdkError as error:
        message, fix = error.message, error.fix or ""
    except BrokenPipeError as error:  # of stdout
        return end_without_output(error)
    except OSError as error:
        place = error.filename or (getattr(options, "output", None) if error.errno in NO_SPACE else None)
        message, fix = f"{place}: {error.strerror}" if place else str(error), ""
    for line in (f"error: {message}\nfix: {fix}" if fix else f"error: {message}").split("\n"):
        print(harmless(line), file=sys.stderr)  # it may hold what a file has, or a program says
    return 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Wrong usage ends the process with status 2; a misspelt command gets a suggestion."""
    from rocm_sdk import loader_version
    from rocm_sdk._native import nearest_names

    parser = argparse.ArgumentParser(prog="rocm-sdk-build", description="Make wheels of a ROCm SDK.")
    own = f"rocm-sdk-build {loader_version}"  # it requires the loader of its own version
    parser.add_argument("--version", action="version", version=own)
    names = _add_commands(parser)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in names:
        near = " or ".join(nearest_names(arguments[0], names, 2))
        parser.error(f"there is no command {arguments[0]!r}{near and f'; did you mean {near}?'}")
    return parser.parse_args(arguments)


def _add_commands(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    """Returns their names."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    debian = commands.add_parser("debian", help="make all packages from Debian's packages of ROCm")
    _add_debian(debian)

    _add_artifacts(commands.add_parser("artifacts", help="make all packages from the artifacts of a ROCm build"))

    _add_prefix(commands.add_parser("prefix", help="make all packages from an installed ROCm"))

    version = commands.add_parser("version", help="compute the version of a build, for three package formats")
    _add_version(version)

    promote = commands.add_parser("promote", help="make a release of a release candidate's packages")
    promote.add_argument("directory", type=Path, metavar="DIR", help="where the packages are")
    promote.add_argument("--output", type=Path, required=True, metavar="DIR", help="where those of the release go")
    promote.add_argument("--version", required=True, help="of the release")
    promote.add_argument("--keep-targets", metavar="TARGETS", help="device packages that the release has (all)")
    promote.set_defaults(run=_promote)

    from .checking.command import add_arguments as add_check

    add_check(commands.add_parser("check", help="check that packages are a whole SDK that works (then: index)"))

    pages = "write pages from which pip and uv install"
    index = commands.add_parser(
        "index",
        help=f"{pages} (before: check)",
        description=f"W{pages[1:]}. `check` says before whether the packages are complete.",
    )
    index.add_argument("directory", type=Path, metavar="DIR", help="where the packages are")
    index.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="one more directory that has packages (may be given several times)",
    )
    index.set_defaults(run=_index)

    _add_init_module(commands.add_parser("init-module", help="write the module that brings up a framework's libraries"))

    _add_code(commands.add_parser("code", help="write files with less GPU code, or with the code in another container"))

    from .closure.command import add_arguments

    smallest = "make an SDK of what an application needs for its GPUs"
    runs = "The proof runs code of what you name, with no rights; --no-proof runs none."
    add_arguments(commands.add_parser("closure", help=smallest, description=f"M{smallest[1:]}. {runs}"))

    stack = commands.add_parser("clear-execstack", help="make an installed library ask for no executable stack")
    stack.add_argument("file", metavar="FILE", help="the library")
    stack.add_argument("--record", metavar="RECORD", help="of its distribution: gets the new digest")
    stack.set_defaults(run=_clear_execstack)

    dependencies = commands.add_parser(
        "dlopen-dependencies", help="list libraries that name other libraries without needing them"
    )
    dependencies.add_argument("directory", type=Path, metavar="DIR", help="an installed SDK")
    dependencies.set_defaults(run=_dlopen_dependencies)

    demo = commands.add_parser("demo", help="install SDK wheels in a virtual environment and preload their libraries")
    _add_shape(demo, "none")
    demo.add_argument(
        "--sample", action="store_true", help="use tiny libraries compiled from C instead of Debian's ROCm"
    )
    demo.add_argument("--loader", type=Path, metavar="WHEEL", help="wheel of rocm-sdk-loader (the one in build/wheel)")
    demo.add_argument(
        "--directory",
        type=Path,
        metavar="DIR",
        help="for wheels and environment (build/demo)",
    )
    _add_cache(demo)
    demo.set_defaults(run=_demo)
    return tuple(commands.choices)


def _add_debian(command: argparse.ArgumentParser) -> None:
    command.add_argument("--suite", metavar="SUITE", help="release of Debian (that of this system, from its sources)")
    command.add_argument(
        "--mirror", metavar="ADDRESS", help="where the suite comes from (http://deb.debian.org/debian)"
    )
    names = "of packages with libraries or tools, with or without number: librocblas,libmiopen (all)"
    command.add_argument("--packages", metavar="NAMES", help=names)
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the wheels go")
    _add_cache(command)
    _add_shape(command, "rpath")
    _add_parts(command)
    command.add_argument("--version", default="", help="version of the wheels (default: that of Debian's HIP)")
    _add_writing(command, checks=False, size_limit="none")  # libraries of shape none need the loader
    command.set_defaults(run=_debian)


def _add_shape(command: argparse.ArgumentParser, usual: str) -> None:
    command.add_argument(
        "--shape", choices=("none", "rpath", "runpath"), default=usual, help=f"how libraries find each other ({usual})"
    )


def _add_keep_execstack(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--keep-execstack",
        action="store_true",
        help="leave libraries that ask for an executable stack, which glibc 2.41 refuses, as they are",
    )


def _add_cache(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--cache",
        type=Path,
        default=Path("build/debian"),
        metavar="DIR",
        help="downloads and their files (build/debian)",
    )


def _add_artifacts(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "artifacts", nargs="*", metavar="DIR", help="directories of artifacts, or http(s) addresses of pages with links"
    )
    command.add_argument("--artifact-dir", metavar="DIR", help="one more of them")
    most = "size of an archive from a server (32,000, and 256 if the server does not say the size first)"
    command.add_argument("--download-limit", type=_count, default=0, metavar="MB", help=most)
    place = command.add_mutually_exclusive_group(required=True)
    place.add_argument("--output", type=Path, metavar="DIR", help="where the packages go")
    place.add_argument("--dest-dir", type=Path, metavar="DIR", help="the packages go to `dist` in it")
    for system in ("linux", "windows"):
        command.add_argument(f"--{system}-amdgpu-families", metavar="FAMILIES", help=f"what is built for {system}")
    only = "make these packages alone: core,device-gfx942 (other runs make the others; families are needed)"
    command.add_argument("--only", type=_names, default=(), metavar="NAMES", help=only)
    dry = "write nothing, and tell what each package would be, and the memory and disk that it takes at most"
    command.add_argument("--dry-run", action="store_true", help=dry)
    command.add_argument("--json", action="store_true", help="with --dry-run: print the answer for programs")
    command.add_argument(
        "--allow-no-profiler",
        action="store_true",
        help="make no rocm-profiler where the artifacts have no files for it",
    )
    command.add_argument("--version", default="", help="of the packages (that of version.json, with .dev0)")
    _add_version_file(command)
    command.add_argument(
        "--build-packages",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="make packages (on); without, directories with what they would have",
    )
    _add_writing(command)
    for option, compression in (("--devel-tarball-compression", "xz"), ("--no-devel-tarball-compression", "none")):
        command.add_argument(
            option,
            action="store_const",
            const=compression,
            dest="devel_compression",
            help=f"the same as --devel-compression {compression}",
        )
    command.set_defaults(run=_artifacts)


def _add_prefix(command: argparse.ArgumentParser) -> None:
    command.add_argument("roots", type=Path, nargs="*", metavar="ROOT", help="directories that have bin, lib, include")
    command.add_argument(
        "--files",
        type=Path,
        action="append",
        default=[],
        metavar="LIST",
        help="what of the roots is taken, as dpkg -L, rpm -ql and qlist print it, or roots, as nix-store -qR does (-)",
    )
    command.add_argument(
        "--llvm", type=Path, metavar="ROOT", help="one more: AMD's LLVM where it has a directory of its own"
    )
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the packages go")
    _add_parts(command)
    command.add_argument("--version", required=True, help="of the packages")
    _add_writing(command)
    command.set_defaults(run=_prefix)


def _add_parts(command: argparse.ArgumentParser) -> None:
    parts = command.add_mutually_exclusive_group()
    parts.add_argument(
        "--families", metavar="FAMILIES", help="make libraries packages for these, each with their GPU code alone"
    )
    parts.add_argument("--split", action="store_true", help="make device packages of files for single targets")


def _add_writing(command: argparse.ArgumentParser, *, checks: bool = True, size_limit: str = "100") -> None:
    command.add_argument("--version-suffix", default="", metavar="NONCE", help="ends the names of platform directories")
    command.add_argument(
        "--wheel-compression",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="deflate what is in the wheels (on)",
    )
    command.add_argument(
        "--devel-compression",
        choices=("none", "xz", "zstd"),
        default="none",
        help="of the development tree in its wheel (none: the wheel deflates it)",
    )
    command.add_argument(
        "--check",
        action=argparse.BooleanOptionalAction,
        default=checks,
        help=f"install and test the packages before they appear ({'on' if checks else 'off'})",
    )
    _add_keep_execstack(command)
    split = "put debug information of libraries and programs into packages of its own, rocm-sdk-debug-* (by eu-strip)"
    command.add_argument("--split-debug", action="store_true", help=split)
    command.add_argument("--platform-tag", metavar="TAG", help="of the wheels (that of what their files need)")
    limit = f"of a file on the index, or none ({size_limit}{', as PyPI' if size_limit == '100' else ''})"
    command.add_argument("--size-limit", type=_size, default=_size(size_limit), metavar="MB", help=limit)
    command.add_argument("--loader", type=Path, metavar="WHEEL", help="of rocm-sdk-loader: puts it beside the packages")
    command.add_argument("--jobs", type=_count, default=0, metavar="N", help="threads (one for each processor)")
    command.add_argument("--rules", type=Path, metavar="FILE", help="what goes into which package")


def _names(text: str) -> tuple[str, ...]:
    """What commas or semicolons separate."""
    names = tuple(dict.fromkeys(name.strip() for name in text.replace(";", ",").split(",") if name.strip()))
    if not names:
        raise ValueError(text)
    return names


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _size(text: str) -> int | None:
    """Bytes; None for `none`."""
    return None if text == "none" else _count(text) * 1_000_000


def _add_version(command: argparse.ArgumentParser) -> None:
    kind = command.add_mutually_exclusive_group(required=True)
    kind.add_argument("--release-type", choices=RELEASE_TYPES)
    kind.add_argument("--custom-version-suffix", metavar="SUFFIX")
    _add_version_file(command)
    command.add_argument("--override-base-version", metavar="VERSION")
    command.add_argument("--override-git-sha", metavar="SHA")
    command.add_argument("--prerelease-version", metavar="N")
    command.set_defaults(run=_version)


def _add_version_file(command: argparse.ArgumentParser) -> None:
    note = "with rocm-version (version.json)"
    command.add_argument("--version-file", type=Path, default=Path("version.json"), metavar="FILE", help=note)


def _add_init_module(command: argparse.ArgumentParser) -> None:
    names = command.add_mutually_exclusive_group(required=True)
    names.add_argument("--for", dest="files", type=Path, nargs="+", metavar="FILE", help="libraries of the framework")
    names.add_argument(
        "--shortnames", nargs="*", metavar="NAME", help="libraries of the SDK (without names: as PyTorch lists them)"
    )
    command.add_argument("--version", help="of the SDK (the one that is installed)")
    command.add_argument("--output", type=Path, metavar="FILE", help="_rocm_init.py (standard output)")
    command.set_defaults(run=_init_module)


def _add_code(command: argparse.ArgumentParser) -> None:
    from rocm_sdk.gpu_code.options import add_rewrite_arguments

    command.add_argument("files", nargs="+", metavar="FILE", help="files, directories and wheels with GPU code")
    add_rewrite_arguments(command)
    command.set_defaults(run=_code)


def _init_module(options: argparse.Namespace) -> int:
    from rocm_sdk import RocmSdkError
    from rocm_sdk._native import sdk_facts

    from .files.new_file import new_file
    from .output.init_module import ESTABLISHED, checked, make, shortnames_for

    version = options.version
    if version is None:
        try:
            version = str(sdk_facts()["version"])
        except RocmSdkError as error:
            raise PackagingError(error.message, "--version VERSION") from error
    names = shortnames_for(options.files) if options.files else checked(options.shortnames or ESTABLISHED)
    module = make(names, version)
    if options.output is None:
        sys.stdout.write(module.text)
    else:
        with new_file(str(options.output)) as new:
            os.write(new, module.text.encode())
    print(f"requires: {module.requirement}", file=sys.stderr if options.output is None else sys.stdout)
    return 0


def _artifacts(options: argparse.Namespace) -> int:
    from .build import build, choice_of, estimate
    from .inputs.catalog import everything
    from .inputs.overlay import OVERLAY
    from .inputs.rules import read_rules
    from .packages.version import default_version

    places = [*options.artifacts, *([options.artifact_dir] if options.artifact_dir else [])]
    if not places:
        raise PackagingError("no artifacts are named", "rocm-sdk-build artifacts DIR")
    if options.json and not options.dry_run:
        raise PackagingError("--json is the form of the answer of --dry-run", "--dry-run --json")
    families = (options.linux_amdgpu_families, options.windows_amdgpu_families)
    output = options.output or options.dest_dir

    def local(is_wanted: Callable[[str], bool]) -> list[Path]:
        return [_local(place, output, families, options.download_limit, is_wanted) for place in places]

    options.version = options.version or default_version(options.version_file)
    rules = read_rules(options.rules)
    wish = _wish(options, (), output)._replace(
        linux_families=families[0],
        windows_families=families[1],
        needs_profiler=not options.allow_no_profiler,
        makes_packages=options.build_packages,
        only=options.only,
    )
    if wish.only:  # what is downloaded depends on how the build was made
        wish = wish._replace(artifacts=local(lambda stem: stem == OVERLAY))
    choice = choice_of(wish, rules)
    wish = wish._replace(artifacts=local(choice.needs if choice else everything))
    if options.dry_run:
        from .output.estimate_report import tell_estimates, write_estimates

        (write_estimates if options.json else tell_estimates)(estimate(wish, rules))
        return 0
    for path in build(wish, rules):
        print(path)
    return 0


def _local(
    place: str, output: Path, families: Sequence[str | None], limit: int, is_wanted: Callable[[str], bool]
) -> Path:
    """The directory of artifacts; those of a web server are downloaded into one below the output.

    limit: megabytes of an archive; 0: the usual ones. is_wanted: whether an artifact of this name is downloaded.
    """
    from rocm_sdk.web.server import SCHEMES, Limits

    from .inputs.download import download
    from .packages.families import expand

    if not place.startswith(SCHEMES):
        return Path(place)
    named = [name for text in families if text for name in text.replace(";", ",").split(",") if name.strip()]
    wanted = {name.strip() for name in named}.union(*(expand(text) or () for text in families))
    limits = Limits(limit * 1_000_000, limit * 1_000_000) if limit else Limits()
    return download(place, output / ".artifacts/downloads", wanted, limits, is_wanted)


def _prefix(options: argparse.Namespace) -> int:
    from .build_prefix import Wish, build
    from .inputs.rules import read_rules

    packages = _wish(options, options.roots, options.output)
    wish = Wish(packages, options.files, options.families, options.split, options.llvm)
    for path in build(wish, read_rules(options.rules)):
        print(path)
    return 0


def _wish(options: argparse.Namespace, artifacts: Sequence[Path], output: Path) -> Wish:
    """What `_add_writing` has asked for."""
    from .build import Wish

    return Wish(
        artifacts,
        output,
        options.version,
        options.version_suffix,
        deflate=options.wheel_compression,
        devel_compression=options.devel_compression,
        is_checked=options.check,
        jobs=options.jobs,
        size_limit=options.size_limit,
        platform_tag=options.platform_tag,
        keeps_stack=options.keep_execstack,
        splits_debug=options.split_debug,
        loader=options.loader,
        dist=options.output,
    )


def _version(options: argparse.Namespace) -> int:
    import datetime
    import os

    from .packages.version import VersionFile, check_version, commit, read_version_file, versions, versions_of_suffix

    base = options.override_base_version
    file = (
        VersionFile(base, "") if base and not options.version_file.exists() else read_version_file(options.version_file)
    )
    file = file._replace(base=base) if base else file
    if options.custom_version_suffix is not None:
        found = versions_of_suffix(file.base, options.custom_version_suffix)
    else:
        today = datetime.datetime.now().astimezone().strftime("%Y%m%d")
        found = versions(
            options.release_type, file, today, lambda: commit(options.override_git_sha), options.prerelease_version
        )
    check_version(found.wheel)
    names = ("rocm_package_version", "rocm_deb_package_version", "rocm_rpm_package_version")
    lines = [f"{name}={value}" for name, value in zip(names, found, strict=True)]
    print("\n".join(lines))
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    return 0


def _promote(options: argparse.Namespace) -> int:
    from .output.promotion import promote

    names = options.keep_targets.replace(";", ",").split(",") if options.keep_targets is not None else None
    targets = None if names is None else frozenset(name.strip() for name in names if name.strip())
    for path in promote(options.directory, options.output, options.version, targets):
        print(path)
    return 0


def _index(options: argparse.Namespace) -> int:
    from .output.index import write_index

    for page in write_index(options.directory, options.root):
        print(page)
    return 0


def _debian(options: argparse.Namespace) -> int:
    from .build_prefix import Wish
    from .code.patchelf import Shape
    from .debian import Source, build_wheels

    names = tuple(name.strip() for name in (options.packages or "").split(",") if name.strip())
    if options.mirror and not options.suite:
        raise PackagingError("--mirror is the address of a suite's packages", "--suite SUITE")
    packages = _wish(options, (), options.output)._replace(shape=Shape(options.shape))
    wish = Wish(packages, families=options.families, is_split=options.split)
    for path in build_wheels(Source(options.cache, options.suite, options.mirror, names), wish, options.rules):
        print(path)
    return 0


def _code(options: argparse.Namespace) -> int:
    from .code.command import run
    from .inputs.data_selection import select_for

    return run(options, select_for)


def _clear_execstack(options: argparse.Namespace) -> int:
    from .code.installed_stack import run

    return run(options)


def _dlopen_dependencies(options: argparse.Namespace) -> int:
    from .code.dlopen_dependencies import find_dlopen_dependencies

    for dependency in find_dlopen_dependencies(options.directory):
        print(f"{dependency.library} -> {dependency.name}")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from .demo.command import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())

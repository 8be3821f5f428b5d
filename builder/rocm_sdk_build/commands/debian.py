"""The command `debian`: packages of Debian's ROCm."""

from __future__ import annotations

import argparse
from pathlib import Path

from rocm_sdk_build.base.errors import WrongUsageError

from .options import add_cache, add_parts, add_shape, add_writing, names, tell_made, wish_of


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about Debian's suite and packages, and the packages made from them."""
    command.add_argument(
        "--suite", metavar="SUITE", help="release of Debian (that of this system, from its apt sources)"
    )
    command.add_argument(
        "--mirror", metavar="ADDRESS", help="where the suite comes from (http://deb.debian.org/debian)"
    )
    which = "packages with libraries or tools, with or without number: librocblas,libmiopen (all)"
    command.add_argument("--packages", type=names, default=(), metavar="NAMES", help=which)
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the wheels go")
    add_cache(command)
    add_shape(command, "rpath")
    add_parts(command)
    command.add_argument("--version", default="", help="version of the wheels (default: the version of Debian's HIP)")
    add_writing(command, checks=False, size_limit="none")  # libraries of shape none need the loader


def run(options: argparse.Namespace) -> int:
    """Print the packages that are made."""
    if options.mirror and not options.suite:
        raise WrongUsageError("--mirror is the address of a suite's packages", "--suite SUITE")

    from rocm_sdk_build.building.debian import Source, build_wheels
    from rocm_sdk_build.building.prefix import PrefixWish
    from rocm_sdk_build.code.patchelf import Shape

    packages = wish_of(options, (), options.output)._replace(shape=Shape(options.shape))
    wish = PrefixWish(packages, families=options.families, is_split=options.split)
    tell_made(build_wheels(Source(options.cache, options.suite, options.mirror, options.packages), wish, options.rules))
    return 0

"""`rocm-sdk path`: the file of a library, or a directory of the SDK.

The directories of the development tree are found, and the tree expanded if nobody did before. Imports next to nothing,
for build scripts call this often.
"""

import os
import sys

from rocm_sdk._native import locate, package_directory

TYPE_CHECKING = False  # for type checkers; the module typing takes longer to import than the answer to find
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "cmake -DCMAKE_PREFIX_PATH=$(rocm-sdk path --cmake) ..."

# Option -> package, directories in it of which the first that is there is the answer, what it is.
DIRECTORIES = {
    "--root": ("devel", ("",), "the development tree"),
    "--cmake": ("devel", ("lib/cmake",), "packages for CMake's find_package"),
    "--bin": ("devel", ("bin",), "programs"),
    "--include": ("devel", ("include",), "headers"),
    "--lib": ("devel", ("lib",), "libraries to link with"),
    "--llvm": ("devel", ("lib/llvm", "llvm"), "the compiler's root"),
    "--device-libs": ("devel", ("lib/llvm/amdgcn/bitcode", "amdgcn/bitcode"), "device libraries (bitcode)"),
    "--pkgconfig": ("devel", ("lib/pkgconfig", "share/pkgconfig"), "files for pkg-config"),
    "--core": ("core", ("",), "the core package's files, as installed"),
    "--libraries": ("libraries", ("",), "the libraries package's files, as installed"),
}


def add_arguments(parser: "ArgumentParser") -> None:
    """The name of the library, or what else is asked for."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("shortname", nargs="?", metavar="SHORTNAME", help="a library, as in amdhip64 or hipsparse")
    for option, (_, _, summary) in DIRECTORIES.items():
        what.add_argument(option, dest="directory", action="store_const", const=option, help=f"directory: {summary}")


def run(options: "Namespace") -> int:
    """Prints the path; status 1 where the SDK comes without it."""
    if options.directory is not None:
        return print_directory(options.directory)
    location = locate(options.shortname)
    if location.path is None:
        print(f"rocm-sdk: {location.shortname} is {location.found_via}: this SDK comes without it", file=sys.stderr)
        return 1
    print(location.path)
    return 0


def print_directory(option: str) -> int:
    """Prints what a key of DIRECTORIES asks for; status 1 where the SDK comes without it."""
    package, candidates, summary = DIRECTORIES[option]
    root = _development_root() if package == "devel" else package_directory(package)
    directory = directory_in(root, option)
    if directory is None:
        tried = " nor ".join(candidates)
        print(f"rocm-sdk: this SDK comes without {summary}: {root} has no {tried}", file=sys.stderr)
        return 1
    print(directory)
    return 0


def directory_in(root: str, option: str) -> str | None:
    """What a key of DIRECTORIES asks for, in the directory of its package; None where that has none."""
    for candidate in DIRECTORIES[option][1]:
        path = f"{root}/{candidate}" if candidate else root
        if os.path.isdir(path):
            return path
    return None


def _development_root() -> str:
    from rocm_sdk.devel.root import development_root

    return development_root(quiet=False)

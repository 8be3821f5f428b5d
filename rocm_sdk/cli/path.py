"""The command `rocm-sdk path`, which prints files of the SDK by their names, or a directory.

The first call that asks about the development tree extracts it. The module imports next to nothing, because build
scripts call this command often.
"""

import os

from rocm_sdk._native import locate, package_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk._native import LibraryLocation
    from rocm_sdk.base.file_location import FileLocation
    from rocm_sdk.base.reporter import Reporter

EXAMPLE = "cmake -DCMAKE_PREFIX_PATH=$(rocm-sdk path --cmake) ..."

# Option -> package (`home`: devel or core), directories in it (the first one that exists is printed), description.
DIRECTORIES = {
    "--root": ("devel", ("",), "the development tree"),
    "--home": ("home", ("",), "for ROCM_HOME: --root if the development package is installed, else --core"),
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

# Option -> the kind in rocm_sdk.devel.named_files, and a description.
FILES = {
    "--header": ("HEADERS", "the directory to include headers from, such as hip or rocblas/rocblas.h"),
    "--static": ("STATIC_LIBRARY", "a static library, such as rocblas for librocblas.a"),
    "--bitcode": ("BITCODE", "a device library (bitcode), such as ocml"),
    "--tool": ("TOOL", "a program, such as hipcc"),
}


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the name of the library, or a directory; the form of the output."""
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, "path": "", ...}')
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "shortnames",
        nargs="*",
        default=[],
        metavar="SHORTNAME",
        help="a library, such as amdhip64 or hipsparse; a line for each of several",
    )
    for option, (_, summary) in FILES.items():
        what.add_argument(option, metavar="NAME", help=summary)
    for option, (_, _, summary) in DIRECTORIES.items():
        what.add_argument(option, dest="directory", action="store_const", const=option, help=f"directory: {summary}")


def run(options: "Namespace") -> int:
    """Print the path. Return status 1 if the SDK does not have it."""
    if options.directory is not None:
        return print_directory(options.directory, as_json=options.json)
    if len(options.shortnames) > 1:
        from rocm_sdk.errors import RocmSdkError
        from rocm_sdk.terminal.output import complain_of, status_of, tell_json

        status = 0
        found: list[dict[str, str | None]] = []
        for shortname in options.shortnames:
            row: dict[str, str | None] = {"shortname": shortname, "path": None, "package": None, "found_via": None}
            found.append(row)
            try:
                place = locate(shortname)
            except RocmSdkError as error:
                complain_of(error)
                status = max(status, status_of(error))
                continue
            if place.path is None:
                complain_of_absence(shortname, place)
                status = max(status, 1)
                continue
            row |= {"path": place.path, "package": place.package, "found_via": place.found_via}
            if not options.json:
                print(place.path)
        if options.json:
            tell_json(1, libraries=found)
        return status
    location = _location(options)
    if location.path is None:
        complain_of_absence(options.shortnames[0], location)
        return 1
    if options.json:
        from rocm_sdk.terminal.output import tell_json

        tell_json(1, path=location.path, package=location.package, found_via=location.found_via)
    else:
        print(location.path)
    return 0


def complain_of_absence(shortname: str, location: "LibraryLocation | FileLocation") -> None:
    """Say why a library has no file."""
    from rocm_sdk.terminal.output import complain  # here: most calls find what they ask for

    complain(f"{shortname} is {location.found_via}: this SDK does not have it")


def _location(options: "Namespace") -> "LibraryLocation | FileLocation":
    for option, (kind, _) in FILES.items():
        name = getattr(options, option.removeprefix("--"))
        if name is not None:
            from rocm_sdk.devel import named_files

            return named_files.find(getattr(named_files, kind), name, _terminal_reporter)
    return locate(options.shortnames[0])


def print_directory(option: str, *, as_json: bool = False) -> int:
    """Print the directory of an option in DIRECTORIES. Return status 1 if the SDK does not have it."""
    package, candidates, summary = DIRECTORIES[option]
    if package in ("home", "devel"):
        from rocm_sdk.devel.root import development_root, home_package

        package = home_package() if package == "home" else package
    root = development_root(_terminal_reporter) if package == "devel" else package_directory(package)
    directory = directory_in(root, option)
    if directory is None:
        from rocm_sdk.terminal.output import complain

        tried = " nor ".join(candidates)
        complain(f"this SDK has no {summary}: {root} has no {tried}")
        return 1
    if as_json:
        from rocm_sdk.terminal.output import tell_json

        tell_json(1, path=directory, package=package, found_via="directory name")
    else:
        print(directory)
    return 0


def directory_in(root: str, option: str) -> str | None:
    """Return the directory of an option in DIRECTORIES, in its package's directory; None if the package has none."""
    for candidate in DIRECTORIES[option][1]:
        path = f"{root}/{candidate}" if candidate else root
        if os.path.isdir(path):
            return path
    return None


def _terminal_reporter() -> "Reporter":
    from rocm_sdk.terminal.progress import TerminalReporter

    return TerminalReporter()

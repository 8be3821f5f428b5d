"""`rocm-sdk list`: the libraries that can be asked for by a short name, and where they are."""

from .output import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk list --installed"


def add_arguments(parser: "ArgumentParser") -> None:
    """Which libraries."""
    parser.add_argument("--installed", action="store_true", help="only those that are installed")


def run(options: "Namespace") -> int:
    """Prints a line for each library: short name, package, file; status 1 if none is to be printed."""
    import os

    from rocm_sdk._native import catalog
    from rocm_sdk.problems.text import size_text

    lines = []
    for shortname, package, *_ in catalog():
        path = _path_of(shortname)
        if path is not None:
            lines.append((shortname, package, f"{size_text(os.path.getsize(path)):>10}  {path}"))
        elif not options.installed:
            lines.append((shortname, package, f"{'-':>10}"))
    width = max(len(shortname) for shortname, *_ in catalog())
    for shortname, package, file in lines:
        tell(f"{shortname:<{width}}  {package:<9}  {file}")
    return 0 if lines else 1


def _path_of(shortname: str) -> str | None:
    """The file of a library; None if it is not installed, or damaged."""
    from rocm_sdk._native import locate
    from rocm_sdk.errors import RocmSdkError

    try:
        return locate(shortname).path
    except RocmSdkError:
        return None

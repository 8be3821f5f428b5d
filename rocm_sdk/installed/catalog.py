"""File names, and the rows of the catalog that they belong to."""

from rocm_sdk._native import catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    Row = tuple[str, str, str, str, str, bool]

_OWN_COPY = "librocm_sysdeps_"  # of a library of the system, in AMD's core package


def rows_of(name: str) -> "list[Row]":
    """Return the rows whose pattern a file name fits, in the catalog's order."""
    return [row for row in catalog() if fits(name, row[2])]


def fits(name: str, pattern: str) -> bool:
    """Return whether a file name fits the pattern of a row."""
    from fnmatch import fnmatchcase  # here: its imports take longer than listing a library

    return fnmatchcase(name, pattern)


def linker_name(name: str) -> str:
    """Return "libamdhip64.so" for "libamdhip64.so.7"; "" if this is not the name of a shared object."""
    return "".join(name.partition(".so")[:2]) if ".so" in name else ""


def stem(name: str) -> str:
    """Return "amdhip64" for "libamdhip64.so.7", or for a pattern of such names."""
    return name.partition(".so")[0].removeprefix("lib")


def package_of(name: str) -> "str | None":
    """Return the package of the SDK ("core", "libraries") that has a library of this name.

    The result is None if it is not the SDK's.
    """
    if name.startswith(_OWN_COPY):
        return "core"
    return next((row[1] for row in catalog() if stem(row[2]) == stem(name)), None)


def shortnames_by_stem() -> dict[str, str]:
    """Return the short names of the libraries whose files have the same stem, by that stem."""
    stems = {stem(row[2]): row[0] for row in catalog()}
    return {each: name for each, name in stems.items() if each.isprintable() and "*" not in each and "[" not in each}

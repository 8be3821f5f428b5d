"""The installed libraries, which commands use if no names are given."""

from rocm_sdk._native import catalog, locate, sdk_version
from rocm_sdk.errors import LibraryNotFoundError, PackageNotInstalledError


def installed_libraries() -> tuple[str, ...]:
    """Shortnames, in the catalog's order. Raises PackageNotInstalledError if there is no SDK."""
    sdk_version()
    return tuple(name for name, *_ in catalog() if _is_installed(name))


def _is_installed(shortname: str) -> bool:
    try:
        return locate(shortname).path is not None
    except (LibraryNotFoundError, PackageNotInstalledError):
        return False

"""The libraries that are installed here: what commands work on when they are given no names."""

from rocm_sdk._native import catalog, locate, sdk_version
from rocm_sdk.errors import LibraryNotFoundError, PackageNotInstalledError


def installed_libraries() -> tuple[str, ...]:
    """Shortnames, in the catalog's order. PackageNotInstalledError where there is no SDK at all."""
    sdk_version()
    return tuple(name for name, *_ in catalog() if _is_installed(name))


def _is_installed(shortname: str) -> bool:
    try:
        return locate(shortname).path is not None
    except (LibraryNotFoundError, PackageNotInstalledError):
        return False

"""The installed libraries, which commands use if no names are given."""

from rocm_sdk._native import located


def installed_libraries() -> tuple[str, ...]:
    """Shortnames, in the catalog's order. Raises PackageNotInstalledError if there is no SDK."""
    return tuple(location.shortname for location in located() if location.shortname is not None)

"""The distributions that are no packages of the SDK: torch, jax, and others that a user names."""

from __future__ import annotations

import importlib.metadata

from rocm_sdk.base.files import names_in

from .distributions import normalised


def find(name: str) -> importlib.metadata.Distribution | None:
    """Return the distribution of this name that an import would use; None if it is not installed."""
    try:
        return importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None


def versions(beginning: str) -> dict[str, str]:
    """Return the versions of the distributions whose normalised names begin so, by these names."""
    found = ((normalised(each.metadata["Name"] or ""), each.version) for each in importlib.metadata.distributions())
    return {name: version for name, version in found if name.startswith(beginning)}


def versions_in(site: str) -> dict[str, str]:
    """Return the versions of the distributions in a directory, by normalised names.

    Their metadata directories say the names and versions.
    """
    found = (name.removesuffix(".dist-info").rpartition("-") for name in names_in(site) if name.endswith(".dist-info"))
    return {normalised(name): version for name, _, version in found}

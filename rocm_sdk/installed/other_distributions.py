"""The distributions that are not packages of the SDK: torch, jax, and others that a user names."""

from __future__ import annotations

import importlib.metadata
import os

from rocm_sdk.base.files import names_in

from .distributions import normalised


def find(name: str) -> importlib.metadata.Distribution | None:
    """Return the distribution of this name that an import would use; None if it is not installed."""
    try:
        return importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None


def files_beside(path: str) -> tuple[str, ...] | None:
    """Return the shared libraries of the distribution whose RECORD names a file; None if no RECORD does."""
    name, path = os.path.basename(path), os.path.abspath(path)
    for each in importlib.metadata.distributions():
        if name in (each.read_text("RECORD") or ""):
            files = [os.path.normpath(str(each.locate_file(file))) for file in each.files or ()]
            if path in files:
                return tuple(file for file in files if ".so" in os.path.basename(file) and file != path)
    return None


def versions(beginning: str) -> dict[str, str]:
    """Return the versions of the distributions whose normalised names begin like this, by these names."""
    found = ((normalised(each.metadata["Name"] or ""), each.version) for each in importlib.metadata.distributions())
    return {name: version for name, version in found if name.startswith(beginning)}


def versions_in(site: str) -> dict[str, str]:
    """Return the versions of the distributions in a directory, by normalised names.

    Their metadata directories say the names and versions.
    """
    found = (name.removesuffix(".dist-info").rpartition("-") for name in names_in(site) if name.endswith(".dist-info"))
    return {normalised(name): version for name, _, version in found}

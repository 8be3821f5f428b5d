"""The artifact that tells how a build made the others, which every package needs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.damaged import read_document

from .catalog import Artifact

OVERLAY = "base_lib_generic"
_MANIFEST = "base/aux-overlay/stage/share/therock/therock_manifest.json"


def is_kpack_split(catalog: Iterable[Artifact], usual: Path) -> bool:
    """Return whether the build has put GPU code into archives.

    `usual` is a directory that would have the artifact. Raise PackagingError if the artifact is not there, and OSError
    if the artifact cannot be read.
    """
    flags = _facts(catalog, usual).get("flags")
    return bool(isinstance(flags, dict) and flags.get("KPACK_SPLIT_ARTIFACTS"))


def versions_of_build(catalog: Iterable[Artifact], usual: Path) -> tuple[str, str]:
    """Return the version that the build gave its packages, and the version of its ROCm; "" for an unknown one.

    The arguments and errors are the same as for `is_kpack_split`.
    """
    facts = _facts(catalog, usual)
    found = [facts.get(name) for name in ("rocm_package_version", "rocm_version")]
    of_packages, of_rocm = (each if isinstance(each, str) else "" for each in found)
    return of_packages, of_rocm


def _facts(catalog: Iterable[Artifact], usual: Path) -> dict[str, object]:
    """Return the facts that the build states of itself."""
    directory = next((each.directory for each in catalog if each.directory.name == OVERLAY), usual / OVERLAY)
    path = directory / _MANIFEST
    try:
        document = read_document(path)
    except FileNotFoundError as error:
        raise PackagingError(
            f"{path}: not found: it says how the artifacts were made", "fetch the artifact base_lib_generic too"
        ) from error
    return document if isinstance(document, dict) else {}

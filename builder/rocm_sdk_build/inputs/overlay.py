"""The artifact that says how a build made the others, which every package needs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.damaged import read_document

from .catalog import Artifact

OVERLAY = "base_lib_generic"
_MANIFEST = "base/aux-overlay/stage/share/therock/therock_manifest.json"


def is_kpack_split(catalog: Iterable[Artifact], usual: Path) -> bool:
    """Whether the build has put GPU code into archives. usual: a directory that would have the artifact.

    PackagingError if nothing says it; raises OSError.
    """
    flags = _facts(catalog, usual).get("flags")
    return bool(isinstance(flags, dict) and flags.get("KPACK_SPLIT_ARTIFACTS"))


def versions_of_build(catalog: Iterable[Artifact], usual: Path) -> tuple[str, str]:
    """The version that the build gave its packages, and that of its ROCm; "" for what it does not say.

    Arguments and errors as of `is_kpack_split`.
    """
    facts = _facts(catalog, usual)
    found = [facts.get(name) for name in ("rocm_package_version", "rocm_version")]
    of_packages, of_rocm = (each if isinstance(each, str) else "" for each in found)
    return of_packages, of_rocm


def _facts(catalog: Iterable[Artifact], usual: Path) -> dict[str, object]:
    """What the build says of itself."""
    directory = next((each.directory for each in catalog if each.directory.name == OVERLAY), usual / OVERLAY)
    path = directory / _MANIFEST
    try:
        document = read_document(path)
    except FileNotFoundError as error:
        raise PackagingError(
            f"{path}: not found: it says how the artifacts were made", "fetch the artifact base_lib_generic too"
        ) from error
    return document if isinstance(document, dict) else {}

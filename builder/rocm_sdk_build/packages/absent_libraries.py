"""Which libraries of the catalog an SDK is built without: loaders skip them, so that a framework's fixed list works."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from rocm_sdk._native import catalog
from rocm_sdk.installed.catalog import fits
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.damaged import read_document

FACTS = "share/therock/dist_info.json"
FACTS_OF_LIBRARIES = "share/therock/libraries_dist_info.json"  # no path is in two packages


def find_absent(package: str, files: Iterable[str]) -> list[str]:
    """Shortnames of the libraries that the catalog has in a package, and that it lacks; sorted. files: its paths."""
    paths = [PurePosixPath(path) for path in files]
    absent = []
    for shortname, owner, pattern, _, directory, is_optional in catalog():
        names = (path.name for path in paths if str(path.parent) == directory)
        if owner == package and not is_optional and not any(fits(name, pattern) for name in names):
            absent.append(shortname)
    return sorted(absent)


def facts_text(path: Path | None, absent: Iterable[str]) -> str:
    """`dist_info.json` of the artifacts (None: they have none for the package), with the libraries that are absent."""
    document = {} if path is None else read_document(path)
    if not isinstance(document, dict) or not isinstance(document.get("dist_amdgpu_targets", ""), str):
        raise PackagingError(f"{path}: is not an object with the text dist_amdgpu_targets")
    return json.dumps({**document, "absent_libraries": list(absent)}, indent=2) + "\n"

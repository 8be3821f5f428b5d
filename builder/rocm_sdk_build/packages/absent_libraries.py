"""The libraries of the catalog that an SDK is built without.

Loaders skip these libraries, so that a framework's fixed list works.
"""

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
    """Return the shortnames of the libraries that the catalog has in a package and that the package lacks; sorted.

    `files` are the paths of the package.
    """
    paths = [PurePosixPath(path) for path in files]
    absent = []
    for shortname, owner, pattern, _, directory, is_optional in catalog():
        names = (path.name for path in paths if str(path.parent) == directory)
        if owner == package and not is_optional and not any(fits(name, pattern) for name in names):
            absent.append(shortname)
    return sorted(absent)


def facts_text(path: Path | None, absent: Iterable[str]) -> str:
    """Return `dist_info.json` of the artifacts, with the libraries that are absent.

    `path` is the file of the artifacts; None: the artifacts have none for the package. Raise PackagingError if the file
    is not an object with the text dist_amdgpu_targets.
    """
    document = {} if path is None else read_document(path)
    if not isinstance(document, dict) or not isinstance(document.get("dist_amdgpu_targets", ""), str):
        raise PackagingError(f"{path}: is not an object with the text dist_amdgpu_targets")
    return json.dumps({**document, "absent_libraries": list(absent)}, indent=2) + "\n"

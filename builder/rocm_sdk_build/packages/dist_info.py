"""The texts that describe an SDK: `_dist_info.py` of each module, and `dist_info.json` with the absent libraries.

Loaders skip the libraries of the catalog that an SDK is built without, so that a framework's fixed list works.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk.installed.catalog import fits
from rocm_sdk.installed.readers import catalog
from rocm_sdk_build.base.damaged import read_document
from rocm_sdk_build.base.errors import PackagingError

FACTS = "share/therock/dist_info.json"
FACTS_OF_LIBRARIES = "share/therock/libraries_dist_info.json"  # no path is in two packages
_TEMPLATE = Path(__file__).with_name("dist_info_template.py")


class SdkFacts(NamedTuple):
    """The facts of an SDK that all of its packages state."""

    version: str
    available: tuple[str, ...]  # target families or targets, in order
    default: str | None
    nonce: str = ""
    linux: tuple[str, ...] = ()  # families that the user asked for, for each system
    windows: tuple[str, ...] = ()
    one_libraries_package: bool = True  # the libraries package has no family in its name


def python_text(logical_name: str, sdk: SdkFacts, family: str | None = None) -> str:
    """Return `_dist_info.py` of a package: the template, then literal assignments.

    `family` is the family of a package that has one. Every value is written by repr(), so that none can become code.
    """
    lines = [f"__version__ = {sdk.version!r}", f"PY_PACKAGE_SUFFIX_NONCE = {sdk.nonce!r}"]
    if sdk.one_libraries_package:
        lines.append('ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"')
    if sdk.default is not None:
        lines.append(f"DEFAULT_TARGET_FAMILY = {sdk.default!r}")
    lines += [f"AVAILABLE_TARGET_FAMILIES.append({name!r})" for name in sdk.available]
    lines += [f"LINUX_TARGET_FAMILIES.append({name!r})" for name in sdk.linux]
    lines += [f"WINDOWS_TARGET_FAMILIES.append({name!r})" for name in sdk.windows]
    lines += [f"THIS_TARGET_FAMILY = {family!r}", f"THIS_PACKAGE_ENTRY = ALL_PACKAGES[{logical_name!r}]"]
    if logical_name == "device":
        lines.append(f"LIBRARIES_PY_PACKAGE_NAME = {'_rocm_sdk_libraries' + sdk.nonce!r}")
    return _TEMPLATE.read_text(encoding="utf-8") + "\n".join(lines) + "\n"


def module_text(summary: str) -> str:
    """Return `__init__.py` of a pure module."""
    return f'"""{summary}."""\n\nfrom ._dist_info import __version__ as __version__\n'


def json_text(targets: Iterable[str], absent_libraries: Iterable[str]) -> str:
    """Return `share/therock/dist_info.json`: the GPUs of the SDK, and the shortnames of libraries that it lacks."""
    facts = {"dist_amdgpu_targets": ";".join(targets), "absent_libraries": sorted(absent_libraries)}
    return json.dumps(facts, indent=2) + "\n"


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

"""The reader of `share/therock/therock_manifest.json`, in which a ROCm build says which sources it was made from.

The file is of whoever made the package: it may be huge, deep or something else than a manifest. A value of another kind
than it should have is unknown.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from rocm_sdk.base.files import installed_file, read_beginning
from rocm_sdk.installed.origin import without_password

NAME = "share/therock/therock_manifest.json"
_LIMIT = 4 << 20  # bytes; a manifest has some ten thousand
_TEXT_LIMIT = 4096  # characters of one value
_COUNT_LIMIT = 10_000  # submodules, patches, flags


class Submodule(NamedTuple):
    """A repository that the build contains. commit: None where the build took it from elsewhere, or does not say."""

    name: str | None
    path: str | None
    url: str | None
    commit: str | None
    patches: tuple[str, ...] | None


class Manifest(NamedTuple):
    """The statements of a build about itself; None where there is none."""

    path: str
    commit: str | None  # of TheRock, the repository of the build
    rocm_version: str | None
    package_version: str | None
    job: str | None
    run: str | None
    submodules: tuple[Submodule, ...]
    flags: dict[str, bool | int | float | str | None]


def read_manifest(directory: str) -> Manifest | None:
    """Return the manifest of a platform directory; None if it has none.

    Raise ValueError, OSError if it cannot be used.
    """
    path = installed_file(os.path.join(directory, NAME))
    try:
        if os.path.islink(path):
            raise ValueError("it is a symbolic link")
        data = read_beginning(path, _LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(data) > _LIMIT:
        raise ValueError(f"it is larger than {_LIMIT} bytes")
    try:
        document = json.loads(data)
    except RecursionError as error:
        raise ValueError("its values are nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("it is not an object of JSON")
    return Manifest(
        path=path,
        commit=_text(document.get("the_rock_commit")),
        rocm_version=_text(document.get("rocm_version")),
        package_version=_text(document.get("rocm_package_version")),
        job=_text(document.get("github_job")),
        run=_text(document.get("github_run_id")),
        submodules=tuple(_submodule(each) for each in _list(document.get("submodules")) if isinstance(each, dict)),
        flags=_flags(document.get("flags")),
    )


def _submodule(document: dict[str, Any]) -> Submodule:
    url, patches = _text(document.get("submodule_url")), document.get("patches")
    return Submodule(
        name=_text(document.get("submodule_name")),
        path=_text(document.get("submodule_path")),
        url=url and without_password(url),
        commit=_text(document.get("pin_sha")),
        patches=tuple(filter(None, map(_text, _list(patches)))) if isinstance(patches, list) else None,
    )


def _flags(value: object) -> dict[str, bool | int | float | str | None]:
    """Return the flags of the build, flags of other kinds as None."""
    if not isinstance(value, dict):
        return {}
    kept = list(value.items())[:_COUNT_LIMIT]
    return {
        name: each if isinstance(each, bool | int | float) else _text(each)
        for name, each in kept
        if _text(name) is not None
    }


def _text(value: object) -> str | None:
    """Return a text of a length that people write, else None; a run of GitHub has a number, too."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) and 0 < len(value) <= _TEXT_LIMIT else None


def _list(value: object) -> list[object]:
    return value[:_COUNT_LIMIT] if isinstance(value, list) else []

"""The list of artifacts with files in no package, which a build leaves beside its packages for `check`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk_build.base.damaged import package_damage, read_document, refusing_damage
from rocm_sdk_build.base.text_files import write_text
from rocm_sdk_build.inputs.catalog import is_name

LEFT_OUT = ".rocm-sdk-left-out.json"
FIX = "write `artifact`, `devel` or `leave` rows for them: rocm-sdk-build artifacts --rules FILE"


class LeftOut(NamedTuple):
    """An artifact, and the number and bytes of its files that are in no package."""

    artifact: str
    files: int
    size: int

    def __str__(self) -> str:
        return f"{self.artifact}: {counted(self.files, 'file')}, {size_text(self.size)}, in no package"


def write_left_out(directory: Path, version: str, found: Sequence[LeftOut]) -> Path:
    """Write the list; return its file."""
    path = directory / LEFT_OUT
    write_text(path, json.dumps({"version": version, "left_out": [each._asdict() for each in found]}, indent=2) + "\n")
    return path


def read_left_out(directory: Path, versions: Sequence[str]) -> list[LeftOut]:
    """Return the list of the build of these versions; [] if there is none.

    Raise PackagingError for a damaged list.
    """
    path = directory / LEFT_OUT
    if not path.is_file() or path.is_symlink():
        return []
    document = read_document(path)
    with refusing_damage(package_damage(path)):
        if not isinstance(document, dict) or document["version"] not in versions:
            return []
        found = [LeftOut(str(each["artifact"]), int(each["files"]), int(each["size"])) for each in document["left_out"]]
        if wrong := [each.artifact for each in found if not is_name(each.artifact) or not each.artifact.isprintable()]:
            raise ValueError(f"{wrong[0][:80]!r} is not the name of an artifact")
        if any(number not in range(1 << 63) for each in found for number in (each.files, each.size)):
            raise ValueError("it has a number that no count of files or bytes is")
        return found

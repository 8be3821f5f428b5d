"""What an SDK that was a prefix says of itself: `dist_info.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from rocm_sdk import _native
from rocm_sdk_build.artifacts.catalog import Entry
from rocm_sdk_build.artifacts.file_kind import look_at
from rocm_sdk_build.dist_info import json_text
from rocm_sdk_build.offload_targets import in_hardware_order
from rocm_sdk_build.site_tree import DIST_INFO_JSON

from .target_code import targets_of
from .tree import Tree


def targets(tree: Tree) -> list[str]:
    """The targets that a math library has code for; of an SDK without these, any library."""
    libraries = targets_of(_files(tree, "libraries", "device"))
    return in_hardware_order(libraries or targets_of(_files(tree, "core")))


def with_facts(tree: Tree, sdk_targets: Iterable[str], scratch: Path) -> Tree:
    """The tree with `dist_info.json`, which is written below `scratch`, in place of what the prefix has there."""
    path = scratch / "dist_info.json"
    path.write_text(json_text(sdk_targets, _absent_libraries(tree)), encoding="utf-8")
    core = [each for each in tree.parts["core"] if each.path != DIST_INFO_JSON]
    return tree._replace(parts={**tree.parts, "core": [*core, Entry(DIST_INFO_JSON, path, "file")]})


def _files(tree: Tree, *parts: str) -> Iterator[Path]:
    for part in parts:
        yield from (entry.source for entry in tree.parts[part] if entry.kind == "file")


def _absent_libraries(tree: Tree) -> list[str]:
    """Shortnames of the loader's catalog that no file of the packages fits."""
    names = {part: list(_names(tree.parts[part])) for part in ("core", "libraries")}
    names["libraries"] += _names(tree.parts["device"])
    return [
        row[0]
        for row in _native.catalog()
        if row[2]
        and not any(str(path.parent) == row[4] and fnmatchcase(path.name, row[2]) for path in names.get(row[1], []))
    ]


def _names(entries: Iterable[Entry]) -> Iterator[PurePosixPath]:
    """The libraries as packages have them: called by their SONAMEs."""
    for entry in entries:
        path = PurePosixPath(entry.path)
        if entry.kind == "file" and ".so" in path.name:
            yield path.with_name(look_at(entry.source).soname or path.name)

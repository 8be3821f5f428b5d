"""The facts that an SDK made from a prefix states: `dist_info.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rocm_sdk_build.inputs.catalog import Entry
from rocm_sdk_build.inputs.offload_targets import in_hardware_order
from rocm_sdk_build.inputs.prefix.target_code import targets_of
from rocm_sdk_build.inputs.prefix.tree import Tree

from .absent_libraries import FACTS
from .dist_info import json_text


def targets(tree: Tree) -> list[str]:
    """Return the targets of the math libraries' code; if there is none, the targets of the code in core."""
    libraries = targets_of(_files(tree, "libraries", "device"))
    return in_hardware_order(libraries or targets_of(_files(tree, "core")))


def with_facts(tree: Tree, sdk_targets: Iterable[str], scratch: Path) -> Tree:
    """Return the tree with `dist_info.json`, which is written below `scratch`, in place of the prefix's file.

    The file gets the absent libraries when the packages are made.
    """
    path = scratch / "dist_info.json"
    path.write_text(json_text(sdk_targets, ()), encoding="utf-8")
    core = [each for each in tree.parts["core"] if each.path != FACTS]
    return tree._replace(parts={**tree.parts, "core": [*core, Entry(FACTS, path, "file")]})


def _files(tree: Tree, *parts: str) -> Iterator[Path]:
    for part in parts:
        yield from (entry.source for entry in tree.parts[part] if entry.kind == "file")

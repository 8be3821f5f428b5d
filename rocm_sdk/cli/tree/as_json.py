"""The tree for programs; docs/commands.md describes the form."""

import json
from typing import Any

from .plan_tree import Branch, File, Tree

_SCHEMA = 1  # incremented when the meaning of a field changes


def as_json(tree: Tree) -> str:
    """Return the tree as one JSON object."""
    content = {
        "schema": _SCHEMA,
        "steps": [_step(branch) for branch in tree.branches],
        "missing": tree.missing,
        "files": len(tree.files),
        "bytes": tree.size,
        "seconds": tree.seconds,
    }
    return json.dumps(content, indent=2)


def _step(branch: Branch) -> dict[str, Any]:
    step = branch.step
    return {
        "shortname": step.shortname,
        "soname": step.soname,
        **_file(branch.file),
        "method": step.method,
        "reason": step.reason,
        "rtld_global": step.rtld_global,
        "requested": step.requested,
        "seconds": branch.seconds,
        "needed": step.needed,
        "outside": step.outside,
        "missing": step.missing,
        "names": dict(step.names),
        "answer": getattr(step, "answer", None),
        "brings": [_file(file) for file in branch.brings],
    }


def _file(file: File) -> dict[str, Any]:
    return {"path": file.path, "bytes": file.size}

"""Writes the texts that say what an SDK is: `_dist_info.py` of each pure module and `dist_info.json` of the core."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

_TEMPLATE = Path(__file__).with_name("dist_info_template.py")


def python_text(logical_name: str, version: str, targets: Sequence[str]) -> str:
    """`_dist_info.py` of one wheel: the template, then literal assignments. `targets`: GPU targets, in order.

    Every value is written by repr(), so that none can become code.
    """
    template = _TEMPLATE.read_text(encoding="utf-8")
    lines = [
        f"__version__ = {version!r}",
        "PY_PACKAGE_SUFFIX_NONCE = ''",
        'ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"',
        *(f"DEFAULT_TARGET_FAMILY = {target!r}" for target in sorted(targets)[:1]),
        *(f"AVAILABLE_TARGET_FAMILIES.append({target!r})" for target in targets),
        "THIS_TARGET_FAMILY = None",
        f"THIS_PACKAGE_ENTRY = ALL_PACKAGES[{logical_name!r}]",
    ]
    return template + "\n".join(lines) + "\n"


def json_text(targets: Iterable[str], absent_libraries: Iterable[str]) -> str:
    """`share/therock/dist_info.json`: for which GPUs the SDK was built, and without which libraries (shortnames)."""
    facts = {"dist_amdgpu_targets": ";".join(targets), "absent_libraries": sorted(absent_libraries)}
    return json.dumps(facts, indent=2) + "\n"

"""The files METADATA and WHEEL of packages: core metadata 2.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rocm_sdk_build.inputs.rules import MetadataRule

from .debian_copyright import expression_of_all
from .dist_info import SdkFacts
from .staging import Package

_PYTHON = ">=3.10"  # as the loader requires
_LICENCE = "License-Expression"


def metadata_text(package: Package, sdk: SdkFacts, rules: Iterable[MetadataRule], licences: Mapping[str, Path]) -> str:
    """Return METADATA; `licences` are the files in `licenses`, by their paths there.

    The licence comes from the rules, or else from Debian's copyright files where all of them state one.
    """
    own = [rule for rule in rules if rule.package in (package.logical_name, "all")]
    is_said = any(rule.field == _LICENCE for rule in own)
    expression = None if is_said else expression_of_all(licences)
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {package.distribution}",
        f"Version: {sdk.version}",
        f"Summary: {package.summary}",
        "Description-Content-Type: text/markdown",
        *(f"{rule.field}: {rule.value}" for rule in own),
        *([f"{_LICENCE}: {expression}"] if expression is not None else []),
        *(f"License-File: {path}" for path in licences),
        f"Requires-Python: {_PYTHON}",
        *(f"Requires-Dist: {each}" for each in package.requires),
    ]
    told = "`pip install rocm` installs what fits a machine; `rocm-sdk test` checks what is installed."
    return "\n".join([*lines, "", f"# {package.distribution}", "", f"{package.summary}.", "", told, ""])


def wheel_text(tag: str) -> str:
    """Return WHEEL, whose tag is for one machine.

    The wheel is Purelib, although the files are for one machine: the packages find each other as siblings.
    """
    lines = ["Wheel-Version: 1.0", "Generator: rocm_sdk_build", "Root-Is-Purelib: true", f"Tag: {tag}"]
    return "\n".join(lines) + "\n"

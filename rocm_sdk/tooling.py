"""Public names for programs that make SDKs, as rocm-sdk-build: what the loader knows of files, catalog and terminal.

They are documented where they are defined. Other modules of this package that such programs may import are
`errors`, `targets`, `archives`, `gpu_code` and `installed.record`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ._dist_info import ALL_LIBRARIES
from ._native import (
    catalog,
    compatibility,
    device_code_of_part,
    inspect_library,
    kernel_table_kind,
    kernel_table_names,
    nearest_names,
    sdk_facts,
    target_id,
    target_in_name,
)
from ._zstd import import_zstd
from .cli.output import complain, end_without_output, succeeds, tell
from .own_wheels import install_command
from .targets.image_kinds import image_kind
from .targets.image_kinds import serves as image_kind_serves
from .value_text import counted, size_text

if TYPE_CHECKING:
    from ._native import LibraryFacts

# The directory that has this package.
PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

__all__ = [
    "ALL_LIBRARIES",
    "PACKAGE_PARENT",
    "LibraryFacts",
    "catalog",
    "compatibility",
    "complain",
    "counted",
    "device_code_of_part",
    "end_without_output",
    "image_kind",
    "image_kind_serves",
    "import_zstd",
    "inspect_library",
    "install_command",
    "kernel_table_kind",
    "kernel_table_names",
    "nearest_names",
    "sdk_facts",
    "size_text",
    "succeeds",
    "target_id",
    "target_in_name",
    "tell",
]

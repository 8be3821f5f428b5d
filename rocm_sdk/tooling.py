"""Public names for programs that make SDKs, as rocm-sdk-build: what the loader knows of files, catalog and terminal.

They are documented where they are defined. Other modules of this package that such programs may import are
`errors`, `targets`, `archives`, `gpu_code`, `scratch`, `starting`, `walking`, `web` and `installed.record`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ._dist_info import ALL_LIBRARIES
from ._native import (
    catalog,
    check_host_files,
    compatibility,
    device_code_of_part,
    host_packages,
    inspect_library,
    kernel_table_kind,
    kernel_table_names,
    nearest_names,
    sdk_facts,
    target_id,
    target_in_name,
)
from .base.inside import UnsafeNameError, open_inside, parent_inside, parts_of, read_inside
from .base.moving import exchange, refusal_to_move, sync_directory, sync_file_system
from .base.own_wheels import install_command
from .base.value_text import counted, harmless, quoted_for_shell, size_text
from .base.zstd import import_zstd
from .doctor.verdicts.subject import Subject, open_subject
from .gpu_support.image_kinds import image_kind
from .gpu_support.image_kinds import serves as image_kind_serves
from .installed.distributions import CLOSURE_JOURNAL, Distribution, sdk_distributions, without_closure
from .installed.init_module import preload_names
from .terminal.output import complain, end_without_output, succeeds, tell, tell_table

if TYPE_CHECKING:
    from ._native import LibraryFacts

# The directory that has this package.
PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

__all__ = [
    "ALL_LIBRARIES",
    "CLOSURE_JOURNAL",
    "PACKAGE_PARENT",
    "Distribution",
    "LibraryFacts",
    "Subject",
    "UnsafeNameError",
    "catalog",
    "check_host_files",
    "compatibility",
    "complain",
    "counted",
    "device_code_of_part",
    "end_without_output",
    "exchange",
    "harmless",
    "host_packages",
    "image_kind",
    "image_kind_serves",
    "import_zstd",
    "inspect_library",
    "install_command",
    "kernel_table_kind",
    "kernel_table_names",
    "nearest_names",
    "open_inside",
    "open_subject",
    "parent_inside",
    "parts_of",
    "preload_names",
    "quoted_for_shell",
    "read_inside",
    "refusal_to_move",
    "sdk_distributions",
    "sdk_facts",
    "size_text",
    "succeeds",
    "sync_directory",
    "sync_file_system",
    "target_id",
    "target_in_name",
    "tell",
    "tell_table",
    "without_closure",
]


def __getattr__(name: str) -> object:
    if name == "LibraryFacts":  # the extension makes this type when it is used first
        from . import _native

        _native.add_other_types()
        return _native.LibraryFacts
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

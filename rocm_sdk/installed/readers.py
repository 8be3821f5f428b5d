"""The readers and tables of the C library that rocm-sdk-build uses besides the public API."""

from rocm_sdk._native import (
    HostFiles,
    LibraryFacts,
    catalog,
    check_host_files,
    compatibility,
    device_code_of_part,
    host_packages,
    inspect_library,
    kernel_table_kind,
    kernel_table_names,
    package_owner,
    paged_files,
    sdk_facts,
    target_id,
    target_in_name,
)

__all__ = [
    "HostFiles",
    "LibraryFacts",
    "catalog",
    "check_host_files",
    "compatibility",
    "device_code_of_part",
    "host_packages",
    "inspect_library",
    "kernel_table_kind",
    "kernel_table_names",
    "package_owner",
    "paged_files",
    "sdk_facts",
    "target_id",
    "target_in_name",
]

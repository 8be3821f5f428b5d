"""The established API of the development tree, under the names that its callers import."""

from .devel.python_api import (
    _reconcile_device_links,
    _without_post_release,
    find_bitcode,
    find_headers,
    find_static_library,
    find_tool,
    get_devel_root,
    rocm_home,
)

__all__ = [
    "_reconcile_device_links",
    "_without_post_release",
    "find_bitcode",
    "find_headers",
    "find_static_library",
    "find_tool",
    "get_devel_root",
    "rocm_home",
]

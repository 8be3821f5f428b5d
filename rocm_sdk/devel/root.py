"""The quick way to the tree: its directory, if it is expanded and nothing around it has changed.

Imports next to nothing: `rocm-sdk path --root` in a build script costs little more than starting Python.
"""

import os

from rocm_sdk._native import package_directory

from .layout import MODULE, find_archive
from .stamp import is_current


def ready_root() -> str | None:
    """The directory of a tree that is ready for use; None: ask `prepare`, which makes it so or says why not."""
    try:
        tree = package_directory("devel")
    except ModuleNotFoundError:
        return None
    site = os.path.dirname(tree)
    if not os.path.exists(f"{site}/{MODULE}/__init__.py") or find_archive(site) is not None:
        return None
    return tree if is_current(site, tree) else None


def development_root(*, quiet: bool) -> str:
    """The directory of the tree, made ready if it is not. quiet: nothing is said meanwhile. Errors as of `prepare`."""
    root = ready_root()
    if root is None:
        from .prepare import prepare
        from .progress import Reporter

        root = prepare(Reporter(quiet))
    return root

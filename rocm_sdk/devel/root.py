"""The quick way to the tree: its directory, if it is extracted and nothing around it has changed.

The module imports next to nothing: `rocm-sdk path --root` in a build script costs little more than starting Python.
"""

import os

from rocm_sdk._native import package_directory

from .layout import ABSENT, MODULE, find_archive, tree_state
from .stamp import is_current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rocm_sdk.base.reporter import Reporter


def ready_root() -> str | None:
    """Return the directory of a tree that is ready for use; None: `make_ready` prepares it, or says why it cannot."""
    try:
        tree = package_directory("devel")
    except ModuleNotFoundError:
        return None
    site = os.path.dirname(tree)
    if not os.path.exists(f"{site}/{MODULE}/__init__.py") or find_archive(site) is not None:
        return None
    return tree if is_current(site, tree) else None


def development_root(make_reporter: "Callable[[], Reporter]") -> str:
    """Return the directory of the tree, and make it ready if it is not. Raise the errors of `make_ready`.

    make_reporter: called only if there is something to do and to report.
    """
    root = ready_root()
    if root is None:
        from .make_ready import make_ready

        root = make_ready(make_reporter())
    return root


def home_package() -> str:
    """Return the package whose directory other tools take for ROCm's root: `devel` if it is installed, else `core`."""
    return "core" if tree_state() == ABSENT else "devel"


def home_directory(make_reporter: "Callable[[], Reporter]") -> str:
    """Return the directory for ROCM_HOME and ROCM_PATH: the tree if the development package is installed, else core's.

    Raises the errors of `development_root`, and PackageNotInstalledError if no SDK is installed.
    """
    return development_root(make_reporter) if home_package() == "devel" else package_directory("core")

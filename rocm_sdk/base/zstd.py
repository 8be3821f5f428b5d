"""The choice of a module for Zstandard (PEP 784): Python's own since 3.14, a package of PyPI for earlier versions."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

ZSTD_MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
# The command that installs the module; None if Python itself should have it.
ZSTD_INSTALL = None if sys.version_info >= (3, 14) else "pip install backports.zstd"
ZSTD_FIX = ZSTD_INSTALL or "use a Python that was built with libzstd (Debian: libzstd-dev)"


def import_zstd() -> Any:
    """Import the module, and return it. Raise ImportError if it is not installed."""
    return import_module(ZSTD_MODULE)

"""Finds packages that only the import system knows: an SDK package installed editable, behind an import hook.

The extension calls this if a package is in no directory of sys.path. Nothing is imported or executed except the
installed hooks.
"""

import os
from collections.abc import Iterable
from importlib.util import find_spec


def find_directories(modules: Iterable[str]) -> dict[str, bytes]:
    """The directory of each top-level module that the import system can find, encoded for the file system."""
    directories = {}
    for module in modules:
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.submodule_search_locations:
            directories[module] = os.fsencode(next(iter(spec.submodule_search_locations)))
    return directories

"""The search for packages that only the import system knows: an SDK package installed editable, behind an import hook.

The extension calls this module if a package is in no directory of sys.path. Nothing is imported or executed except the
installed hooks.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def find_directories(modules: "Iterable[str]") -> dict[str, bytes]:
    """Return the directory of each top-level module that the import system can find, encoded for the file system."""
    directories = {}
    for module in modules:
        try:
            # Like importlib.util.find_spec, whose import takes longer than the search.
            if module in sys.modules:
                spec = getattr(sys.modules[module], "__spec__", None)
            else:
                finders = (finder for finder in sys.meta_path if hasattr(finder, "find_spec"))
                spec = next(filter(None, (finder.find_spec(module, None) for finder in finders)), None)
        except (ImportError, ValueError):
            continue
        places = spec.submodule_search_locations if spec is not None else None
        directory = next(iter(places), None) if places else None
        if directory is not None and os.path.isdir(directory):  # a module in an archive has no directory
            directories[module] = os.fsencode(directory)
    return directories

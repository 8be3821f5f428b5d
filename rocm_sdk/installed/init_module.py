"""The libraries that an installed framework preloads: `_rocm_init.py` in its package, which torch imports first."""

import ast
import os
from importlib.machinery import PathFinder

_NAME = "_rocm_init.py"
_LARGEST = 1 << 20  # bytes; the established ones have a few hundred


def init_module(package: str) -> str | None:
    """Return the path of the package's `_rocm_init.py`; None if it has none. Nothing is imported."""
    found = PathFinder.find_spec(package)
    path = os.path.join(os.path.dirname(found.origin), _NAME) if found is not None and found.origin else None
    return path if path is not None and os.path.isfile(path) else None


def preload_names(path: str) -> tuple[str, ...]:
    """Return the texts of `preload_shortnames=[...]` in such a file. Raise ValueError, OSError.

    The file is read and not run. A list that is not written out gives no names.
    """
    if os.path.getsize(path) > _LARGEST:
        raise ValueError("it is larger than any such file")
    with open(path, "rb") as file:
        text = file.read(_LARGEST + 1)
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}" if error.lineno else error.msg) from error
    except (MemoryError, RecursionError) as error:  # MemoryError: the stack of the parser is full
        raise ValueError("its expressions are nested too deeply") from error
    keywords = (each for node in ast.walk(tree) if isinstance(node, ast.Call) for each in node.keywords)
    lists = [each.value for each in keywords if each.arg == "preload_shortnames"]
    texts = [item for each in lists if isinstance(each, ast.List | ast.Tuple) for item in each.elts]
    return tuple(item.value for item in texts if isinstance(item, ast.Constant) and isinstance(item.value, str))

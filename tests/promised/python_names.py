"""The public names of Python: functions with their arguments, classes with their fields, methods and bases."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from functools import cache
from pathlib import Path
from types import ModuleType

import rocm_sdk
from rocm_sdk import _devel, _dist_info, targets, testing

from .tables import Table

# Names of `rocm_sdk` that its __all__ does not have.
_BESIDE = ("__version__", "_ALL_CDLLS", "targets")
# Established names that begin with an underscore.
_ESTABLISHED = ("_reconcile_device_links", "_without_post_release")
_CONSTANTS_OF_NOBODY = {"TYPE_CHECKING"}


def python_names() -> Table:
    """Return all public names of the Python package."""
    table: Table = {}
    for name in _BESIDE:
        table[f"rocm_sdk.{name}"] = "value"
    for module in (rocm_sdk, targets, testing):
        for name in module.__all__:
            _add(table, f"{module.__name__}.{name}", getattr(module, name, None))
    for module in (_dist_info, _devel):
        for name in _own_names(module):
            _add(table, f"{module.__name__}.{name}", getattr(module, name, None))
    return table


def _own_names(module: ModuleType) -> list[str]:
    """Return the names that callers of a module of the established API find in it."""
    own = [
        name
        for name, value in vars(module).items()
        if (name in _ESTABLISHED or not name.startswith("_"))
        and (getattr(value, "__module__", module.__name__) == module.__name__)
        and not isinstance(value, ModuleType)
        and name not in _CONSTANTS_OF_NOBODY
    ]
    return [*own, *getattr(module, "_FACTS", ())]


def _add(table: Table, name: str, value: object) -> None:
    """Add the rows of a name.

    A value of None exists for type checkers alone, or is made when it is asked for.
    """
    tree = _definition(value) if callable(value) else _stub().get(name.rpartition(".")[2]) if value is None else None
    if isinstance(tree, ast.ClassDef):
        bases = value.__mro__[1:-1] if isinstance(value, type) else ()
        table[name] = f"class({', '.join(each.__name__ for each in bases)})"
        for row, what in _members(tree):
            table[f"{name}.{row}"] = what
    elif isinstance(tree, ast.FunctionDef):
        table[name] = _arguments(tree)
    else:
        table[name] = "value"


def _members(tree: ast.ClassDef) -> list[tuple[str, str]]:
    """Return the public fields, properties and methods that a class defines itself."""
    rows = []
    for each in tree.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            rows.append((each.target.id, _plain(each.annotation)))
        elif isinstance(each, ast.FunctionDef):
            is_property = any(isinstance(mark, ast.Name) and mark.id == "property" for mark in each.decorator_list)
            rows.append((each.name, _plain(each.returns) if is_property else _arguments(each)))
    return [(name, what) for name, what in rows if name in {"__init__", "__new__"} or not name.startswith("_")]


def _arguments(tree: ast.FunctionDef) -> str:
    """Return the arguments and the result of a function, as its definition has them."""
    return f"({_plain(tree.args)}){f' -> {_plain(tree.returns)}' if tree.returns else ''}"


def _plain(tree: ast.AST | None) -> str:
    """Return the text of a definition; types in quotes lose their quotes."""

    class Unquoted(ast.NodeTransformer):
        def visit_arg(self, node: ast.arg) -> ast.arg:
            node.annotation = unquoted(node.annotation)
            return node

    def unquoted(node: ast.expr | None) -> ast.expr | None:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        return ast.parse(node.value, mode="eval").body if is_text else node

    if tree is None:
        return "None"
    return ast.unparse(Unquoted().visit(unquoted(tree) if isinstance(tree, ast.expr) else tree))


def _definition(value: object) -> ast.stmt:
    """Return the definition of a function or class, from its source, or from the stub for names of the extension."""
    try:
        text = textwrap.dedent(inspect.getsource(value))
    except (OSError, TypeError):
        return _stub()[value.__name__]
    (tree,) = ast.parse(text).body
    return tree


@cache
def _stub() -> dict[str, ast.stmt]:
    path = Path(importlib.import_module("rocm_sdk").__file__).parent / "_native.pyi"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}

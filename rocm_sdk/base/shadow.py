"""The search for a file that takes the place of a module.

Such a file has the name of a module of Python's standard library, and whatever imports that module gets the file; or it
is a .pyc that was made from another source than the module's.
"""

import os
import sys

from .named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_UNCHECKED = 0b01  # of the flags of a .pyc (PEP 552): Python does not compare it with its source
_FLAGS, _HASH = slice(4, 8), slice(8, 16)  # bytes of a .pyc


class Shadow(NamedTuple):
    """A file that takes the place of a module."""

    name: str  # of the module
    path: str
    source: "str | None" = None  # of the module, if the file is a .pyc of another one

    @property
    def variable(self) -> str:
        """The name of what puts the file's directory on Python's search path."""
        directory = os.path.dirname(os.path.abspath(self.path))
        entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        is_named = any(entry and os.path.abspath(entry) == directory for entry in entries)
        return "PYTHONPATH" if is_named else "the search path of Python, which begins with the current directory"

    @property
    def replaced(self) -> str:
        """The words for what the file replaces, which precede the name."""
        return "Python's module" if self.source is None else "the source of the module"

    @property
    def repair(self) -> "str | None":
        """The command that helps; None if the user has to say where the file goes."""
        from .value_text import quoted_for_shell

        return None if self.source is None else f"rm {quoted_for_shell(self.path)}"

    @property
    def facts(self) -> "dict[str, object]":
        """The facts of a problem with this file."""
        return {"name": self.name, "variable": self.variable, "replaced": self.replaced, "repair": self.repair}


def shadow_behind(error: BaseException) -> "Shadow | None":
    """Return the file that an exception comes from, or whose module it names; None if there is none.

    Python removes a module that raises while it is imported: the traceback has its file. If a module lacks something,
    the message has the module's name.
    """
    paths = (*_files_of(error), *_imported(str(error)))
    found = next((each for each in map(_shadow_of, paths) if each is not None), None)
    if found is not None:
        return found
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sources = (
        getattr(module, "__file__", None) for name, module in [*sys.modules.items()] if name.startswith("rocm_sdk")
    )
    loaded = dict.fromkeys((*paths, *(each for each in sources if isinstance(each, str)), *_named(error)))
    return next((each for each in map(stale_code_of, loaded) if each is not None and each.path.startswith(own)), None)


def stale_code_of(source: str) -> "Shadow | None":
    """Return the .pyc that Python takes for a source without comparing them, if another source made it; else None."""
    from importlib.util import cache_from_source, source_hash

    try:
        path = cache_from_source(source)
        with open(path, "rb") as file:
            header = file.read(_HASH.stop)
        if int.from_bytes(header[_FLAGS], "little") & 0b11 != _UNCHECKED:
            return None
        with open(source, "rb") as file:
            is_of_source = source_hash(file.read()) == header[_HASH]
    except (OSError, NotImplementedError):
        return None
    return None if is_of_source else Shadow(os.path.basename(source).partition(".")[0], path, source)


def _named(error: BaseException) -> "Iterator[str]":
    """Yield the file that an ImportError names."""
    path = getattr(error, "path", None)
    if isinstance(path, str):
        yield path


def _files_of(error: BaseException) -> "Iterator[str]":
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame.f_code.co_filename
        at = at.tb_next


def _imported(message: str) -> "Iterator[str]":
    """Yield the files of modules that a message names."""
    for name in sys.stdlib_module_names.intersection(message.replace("'", " ").split()):
        path = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(path, str):
            yield path


def _shadow_of(path: str) -> "Shadow | None":
    directory, base = os.path.split(os.path.abspath(path))
    name = base.partition(".")[0]
    if name == "__init__":
        directory, name = os.path.split(directory)
    own = (os.path.dirname(os.__file__), os.path.join(os.path.dirname(os.__file__), "lib-dynload"))
    is_own = os.path.realpath(directory) in map(os.path.realpath, own)
    return None if name not in sys.stdlib_module_names or is_own or _is_of_packages(directory) else Shadow(name, path)


def _is_of_packages(directory: str) -> bool:
    """Return whether modules in the directory belong to a package, as the modules of this one do."""
    return os.path.isfile(os.path.join(directory, "__init__.py"))

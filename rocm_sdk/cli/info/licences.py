"""The search for the licence of a file in the packages: the nearest one, by its component or its directory.

Licence texts are not interpreted: a licence is the expression of METADATA, or the path of a file.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from rocm_sdk._native import host_packages
from rocm_sdk.base.files import names_in
from rocm_sdk.base.inside import UnsafeNameError, parts_of
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.distributions import headers_of

if TYPE_CHECKING:
    from rocm_sdk.installed.distributions import Distribution
    from rocm_sdk.installed.view import Installed

_NAME = re.compile(r"(?i)(licen[cs]e|copying|copyright)([-._].*)?")
_DOCUMENTS = "share/doc"
_SHOWN = 60  # letters of a licence: the field License may have the whole text in one line


class Licence(NamedTuple):
    """A licence, and how it was found."""

    expression: str | None  # SPDX expression of METADATA
    file: str | None  # absolute path of the text
    found_by: Literal["component", "directory", "package"]

    @property
    def text(self) -> str:
        """The licence in few words: the directory of a file names the component."""
        said = self.expression or os.path.join(*str(self.file).split(os.sep)[-2:])
        return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."


class Licences:
    """The licences of an installation's files; each directory is read once."""

    def __init__(self, installed: Installed) -> None:
        self._installed = installed
        self._files: dict[str, str | None] = {}
        self._components: dict[str, dict[str, str]] = {}

    def of(self, path: str) -> Licence | None:
        """Return the licence of a library; None if it is unknown, as of a file elsewhere."""
        site, path = self._installed.site, os.path.abspath(path)
        package, _, rest = os.path.relpath(path, site).partition(os.sep)
        if package == os.pardir or not rest:
            return None
        top = site if self._installed.fallback is not None else os.path.join(site, package)
        owner = self._installed.owners.get(os.path.relpath(path, site))
        names = _components(os.path.basename(path))
        licences = os.path.join(owner.directory, "licenses") if owner is not None else top
        for directory in dict.fromkeys((top, licences)):
            if (file := self._of_component(directory, names)) is not None:
                return Licence(None, file, "component")
        directory = os.path.dirname(path)
        while directory.startswith(top + os.sep):
            if (file := self._file_in(directory)) is not None:
                return Licence(None, file, "directory")
            directory = os.path.dirname(directory)
        if (file := self._file_in(top)) is not None:
            return Licence(None, file, "directory")
        return _of_package(owner) if owner is not None else None

    def _file_in(self, directory: str) -> str | None:
        """Return the first licence file in a directory, by name; None if there is none."""
        if directory not in self._files:
            paths = (os.path.join(directory, name) for name in names_in(directory) if _NAME.fullmatch(name))
            self._files[directory] = next(filter(os.path.isfile, paths), None)
        return self._files[directory]

    def _of_component(self, top: str, names: tuple[str, ...]) -> str | None:
        """Return the licence file of the first of the components that has one; None if none has."""
        if top not in self._components:
            documents = os.path.join(top, _DOCUMENTS)
            self._components[top] = {_component(name): os.path.join(documents, name) for name in names_in(documents)}
        directories = self._components[top]
        files = (self._file_in(directories[name]) for name in names if name in directories)
        return next(filter(None, files), None)


def _component(name: str) -> str:
    """Return a name as libraries and directories of documents share it: "rocblas" of "librocblas.so", "amdcomgr"."""
    return name.removesuffix(".so").removeprefix("lib").replace("-", "").replace("_", "").lower()


def _components(name: str) -> tuple[str, ...]:
    """Return the components that a library may be of: "amdhip64", "amdhip645" (libamdhip64-5), "zlib1g".

    A component is the library's name, the name with the number of its ABI, or the name of Debian's package of it, where
    the table of packages says it.
    """
    unversioned = linker_name(name)
    base = _component(unversioned)
    number = name.removeprefix(unversioned).removeprefix(".").partition(".")[0]
    known = (row[1] for row in host_packages() if row[0] == name)
    return tuple(dict.fromkeys((base, base + number, *map(_component, known))))


def _of_package(owner: Distribution) -> Licence | None:
    """Return the licence of the whole distribution; of several files none is the licence of one library."""
    headers = headers_of(owner.read("METADATA"))
    said = {name: value for name, value in reversed(headers) if value}  # the first of a name counts
    expression = said.get("license-expression") or said.get("license")
    files = [value for name, value in headers if name == "license-file"]
    file = None
    if len(files) == 1:
        try:
            file = os.path.join(owner.directory, "licenses", *parts_of(files[0]))
        except UnsafeNameError:
            file = None
        file = file if file is not None and os.path.isfile(file) else None
    return Licence(expression, file, "package") if expression or file else None

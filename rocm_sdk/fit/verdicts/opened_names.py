"""The names without a version that files open, if the packages only have files with one; and what answers to them.

A plain dlopen("libamd_smi.so") fails if there is only libamd_smi.so.26. A load by rocm_sdk answers to the names that
programs are known to use, and so does `rocm-sdk run`, with links.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.installed.catalog import linker_name, rows_of, stem
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import Code
    from rocm_sdk.installed.shared_objects import SharedObject
    from rocm_sdk.problems import Problem

_CODE: Code = "N-LIB-027"


class OpenedName(NamedTuple):
    """A name that a file opens, and that no file has where the linker looks for it.

    opener is a path, or words for what opens it. present is the SDK's file with a version. shortname is the library
    that rocm_sdk has to load for an answer; None: neither that nor `rocm-sdk run` gives one.
    """

    opener: str
    name: str
    present: str
    shortname: str | None

    @property
    def answer(self) -> str:
        """What answers to the name, in words."""
        if self.shortname is None:
            return "nothing answers, unless ROCM_SDK_UNVERSIONED_NAMES=1"
        return f"`rocm-sdk run` answers, and a process in which rocm_sdk has loaded {self.shortname}"

    @property
    def text(self) -> str:
        """The same with the effect of a plain dlopen, in words."""
        return f"there is {os.path.basename(self.present)}: a plain dlopen finds nothing; {self.answer}"

    def as_problem(self, opener: str) -> Problem:
        """Return the note. opener: the file as the user knows it."""
        facts = {"needing": os.path.basename(opener), "name": self.name, "detail": self.text}
        return problem(_CODE, opener, **facts, shortname=self.shortname)


def opened_names(
    files: Iterable[str], libraries: Iterable[str], names: Iterable[str] = (), opener: str = ""
) -> list[OpenedName]:
    """Return the names that files open and for which there are only the SDK's files with a version, each once.

    libraries: the paths of the SDK's shared libraries. names: further ones, which `opener` opens.
    """
    own = tuple(dict.fromkeys(files))
    present: dict[str, str] = {}
    for path in (*libraries, *own):
        if ".so" in os.path.basename(path):
            present.setdefault(linker_name(os.path.basename(path)), path)
    found = _native.opened_names(own, tuple(names))
    return [
        OpenedName(file or opener, name, present[name], _shortname(name, file, present))
        for file, name, path in dict.fromkeys(found)
        if path is None and name in present
    ]


def of_objects(objects: Iterable[SharedObject]) -> list[OpenedName]:
    """Return the opened names of the SDK's shared objects, which have been read."""
    read = [each for each in objects if each.facts is not None]
    present = {linker_name(each.name): each.path for each in reversed(read)}
    answered = {name for name, _ in _native.answered_names()}
    found = []
    for each in read:
        own = linker_name((each.facts and each.facts.soname) or each.name)
        for name in (each.facts and each.facts.opened) or ():
            is_wanted = name in present and name != own and (name in answered or rows_of(name))
            if is_wanted and not each.finds(name) and _native.opened_names((), (name,))[0][2] is None:
                found.append(OpenedName(each.path, name, present[name], _shortname(name, each.path, present)))
    return found


def _shortname(name: str, file: str | None, present: dict[str, str]) -> str | None:
    """Return the library that rocm_sdk has to load; None if that does not help."""
    openers = [opener for answered, opener in _native.answered_names() if answered == name]
    if None in openers:
        return _shortname_of(name)
    own = linker_name(os.path.basename(file)) if file is not None else None
    known = next((each for each in openers if each == own), None) or next(
        filter(present.get, filter(None, openers)), ""
    )
    return _shortname_of(known) if known else None


def _shortname_of(name: str) -> str:
    rows = rows_of(name)
    return rows[0][0] if rows else stem(name)

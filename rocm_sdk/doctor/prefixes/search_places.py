"""The places where the libraries of a prefix look for each other.

Each place is in the search path of a library, or among the directories that the linker's configuration adds.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rocm_sdk.base.files import is_below
from rocm_sdk.base.search_path import expanded
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.shared_objects import SharedObject

# Directories in which packages are built; no installed library has a reason to name them.
_OF_BUILDS = ("/tmp", "/var/tmp", "/build", "/builddir")


class Entry(NamedTuple):
    """An entry of a search path."""

    text: str
    tag: str
    directory: str | None  # the one that the linker would search now; None if it is not known, or there is none
    fault: str | None  # the reason why it is wrong


def check_search(prefix: Prefix, objects: Sequence[SharedObject], recorder: Recorder) -> None:
    """Check the search path of each library, and whether the libraries find each other after the installation."""
    entries = {each.path: list(_entries(prefix, each)) for each in objects}
    names = {os.path.basename(path): os.path.dirname(path) for path in prefix.files if ".so" in path}
    wrong: dict[tuple[str, str, str], list[SharedObject]] = {}
    for each in objects:
        for entry in entries[each.path]:
            if entry.fault is not None:
                wrong.setdefault((entry.text, entry.tag, entry.fault), []).append(each)
            elif (mixed := _mixed(prefix, each, entry, names)) is not None:
                facts = {"library": each.name, "tag": entry.tag, "directory": f"{entry.text}, which has {mixed}"}
                recorder.say("W-LIB-011", each.path, **facts)
    for (text, tag, fault), found in wrong.items():
        detail = f"{fault}; {len(found) - 1:,} other libraries have it too" if len(found) > 1 else fault
        facts = {"library": found[0].name, "tag": tag, "directory": text or "the current directory", "detail": detail}
        recorder.bad("E-PREFIX-004", found[0].path, **facts, **prefix.facts)
    _check_needs(prefix, objects, entries, names, recorder)


def _entries(prefix: Prefix, each: SharedObject) -> Iterator[Entry]:
    if each.facts is None or each.search_path is None:
        return
    tag = "DT_RUNPATH" if each.facts.runpath else "DT_RPATH"
    for text in each.search_path.split(":"):
        directory = expanded(text, each.path)
        if directory is None:
            yield Entry(text, tag, None, None)
        elif not os.path.isabs(directory):
            yield Entry(text, tag, None, "it depends on the directory that a program is started in")
        else:
            yield _absolute(prefix, text, tag, os.path.normpath(directory))


def _absolute(prefix: Prefix, text: str, tag: str, path: str) -> Entry:
    """Return the entry of an absolute path.

    path: as the linker reads it now; with $ORIGIN it moves along with the library.
    """
    if "$" in text:
        path = prefix.installed(path)
    elif prefix.destdir and is_below(path, prefix.destdir):
        return Entry(text, tag, None, "it is below the staging directory, which will not exist there")
    here = prefix.here(path)
    if prefix.has(here) or os.path.isdir(here):
        # If others fill a directory of the prefix, that is not this library's fault.
        is_there = "$" in text or os.path.isdir(here) or bool(prefix.destdir and os.path.isdir(path))
        return Entry(text, tag, here if is_there else None, None if is_there else "there is no such directory")
    if any(is_below(path, place) for place in (*_OF_BUILDS, os.path.realpath(tempfile.gettempdir()))):
        return Entry(text, tag, None, "it is a directory of the machine where it was built")
    if os.path.isdir(path):
        return Entry(text, tag, path, None)
    return Entry(text, tag, None, "it is in neither the prefix nor the build root")


def _mixed(prefix: Prefix, each: SharedObject, entry: Entry, names: dict[str, str]) -> str | None:
    """Return a library that this one needs, that the prefix has, and that the entry finds in another ROCm instead.

    The result is None if there is none.
    """
    if entry.directory is None or prefix.has(os.path.realpath(entry.directory)) or prefix.has(entry.directory):
        return None
    if os.path.realpath(entry.directory) in prefix.searched_directories:
        return None
    needed = each.facts.needed if each.facts else ()
    present = (name for name in needed if name in names and os.path.exists(os.path.join(entry.directory, name)))
    # A link of the prefix may lead there, as in a tree of links to other prefixes.
    return next(
        (
            name
            for name in present
            if not os.path.samefile(os.path.join(entry.directory, name), os.path.join(names[name], name))
        ),
        None,
    )


def _check_needs(
    prefix: Prefix,
    objects: Iterable[SharedObject],
    entries: dict[str, list[Entry]],
    names: dict[str, str],
    recorder: Recorder,
) -> None:
    """Check whether each library that the prefix has is found by the libraries that need it."""
    # DT_RPATH, unlike DT_RUNPATH, also holds for the needs of the needed libraries.
    inherited = {entry.directory for found in entries.values() for entry in found if entry.tag == "DT_RPATH"}
    lost = []
    for each in objects:
        searched = {entry.directory for entry in entries[each.path]} | inherited
        directories = {os.path.realpath(path) for path in searched if path is not None} | {*prefix.searched_directories}
        for name in each.facts.needed if each.facts else ():
            if name not in names:
                continue
            if any(os.path.exists(os.path.join(directory, name)) for directory in directories):
                recorder.good(f"{each.name} finds {name}")
            else:
                lost.append((each, name))
    if lost:
        each, name = lost[0]
        more = f"; so it is with {len(lost) - 1:,} other needs" if len(lost) > 1 else ""
        directory = prefix.installed(names[name])
        facts = {"needing": each.name, "name": name, "directory": directory, "more": more}
        recorder.bad("W-PREFIX-006", prefix.root, **facts, **prefix.facts)

"""The reader that follows the texts of a CMake package as if a project asked for nothing else.

The reader finds the packages, paths and targets that the texts require or name. A value that only CMake can tell is
UNKNOWN, and nothing that depends on it counts.
"""

from __future__ import annotations

import fnmatch
import platform
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import cached_property
from itertools import islice, product
from sys import getsizeof
from typing import NamedTuple, Protocol

from .condition_truth import Asked, Truth, Word, truth_of
from .text_commands import UNKNOWN, Argument, Command, commands_of

PACKAGE, PATH, TARGET, FATAL = "package", "path", "target", "fatal"

# The properties of targets that name files and directories, and those that name targets, too.
_PATHS = re.compile(r"IMPORTED_(?:LOCATION|IMPLIB)(?:_\w+)?|INTERFACE_(?:SYSTEM_)?INCLUDE_DIRECTORIES")
_LINKS = re.compile(r"INTERFACE_LINK_LIBRARIES|IMPORTED_LINK_INTERFACE_LIBRARIES(?:_\w+)?")
_SCOPED = re.compile(r"(?:^|[^\w:.+-]|(?<!:):)(\w[\w.+-]*::[\w.+:-]+)")  # `a::b`, in `$<LINK_ONLY:a::b>` too
_OPTIONAL = re.compile(r"TARGET_EXISTS|TARGET_NAME_IF_EXISTS")
_REFERENCE = re.compile(r"\$(ENV|CACHE)?\{([^${}]*)\}")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")

# The variables that a project for this system has set, and an SDK of AMD.
_GIVEN = {
    **dict.fromkeys(("UNIX", "LINUX"), "1"),
    **dict.fromkeys(("WIN32", "APPLE", "MSVC", "MINGW", "CYGWIN", "MSYS", "ANDROID", "CMAKE_CROSSCOMPILING"), ""),
    **dict.fromkeys(("CMAKE_SYSTEM_NAME", "CMAKE_HOST_SYSTEM_NAME"), "Linux"),
    "CMAKE_SIZEOF_VOID_P": "8",
    "CMAKE_VERSION": "99.0",  # new enough for whatever a text may require
    "CMAKE_MAJOR_VERSION": "99",
    "HIP_PLATFORM": "amd",
}
_OF_PROJECTS = ("CMAKE_", "PROJECT_")  # the beginnings of variables that a project may have set
_PREFIX = "_IMPORT_PREFIX"  # in texts that CMake has written
# What the texts of an SDK may cost together: the characters of texts, arguments and values that are read, written or
# searched, and _THING for each command, argument, turn of a loop, value, word and file. docs/limits.md has the reason.
_COST = 200_000_000
_THING = 128
_SCANNED = 8  # characters that a skipped command costs
_LOOKED_UP = 8  # things that a look at a file costs
_MOST_DEEP = 24  # texts that include each other, and blocks
_MOST_LONG = 1 << 20  # characters of a value
_LONGEST_TEXT = 1 << 21
_MOST_OF_PATH = 1 << 12
_MOST_PLACES = 1000  # where a command looks for a file
_CLOSING = {each: f"end{each}" for each in ("if", "foreach", "while", "macro", "function", "block")}
_OF_PATHS = {"DIRECTORY", "PATH", "ABSOLUTE", "REALPATH", "NAME"}
# The files of the commands that find one, the words that begin a list of them, and their other words.
_FILES = {"find_library": ("lib@.so", "lib@.a", "@"), "find_path": ("@",), "find_program": ("@",)}
_LISTS = {"NAMES", "HINTS", "PATHS", "PATH_SUFFIXES", "DOC"}
_FLAG = re.compile(r"(?:NO|ONLY)_\w+|NAMES_PER_DIR|CMAKE_FIND_ROOT_PATH_BOTH|REQUIRED|OPTIONAL")
_OTHER_LIBRARIES = ("lib64", "lib32", "libx32", f"lib/{platform.machine()}-linux-gnu")  # where the system has them


class Need(NamedTuple):
    """A requirement of a text."""

    kind: str  # PACKAGE, PATH, TARGET; FATAL: CMake ends there
    file: str
    what: str  # the variable or property that names a path, else ""
    name: str  # of FATAL: the message


class _End(Enum):
    """The end of a block of commands."""

    GOES_ON = auto()
    RETURNS = auto()  # return()
    BREAKS = auto()  # break()
    CONTINUES = auto()  # continue()
    FAILS = auto()  # CMake stops there
    OPEN = auto()  # it goes on, or not


_LEAVING = {"return": _End.RETURNS, "break": _End.BREAKS, "continue": _End.CONTINUES}


class Place(Protocol):
    """The place of packages; paths are the ones under which CMake uses them."""

    @property
    def texts(self) -> Sequence[str]:
        """The paths of all CMake files."""

    def text(self, path: str) -> str | None:
        """Return the content of a file; None if it cannot be read."""

    def exists(self, path: str) -> bool | None:
        """Return whether there is a file or directory; None if nobody knows."""

    def is_link(self, path: str) -> bool | None:
        """Return whether a path is a link; None if nobody knows."""

    def names(self, path: str) -> Iterable[str] | None:
        """Return the names in a directory; None if nobody knows."""

    def has_package(self, name: str) -> bool | None:
        """Return whether there is a package that is not among the texts of the place; None if nobody knows."""


class Reader:
    """The requirements in the texts of a place that have been read so far."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._left = _COST
        self.texts = frozenset(place.texts)
        self._commands: dict[str, tuple[Command, ...]] = {}
        self.needs: dict[Need, None] = {}
        self.targets = set[str]()  # that any text defines
        self.read = set[str]()  # the texts that are certainly read
        self.unread: dict[str, None] = {}  # texts that are not read to their end
        self.prefixes: dict[str, str] = {}  # text -> the prefix that it has found

    def read_package(self, path: str, name: str) -> None:
        """Follow a text that find_package reads. name: the name of the package."""
        found = {"CMAKE_FIND_PACKAGE_NAME": name, f"{name}_FIND_REQUIRED": "1", f"{name}_DIR": posixpath.dirname(path)}
        found |= {f"{name}_VERSION{each}": UNKNOWN for each in ("", "_MAJOR", "_MINOR", "_PATCH", "_TWEAK", "_COUNT")}
        _Text(self, self._place, dict(_GIVEN | found), package=name).include(path, is_certain=True, depth=0)

    def read_text(self, path: str) -> None:
        """Read a text that no package certainly includes: variables that are set before it are not known.

        An exception is `x-targets-release.cmake`, which is for the prefix that `x-targets.cmake` has found.
        """
        parts = posixpath.basename(path).removesuffix(".cmake").split("-")
        stems = ("-".join(parts[:number]) for number in range(len(parts) - 1, 0, -1))
        texts = (f"{posixpath.dirname(path)}/{stem}.cmake" for stem in stems)
        known = next((self.prefixes[each] for each in texts if each in self.prefixes), UNKNOWN)
        text = _Text(self, self._place, {**_GIVEN, _PREFIX: known}, is_open=True)
        text.include(path, is_certain=True, depth=0)

    @cached_property
    def homes(self) -> dict[str, set[str]]:
        """The directories of the texts that define a target."""
        found = defaultdict[str, set[str]](set)
        for path in (each for each in self._place.texts if each.endswith(".cmake")):
            for command in self.commands(path):
                if command.name in {"add_executable", "add_library"}:
                    found["".join(each.text for each in command.arguments[:1])].add(posixpath.dirname(path))
        return found

    def commands(self, path: str) -> tuple[Command, ...]:
        """Return the commands of a text."""
        if path not in self._commands and self.spend(_LOOKED_UP):
            text = self._place.text(path) or ""
            if len(text) >= _LONGEST_TEXT:
                self.unread[path], text = None, ""
            self._commands[path] = tuple(commands_of(text, self.spend)) if self.spend(1, len(text)) else ()
        return self._commands.get(path, ())

    def spend(self, things: int = 1, characters: int = 0) -> bool:
        """Return whether this much more may be done: see _COST."""
        self._left -= things * _THING + characters
        return self._left >= 0


class _Text:
    """The variables of one package, and the effects of its commands on them."""

    def __init__(
        self, reader: Reader, place: Place, variables: dict[str, str], *, is_open: bool = False, package: str = ""
    ) -> None:
        """Keep the variables.

        is_open: whether variables that seem unset may be set. package: the name of the package; "": it is not known,
        and what the text asks for, and a message with which it ends, do not count.
        """
        self._reader, self._place, self._variables = reader, place, variables
        self._is_open, self._package = is_open, package
        self._targets = set[str]()
        self._bodies: dict[str, Sequence[Command]] = {}  # of macros and functions
        self._has_failed = False
        self._file = ""
        self._asked = Asked(self._value, self._has_target, self._exists, self._is_link)

    # ---- texts and blocks

    def include(self, path: str, *, is_certain: bool, depth: int) -> None:
        """Follow a text."""
        if depth > _MOST_DEEP:
            return
        if is_certain:
            self._reader.read.add(path)
        outer = self._file
        self._enter(path)
        self._block(self._reader.commands(path), is_certain=is_certain, depth=depth + 1)
        if not self._reader.spend(0):
            self._reader.unread[path] = None
        self._enter(outer)

    def _enter(self, path: str) -> None:
        self._file = path
        self._variables["CMAKE_CURRENT_LIST_FILE"] = path
        self._variables["CMAKE_CURRENT_LIST_DIR"] = posixpath.dirname(path)

    def _block(self, commands: Sequence[Command], *, is_certain: bool, depth: int) -> _End:
        """Follow commands, and return how they end."""
        at, end = 0, _End.GOES_ON
        while at < len(commands):
            command = commands[at]
            last = _end_of(commands, at) if command.name in _CLOSING else at
            if self._has_failed or not self._reader.spend(1, _SCANNED * (last - at)):
                return _End.OPEN
            if depth > _MOST_DEEP:
                self._reader.unread[self._file] = None
                return _End.OPEN
            after = self._step(commands[at : last + 1], is_certain=is_certain, depth=depth)
            if after not in {_End.GOES_ON, _End.OPEN}:
                return after if end is _End.GOES_ON else end
            if after is _End.OPEN:
                is_certain, end = False, after
            at = last + 1
        return end

    def _step(self, commands: Sequence[Command], *, is_certain: bool, depth: int) -> _End:
        """Follow one command, or a block with the command that closes it. Return how it ends."""
        command, inner = commands[0], commands[1:-1]
        if command.name in _LEAVING:
            return _LEAVING[command.name]
        if command.name == "message" and command.arguments[:1] == (Argument("FATAL_ERROR"),):
            if is_certain and self._package:
                text = "".join(self._arguments(command.arguments[1:])).replace(UNKNOWN, "...")
                self._need(FATAL, "", text[:_MOST_OF_PATH])
                self._has_failed = True
            return _End.FAILS
        if command.name == "if":
            return self._if(commands, is_certain=is_certain, depth=depth)
        if command.name == "foreach":
            return self._foreach(command, inner, is_certain=is_certain, depth=depth)
        if command.name in {"while", "block"}:
            self._block(inner, is_certain=False, depth=depth + 1)
            return _End.OPEN if any(each.name == "return" for each in inner) else _End.GOES_ON
        if command.name in _CLOSING:  # what a macro or function does when it is called is not followed
            self._bodies |= {name.lower(): inner for name in self._arguments(command.arguments[:1])}
            return _End.GOES_ON
        return self._run(command, is_certain=is_certain, depth=depth)

    def _if(self, commands: Sequence[Command], *, is_certain: bool, depth: int) -> _End:
        """Follow the branch that is taken, and return how it ends. Branches that may be taken count as uncertain."""
        ends = set[_End]()
        branches = _branches(commands)
        self._reader.spend(len(branches))
        for condition, block in branches:
            truth = truth_of(self._words(condition), self._asked) if condition is not None else True
            if truth is False:
                continue
            is_chosen = truth is True and not ends
            end = self._block(block, is_certain=is_certain and is_chosen, depth=depth + 1)
            if is_chosen:
                return end
            if end is not _End.FAILS:  # if CMake goes on, it has not been there
                ends.add(end)
            elif not ends:
                ends.add(_End.GOES_ON)
            if truth is True:
                break
        else:
            ends.add(_End.GOES_ON)
        return ends.pop() if len(ends) == 1 else _End.OPEN

    def _foreach(self, command: Command, block: Sequence[Command], *, is_certain: bool, depth: int) -> _End:
        words = self._arguments(command.arguments)
        name, values = (words[0] if words else ""), words[1:]
        if values[:1] == ["IN"]:
            kind, values = (values[1] if len(values) > 1 else ""), values[2:]
            if kind == "LISTS":
                values = [each for value in values for each in _listed(self._value(value) or "")]
            elif kind != "ITEMS":
                values = [UNKNOWN]
        elif values[:1] == ["RANGE"]:
            values = [UNKNOWN]
        end = _End.GOES_ON
        self._reader.spend(len(values))
        for value in values:
            if not self._reader.spend(0):
                return _End.OPEN
            self._variables[name] = value
            is_followed = end is _End.GOES_ON and UNKNOWN not in value
            after = self._block(block, is_certain=is_certain and is_followed, depth=depth + 1)
            if is_followed and after in {_End.BREAKS, _End.RETURNS, _End.FAILS}:
                end = after
                break
            if after not in {_End.GOES_ON, _End.CONTINUES}:
                end = _End.OPEN
        self._variables[name] = UNKNOWN
        return _End.GOES_ON if end is _End.BREAKS else end

    # ---- commands

    def _run(self, command: Command, *, is_certain: bool, depth: int) -> _End:
        words = self._arguments(command.arguments)
        known = _KNOWN.get(command.name)
        if known is not None:
            known(self, words, is_certain=is_certain)
        elif command.name == "include" and words:
            self._include(words, is_certain=is_certain, depth=depth)
        elif command.name in _FILES and words:
            self._assign(words[0], self._found(command.name, words), is_certain=is_certain)
        elif command.name not in _HARMLESS:
            body = self._bodies.get(command.name, ())
            words += [argument.text for each in body for argument in each.arguments]
            self._reader.spend(len(words))
            self._forget(filter(_IDENTIFIER.fullmatch, words))  # a word may be the name of a result
            self._is_open = self._is_open or bool(body) or command.name.startswith("cmake_")
            return _End.OPEN if any(each.name == "return" for each in body) else _End.GOES_ON
        return _End.GOES_ON

    def _include(self, words: Sequence[str], *, is_certain: bool, depth: int) -> None:
        if "RESULT_VARIABLE" in words[:-1]:
            self._variables[words[words.index("RESULT_VARIABLE") + 1]] = words[0]
        path = posixpath.normpath(words[0])
        if path.startswith("/") and UNKNOWN not in path:
            if "OPTIONAL" not in words:
                self._name_path("include", path, is_certain=is_certain)
            if path in self._reader.texts:
                self.include(path, is_certain=is_certain, depth=depth)
                return
        self._is_open = self._is_open or path not in _HARMLESS_MODULES

    def _set(self, words: Sequence[str], *, is_certain: bool) -> None:
        if not words or words[0].startswith("ENV{"):
            return
        name, values = words[0], list(words[1:])
        is_cached = "CACHE" in values
        if is_cached:
            is_free, values = "FORCE" not in values, values[: values.index("CACHE")]
            if is_free and self._value(name) is not None:
                return
        if values[-1:] == ["PARENT_SCOPE"]:
            return
        self._assign(name, ";".join(values) if values else None, is_certain=is_certain)

    def _set_and_check(self, words: Sequence[str], *, is_certain: bool) -> None:
        self._set(words, is_certain=is_certain)
        if len(words) > 1:
            self._name_path(words[0], ";".join(words[1:]), is_certain=is_certain)

    def _unset(self, words: Sequence[str], *, is_certain: bool) -> None:
        for name in words[:1]:
            self._assign(name, None, is_certain=is_certain)

    def _option(self, words: Sequence[str], *, is_certain: bool) -> None:
        if words and self._value(words[0]) is None:
            self._assign(words[0], words[2] if len(words) > 2 else "OFF", is_certain=is_certain)

    def _list(self, words: Sequence[str], *, is_certain: bool) -> None:
        if words[:1] == ["APPEND"] and len(words) > 1:
            old = self._value(words[1])
            value = ";".join((*([old] if old else []), *words[2:]))
            self._assign(words[1], value, is_certain=is_certain)
        else:
            for each in filter(_IDENTIFIER.fullmatch, words[1:]):
                self._variables[each] = UNKNOWN

    def _found(self, command: str, words: Sequence[str]) -> str:
        """Return the value that a command gives to a file's variable: UNKNOWN if the command also looks elsewhere."""
        old = self._variables.get(words[0]) if self._package else UNKNOWN
        if old is not None and not old.endswith("NOTFOUND"):
            return old or UNKNOWN
        if "NO_DEFAULT_PATH" not in words or {"PATHS", "HINTS"}.isdisjoint(words) or {"ENV", "VALIDATOR"} & {*words}:
            return UNKNOWN
        if max(map(len, words)) > _MOST_OF_PATH:
            return UNKNOWN
        kind, lists = "NAMES", defaultdict[str, list[str]](list)
        for word in words[1:]:
            kind = word if word in _LISTS else "" if _FLAG.fullmatch(word) else kind
            lists[kind] += [word] * (word not in _LISTS)
        # Places without `/` are the project's.
        roots = [each for each in lists["HINTS"] + lists["PATHS"] if each.startswith("/") or UNKNOWN in each]
        pairs = product(roots, [*lists["PATH_SUFFIXES"], ""])
        places = [f"{root}/{suffix}" for root, suffix in islice(pairs, _MOST_PLACES)]
        if command == "find_library":
            parts = ((each, at.span()) for each in places for at in re.finditer("/lib(?=/)", each))
            lib = product(islice(parts, _MOST_PLACES), _OTHER_LIBRARIES)
            places += [f"{each[:start]}/{name}{each[end:]}" for (each, (start, end)), name in lib]
        if len(places) >= _MOST_PLACES or not self._reader.spend(len(places), sum(map(len, places))):
            return UNKNOWN
        for name, place, text in product(lists["NAMES"], places, _FILES[command]):
            path = _normal(f"{place}/{text.replace('@', name)}")
            is_there = self._may_exist(path)
            if is_there is not False:
                return UNKNOWN if is_there is None else _normal(place) if command == "find_path" else path
        return f"{words[0]}-NOTFOUND"

    def _may_exist(self, path: str) -> Truth:
        """Return whether there is a file, whose name may have parts that only CMake can tell."""
        place, name = posixpath.split(path)
        if UNKNOWN not in path:
            return self._exists(path)
        names = self._place.names(place) if UNKNOWN not in place and self._reader.spend(_LOOKED_UP) else None
        # Patterns are made for the name.
        if names is None or not self._reader.spend(len(names := list(names)) + len(name)):
            return None
        return None if fnmatch.filter(names, name.replace(UNKNOWN, "*")) else False

    def _component(self, words: Sequence[str], *, is_certain: bool) -> None:
        """Run get_filename_component."""
        if len(words) < 3 or words[2] not in _OF_PATHS or "BASE_DIR" in words or UNKNOWN in words[1]:
            self._forget(words[:1])
            return
        path = words[1]
        if words[2] in {"DIRECTORY", "PATH"}:
            path = posixpath.dirname(path)
        elif words[2] == "NAME":
            path = posixpath.basename(path)
        elif path.startswith("/") and (words[2] == "ABSOLUTE" or self._is_link(path) is False):
            path = _normal(path)
        else:
            path = UNKNOWN
        self._assign(words[0], path, is_certain=is_certain)

    def _file_command(self, words: Sequence[str], *, is_certain: bool) -> None:
        """Run file(GLOB)."""
        found = self._globbed(words[2:]) if words[:1] == ["GLOB"] and len(words) > 2 else None
        if found is not None:
            self._assign(words[1], ";".join(sorted(found)), is_certain=is_certain)
        else:
            self._forget(filter(_IDENTIFIER.fullmatch, words[1:]))

    def _globbed(self, patterns: Sequence[str]) -> set[str] | None:
        """Return the paths that fit one of the patterns; None if nobody knows."""
        globbed = set[str]()
        for pattern in patterns:
            if not pattern.startswith("/") or UNKNOWN in pattern or len(pattern) > _MOST_OF_PATH:
                return None
            found = [""]
            for part in _normal(pattern).split("/")[1:]:
                listed: list[str] = []
                for path in found:
                    names = self._place.names(path or "/") if set("*?[") & set(part) else (part,)
                    names = tuple(names) if names is not None else None
                    if names is None or not self._reader.spend(len(names) + len(part), len(names) * len(path)):
                        return None
                    listed += (f"{path}/{name}" for name in names if fnmatch.fnmatchcase(name, part))
                found = listed
            globbed.update(found)
        there = {path: self._exists(path) for path in globbed}
        return None if None in there.values() else {path for path in there if there[path]}

    def _require(self, words: Sequence[str], *, is_certain: bool) -> None:
        """Run find_dependency."""
        if words and UNKNOWN not in words[0] and is_certain and self._package:
            self._need(PACKAGE, "", words[0])
        self._forget(each for word in words[:1] for each in (f"{word}_FOUND", f"{word}_DIR", f"{word}_VERSION"))
        self._is_open = True  # the package may set any variable

    def _find_package(self, words: Sequence[str], *, is_certain: bool) -> None:
        self._require(words, is_certain=is_certain and "REQUIRED" in words)

    def _add_target(self, words: Sequence[str], *, is_certain: bool) -> None:
        for name in words[:1]:
            self._reader.targets.add(name)
            if is_certain:
                self._targets.add(name)
            if "ALIAS" in words[:2] and len(words) > 2:
                self._name_targets(words[2], is_certain=is_certain)

    def _set_properties(self, words: Sequence[str], *, is_certain: bool) -> None:
        """Run set_target_properties, and set_property with one property."""
        if "PROPERTIES" in words:
            pairs = words[words.index("PROPERTIES") + 1 :]
            for name, value in zip(pairs[::2], pairs[1::2], strict=False):
                self._name_by_property(name, value, is_certain=is_certain)
        elif words[:1] == ["TARGET"] and "PROPERTY" in words[:-1]:
            at = words.index("PROPERTY") + 1
            self._name_by_property(words[at], ";".join(words[at + 1 :]), is_certain=is_certain)

    def _name_by_property(self, name: str, value: str, *, is_certain: bool) -> None:
        if _PATHS.fullmatch(name) is not None:
            self._name_path(name, value, is_certain=is_certain)
        elif _LINKS.fullmatch(name) is not None:
            self._name_path(name, value, is_certain=is_certain)
            self._name_targets(value, is_certain=is_certain)

    def _name_path(self, what: str, value: str, *, is_certain: bool) -> None:
        each_of = value.split(";")
        is_certain = is_certain and self._reader.spend(len(each_of), len(value))
        for each in each_of:
            is_path = each.startswith("/") and not set(f"{UNKNOWN}$@*") & set(each)
            if is_certain and is_path:
                self._need(PATH, what, _normal(each))

    def _name_targets(self, value: str, *, is_certain: bool) -> None:
        for each in _SCOPED.findall(value) if is_certain and _OPTIONAL.search(value) is None else ():
            self._need(TARGET, "", each)

    def _need(self, kind: str, what: str, name: str) -> None:
        if len(what) + len(name) <= _MOST_OF_PATH and self._reader.spend(_LOOKED_UP, len(name)):
            self._reader.needs[Need(kind, self._file, what, name)] = None

    # ---- values

    def _value(self, name: str) -> str | None:
        """Return the value of a variable, which may be UNKNOWN; None if it is not set."""
        value = self._variables.get(name)
        if value is not None:
            return value if self._reader.spend(1, len(value)) else UNKNOWN
        return UNKNOWN if self._is_open or name.startswith(_OF_PROJECTS) or UNKNOWN in name else None

    def _assign(self, name: str, value: str | None, *, is_certain: bool) -> None:
        """Set a variable. value: None unsets it. A variable that may be set or not is UNKNOWN."""
        if not is_certain and self._variables.get(name) != value:
            value = UNKNOWN
        if name == _PREFIX and value and UNKNOWN not in value:
            self._reader.prefixes[self._file] = value
        if value is None:
            value = "" if self._is_open or name.startswith(_OF_PROJECTS) else None
        if value is None:
            self._variables.pop(name, None)
        else:
            is_kept = len(value) <= _MOST_LONG and self._reader.spend(1, 2 * getsizeof(value))
            self._variables[name] = value if is_kept else UNKNOWN

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._variables[name] = UNKNOWN

    def _has_target(self, name: str) -> Truth:
        if name not in self._targets and self._is_open and self._package:  # a package that was found may have it
            return False if self._reader.homes.get(name) == {posixpath.dirname(self._file)} else None
        return name in self._targets  # a text that asks this may be the first to be read

    def _is_link(self, path: str) -> Truth:
        return self._place.is_link(_normal(path)) if self._is_looked_up(path) else None

    def _exists(self, path: str) -> Truth:
        return self._place.exists(_normal(path)) if self._is_looked_up(path) else None

    def _is_looked_up(self, path: str) -> bool:
        return path.startswith("/") and len(path) <= _MOST_OF_PATH and self._reader.spend(_LOOKED_UP, len(path))

    def _words(self, arguments: Iterable[Argument]) -> list[Word]:
        """Return the arguments of if()."""
        return [
            Word(word, argument.is_quoted)
            for argument in arguments
            for word in ([argument.text] if argument.text in {"(", ")"} else self._expanded(argument))
        ]

    def _arguments(self, arguments: Iterable[Argument]) -> list[str]:
        return [word for argument in arguments for word in self._expanded(argument)]

    def _expanded(self, argument: Argument) -> list[str]:
        """Return the words that CMake makes of an argument."""
        text = argument.text
        if not argument.is_literal:
            for _ in range(_MOST_DEEP):
                if "{" not in text or (replaced := _REFERENCE.sub(self._replaced, text)) == text:
                    break
                is_kept = len(replaced) <= _MOST_LONG and self._reader.spend(1, len(text))
                text = replaced if is_kept else UNKNOWN
        words = [text] if argument.is_quoted else _listed(text)
        self._reader.spend(len(words), len(text))
        return words

    def _replaced(self, match: re.Match[str]) -> str:
        if match[1] is not None or UNKNOWN in match[2]:
            return UNKNOWN
        value = self._value(match[2])
        return "" if value is None else value


def _listed(value: str) -> list[str]:
    return [each for each in value.split(";") if each]


def _normal(path: str) -> str:
    return posixpath.normpath(f"/{path.lstrip('/')}")


def _end_of(commands: Sequence[Command], at: int) -> int:
    """Return the position of the end of the block that begins at a command; the last command if there is no end."""
    name, depth = commands[at].name, 0
    for position in range(at, len(commands)):
        depth += (commands[position].name == name) - (commands[position].name == _CLOSING[name])
        if depth == 0:
            return position
    return len(commands) - 1


def _branches(commands: Sequence[Command]) -> list[tuple[tuple[Argument, ...] | None, Sequence[Command]]]:
    """Return the conditions of an if() with their commands; the condition of else() is None."""
    branches: list[tuple[tuple[Argument, ...] | None, Sequence[Command]]] = []
    begin, depth = 0, 0
    for position, command in enumerate(commands):
        depth += (command.name == "if") - (command.name == "endif")
        is_next = depth == 1 and command.name in {"elseif", "else"}
        if is_next or depth == 0 or position == len(commands) - 1:
            first = commands[begin]
            condition = None if first.name == "else" else first.arguments
            branches.append((condition, commands[begin + 1 : position]))
            begin = position
    return branches


_KNOWN: dict[str, Callable[..., None]] = {
    "add_executable": _Text._add_target,
    "add_library": _Text._add_target,
    "file": _Text._file_command,
    "find_dependency": _Text._require,
    "find_package": _Text._find_package,
    "get_filename_component": _Text._component,
    "list": _Text._list,
    "option": _Text._option,
    "set": _Text._set,
    "set_and_check": _Text._set_and_check,
    "set_property": _Text._set_properties,
    "set_target_properties": _Text._set_properties,
    "unset": _Text._unset,
}
_HARMLESS = {
    *("check_required_components", "cmake_minimum_required", "cmake_policy", "include_guard"),
    *("mark_as_advanced", "message", "target_compile_definitions", "target_include_directories"),
    *("target_link_libraries", "target_compile_options", "target_compile_features", "endif", "else", "elseif"),
}
_HARMLESS_MODULES = {"CMakeFindDependencyMacro", "CMakePackageConfigHelpers", "GNUInstallDirs"}

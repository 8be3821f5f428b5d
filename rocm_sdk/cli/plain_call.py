"""The options of a plain call, without argparse, whose import takes longer than most commands.

A plain call has names, and options that are written in full, each with one value at most, which is any text except the
empty one: `path --root`, `code FILE`, `check-gpu --gpu gfx942`. The options come from the same add_arguments(parser)
that argparse reads. Any other call, wrong usage included, is left to argparse.
"""

from rocm_sdk.terminal.output_options import add_output_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_FLAGS = {"store_true": True, "store_const": None}  # action -> the value that it gives; None: its `const`
_COUNTS = {None: (1, 1), "?": (0, 1), "*": (0, 1 << 30), "+": (1, 1 << 30)}  # nargs -> fewest and most words


class Options:
    """The options by their names, as argparse.Namespace has them."""

    quiet: bool
    verbose: bool
    progress: bool
    color: str
    typed: list[str]

    def __init__(self, **values: "Any") -> None:
        self.__dict__.update(values)


class _NotPlainError(Exception):
    """The error for a command or a call that needs argparse."""


class _Group:
    """A group of options of which a call has at most one, or exactly one."""

    def __init__(self, recorder: "_Recorder", required: bool) -> None:
        self.recorder = recorder
        self.required = required
        self.members: list[str] = []

    def add_argument(self, *names: str, **settings: "Any") -> None:
        self.members.append(self.recorder.add_argument(*names, **settings))


class _Recorder:
    """A recorder that takes the arguments of a command instead of an ArgumentParser."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.flags: dict[str, tuple[str, Any]] = {}  # option -> its name among the values, and the value that it gives
        self.settings: dict[str, tuple[str, bool]] = {}  # option with a value -> its name, whether values add up
        self.names: list[tuple[str, str | None]] = []  # arguments without an option: name, nargs
        self.groups: list[_Group] = []

    def add_argument(self, *names: str, **settings: "Any") -> str:
        action, default = settings.get("action", "store"), settings.get("default")
        if not names[0].startswith("-"):
            if "choices" in settings or "type" in settings or settings.get("nargs") not in _COUNTS:
                raise _NotPlainError
            self.names.append((names[0], settings.get("nargs")))
            self.values[names[0]] = [] if settings.get("nargs") == "*" and default is None else default
            return names[0]
        long = next((name for name in names if name.startswith("--")), names[0])
        name = settings.get("dest") or long.lstrip("-").replace("-", "_")
        if isinstance(default, str) and "type" in settings:
            raise _NotPlainError  # argparse converts it
        self.values.setdefault(name, False if action == "store_true" and default is None else default)
        if action in _FLAGS and "nargs" not in settings:
            self.flags.update(dict.fromkeys(names, (name, settings.get("const", _FLAGS[action]))))
        elif action in ("store", "append") and not settings.keys() & {"nargs", "type", "choices"}:
            self.settings.update(dict.fromkeys(names, (name, action == "append")))
        return str(name)

    def add_argument_group(self, *_title: str) -> "_Recorder":
        return self

    def add_mutually_exclusive_group(self, required: bool = False) -> _Group:
        self.groups.append(_Group(self, required))
        return self.groups[-1]

    def set_defaults(self, **values: "Any") -> None:
        self.values.update(values)


def plain_options(module: "ModuleType", words: list[str]) -> Options | None:
    """Return the options of a call with these words; None if argparse has to parse them."""
    recorder = _Recorder()
    given: list[str] = []
    positional: list[str] = []
    try:
        module.add_arguments(recorder)
        add_output_options(recorder)  # type: ignore[arg-type]
    except _NotPlainError:
        return None
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            positional.append(word)
        elif word in recorder.flags:
            name, recorder.values[name] = recorder.flags[word]
            given.append(name)
        elif option in recorder.settings and option.startswith("--"):
            value = value if equals else next(rest, "-")
            if not value or (value.startswith("-") and not equals):
                return None
            name, is_list = recorder.settings[option]
            recorder.values[name] = [*(recorder.values[name] or ()), value] if is_list else value
            given.append(name)
        else:
            return None
    if not _take_names(recorder, positional, given):
        return None
    for group in recorder.groups:
        count = sum(given.count(name) for name in dict.fromkeys(group.members))
        if count > 1 or (group.required and count == 0):
            return None
    return Options(**recorder.values)


def _take_names(recorder: _Recorder, words: list[str], given: list[str]) -> bool:
    """Give the words to the one argument that takes them. Return False if they do not fit it, or there are several."""
    if len(recorder.names) > 1 or "" in words:
        return False
    for name, nargs in recorder.names:
        fewest, most = _COUNTS[nargs]
        if not fewest <= len(words) <= most:
            return False
        if words:
            recorder.values[name] = words if nargs in ("*", "+") else words[0]
            given.append(name)
        return True
    return not words

"""`rocm-sdk run COMMAND...`: starts a program outside of Python, which finds this SDK's libraries and tools.

The process becomes the program: no shell, and nothing between it and its signals. Of its environment two variables
change, LD_LIBRARY_PATH and PATH.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from rocm_sdk._native import load_plan, package_directory

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk run ./saxpy --size 1000"
DESCRIPTION = """\
Start a program that finds this SDK's libraries and tools: their directories come first in LD_LIBRARY_PATH and PATH.
Nothing else in its environment changes. Exit status 127: there is no such program; 126: it cannot be started; else
the program's own."""

_TOOL_DIRECTORIES = ("bin", "lib/llvm/bin")


def add_arguments(parser: "ArgumentParser") -> None:
    """The program and its arguments."""
    from argparse import REMAINDER

    parser.add_argument("program", metavar="COMMAND", help="a program, looked for in the SDK's tools, then in PATH")
    parser.add_argument("arguments", nargs=REMAINDER, metavar="ARGUMENT", help="its arguments, options included")


def run(options: "Namespace") -> int:
    """Becomes the program. Returns only if that fails: 127 or 126, as shells do."""
    environment = _own_environment()
    _prepend(environment, b"LD_LIBRARY_PATH", library_directories())
    _prepend(environment, b"PATH", tool_directories())
    try:
        _become([options.program, *options.arguments], environment)
    except (FileNotFoundError, NotADirectoryError):
        print(f"rocm-sdk: {options.program}: no such program in the SDK or in PATH", file=sys.stderr)
        return 127
    except OSError as error:
        print(f"rocm-sdk: {options.program}: {error.strerror}", file=sys.stderr)
        return 126


def library_directories() -> list[str]:
    """Directories in which a program has to look: those of all libraries, and where their own RPATHs do not lead the
    linker to what they need, the directories of that too."""
    from .installed_libraries import installed_libraries

    steps = load_plan(*installed_libraries()).steps
    paths = [step.path for step in steps]
    paths += [member for step in steps if step.method == "anchor" for member in step.members]
    return list(dict.fromkeys(map(os.path.dirname, paths)))


def tool_directories() -> list[str]:
    """Directories of programs: of the development tree, if it has been expanded, and of the core package."""
    roots = [package_directory("core")]
    with suppress(ModuleNotFoundError):
        roots.insert(0, package_directory("devel"))
    places = (f"{root}/{directory}" for directory in _TOOL_DIRECTORIES for root in roots)
    return [place for place in places if os.path.isdir(place)]


def _own_environment() -> dict[bytes, bytes]:
    """What this process was started with: Python may have added LC_CTYPE to os.environ."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    return {name: value for name, equals, value in (entry.partition(b"=") for entry in entries) if equals}


def _prepend(environment: dict[bytes, bytes], name: bytes, directories: list[str]) -> None:
    entries = [*map(os.fsencode, directories), *filter(None, [environment.get(name)])]
    if entries:
        environment[name] = b":".join(entries)


def _become(words: list[str], environment: dict[bytes, bytes]) -> NoReturn:
    sys.stdout.flush()
    # Python ignores these, and what is ignored stays so across an exec.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execvpe(words[0], words, environment)

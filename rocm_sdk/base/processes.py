"""The one way to start an interpreter or another program, for both distributions.

The current directory may be another user's. Nothing runs from it unless the user named it: no module that Python or a
program imports by name, no program that is found through PATH, no library that the linker looks for by name. A lint
(ruff's banned-api in pyproject.toml) refuses every other start.

- `question` asks an interpreter, which takes nothing from the environment and the user's site-packages.
- `own_code` runs our own code in this interpreter, with the same modules.
- `module_command` runs a module as `python -m` does. `-m` itself takes modules from the current directory, and before
  Python 3.11 no option changes that: there the interpreter imports runpy from it first.
"""

from __future__ import annotations

import errno
import os
import sys

from .named_tuple import NamedTuple
from .search_path import entries_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import IO, NoReturn

# The directory of this package, for an interpreter that is to import it.
PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# For an interpreter without -P. The first entry is the current directory, from which nothing is imported yet. Python
# 3.13 would import linecache from it before the first line of -c.
_WITHOUT_CURRENT_DIRECTORY = "import sys; del sys.path[0]"
_MODULE = "import runpy; runpy.run_module({!r}, run_name='__main__', alter_sys=True)"
_FIRST_WITH_SAFE_PATH = 11  # the minor version whose interpreter has -P

# Variable -> the beginnings of entries that do not depend on the current directory. The linker replaces $ORIGIN.
_LISTS = {
    "PATH": ("/",),
    "PYTHONPATH": ("/",),
    "LD_LIBRARY_PATH": ("/", "$ORIGIN", "${ORIGIN}"),
}
_SECONDS_BETWEEN = 0.5  # between two looks at a watched program
_DROPPED = ("PYTHONINSPECT",)  # at a terminal, Python 3.10 imports readline then, before the first line of our code


class Done(NamedTuple):
    """The end of a program: its exit status, negative for a signal, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


# ---- commands


def question(python: str, code: str, *arguments: str) -> list[str]:
    """Return the command that asks an interpreter, without the user's site-packages and variables for Python."""
    return [python, "-I", "-c", code, *arguments]


def own_code(code: str, *arguments: str) -> list[str]:
    """Return the command that runs code in a new interpreter with the same modules. sys.argv[1:] are the arguments."""
    if _has_safe_path(sys.version_info[1]):
        return [sys.executable, "-P", "-c", code, *arguments]
    return [sys.executable, "-c", f"{_WITHOUT_CURRENT_DIRECTORY}\n{code}", *arguments]


def module_command(name: str, *arguments: str, python: str | None = None, minor: int | None = None) -> list[str]:
    """Return the command that runs a module as a program.

    minor: the minor version of the interpreter's Python 3. python and minor are both None for this interpreter.
    """
    python = python or sys.executable
    if _has_safe_path(sys.version_info[1] if minor is None else minor):
        return [python, "-P", "-m", name, *arguments]
    return [python, "-c", f"{_WITHOUT_CURRENT_DIRECTORY}; {_MODULE.format(name)}", *arguments]


def _has_safe_path(minor: int) -> bool:
    return minor >= _FIRST_WITH_SAFE_PATH


# ---- programs by name


def search_path(text: str | None = None) -> list[str]:
    """Return the directories in which programs are looked for, without relative entries.

    text: a list in the form of PATH; None: PATH.
    """
    return _absolute("PATH", os.environ.get("PATH", os.defpath) if text is None else text)


def find_program(name: str, *further: str, path: str | None = None) -> str | None:
    """Return the absolute path of a program in PATH, or in further directories; None if there is none.

    path: replaces PATH. A name with a slash is a path, which the user chose. shutil.which does the same; its module
    imports re.
    """
    directories = [""] if "/" in name else [*search_path(path), *further]
    places = (os.path.abspath(os.path.join(directory, name)) for directory in directories)
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), None)


# ---- environment


def environment(added: Mapping[str, str] | None = None, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of a process that we start. base: variables to use instead of this process's."""
    variables = {**(os.environ if base is None else base), **(added or {})}
    for name in _DROPPED:
        variables.pop(name, None)
    for name in _LISTS:
        if name not in variables:
            continue
        entries = _absolute(name, variables[name])
        if entries:
            variables[name] = ":".join(entries)
        else:
            del variables[name]
    return variables


def _absolute(name: str, text: str) -> list[str]:
    """Return the entries of a list that do not depend on the current directory."""
    return [entry for entry in entries_of(name, text) if entry.startswith(_LISTS[name])]


# ---- starts


def run(
    command: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    base: Mapping[str, str] | None = None,
    directory: str | None = None,
    given: str | None = None,
    seconds: float | None = None,
    watch: Callable[[int], None] | None = None,
) -> Done:
    """Run a program, and return how it ended and what it printed.

    variables: additions to the environment. base: the environment to start from, instead of ours. directory: the
    program's current directory. given: its standard input, empty by default. seconds: a time limit; then it is killed,
    with TimeoutError. watch: called with its process ID every half second. Raises OSError if it cannot be started.
    """
    from contextlib import suppress
    from subprocess import DEVNULL, PIPE, TimeoutExpired

    stdin, unsent = (DEVNULL, None) if given is None else (PIPE, given.encode(errors="replace"))
    whole = environment(variables, base)
    with begin(command, base=whole, directory=directory, stdin=stdin, stdout=PIPE, stderr=PIPE) as process:
        try:
            while True:
                with suppress(TimeoutExpired):
                    printed = process.communicate(unsent, timeout=seconds if watch is None else _SECONDS_BETWEEN)
                    texts = (text.decode(errors="replace").replace("\r\n", "\n") for text in printed)
                    return Done(process.returncode, *texts)
                if watch is None:
                    raise TimeoutError(f"it did not end within {seconds:g} s")
                watch(process.pid)
                unsent = None  # the first call has taken it
        except BaseException:
            process.kill()
            raise


def number_of(process: int, name: str, key: str) -> int:
    """Return a number from a file of a process in /proc, such as "wchar:" of `io`; 0 if it is not there."""
    try:
        with open(f"/proc/{process}/{name}", encoding="utf-8", errors="replace") as file:
            return int(file.read().partition(key)[2].split()[0])
    except (OSError, IndexError):
        return 0


def run_shown(
    command: Sequence[str],
    *,
    base: Mapping[str, str] | None = None,
    directory: str | None = None,
    output: IO[str] | None = None,
    heard: bytearray | None = None,
    watch: Callable[[int], None] | None = None,
) -> int:
    """Run a program at the user's terminal, and return its exit status. output: its standard output instead of ours.

    heard: gets the last part of what the program writes to its standard error, which is also shown. watch: called with
    its process ID at least every half second.
    """
    from contextlib import suppress
    from select import select

    ends: Sequence[int] = () if heard is None else os.openpty() if os.isatty(2) else os.pipe()
    with begin(command, base=base, directory=directory, stdout=output, stderr=ends[1] if ends else None) as process:
        for each in ends[1:]:
            os.close(each)
        while process.returncode is None:
            with suppress(KeyboardInterrupt):  # the program gets the signal too, and decides what to do
                with suppress(OSError):  # the end of a terminal
                    while heard is not None and ends:
                        if watch is not None:
                            watch(process.pid)
                        if not select(ends[:1], [], [], _SECONDS_BETWEEN)[0]:
                            continue
                        if not (chunk := os.read(ends[0], 1 << 16)):
                            break
                        os.write(2, chunk)
                        heard[:] = (heard + chunk)[-(1 << 20) :]
                for each in ends[:1]:
                    os.close(each)
                ends = ()
                process.wait()
        return process.returncode


def begin(
    command: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    base: Mapping[str, str] | None = None,
    directory: str | None = None,
    stdin: int | None = None,
    stdout: int | IO[str] | None = None,
    stderr: int | None = None,
    kept: Collection[int] = (),
    session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a process; the caller takes its output and waits for its end. Raise OSError.

    kept: descriptors that the process gets under the same numbers. session: whether the process gets a session of its
    own.
    """
    import subprocess

    whole = environment(variables, base)
    return subprocess.Popen(
        command,
        executable=_executable(command[0], whole),
        env=whole,
        cwd=directory,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=tuple(kept),
        start_new_session=session,
    )


def become(command: list[str], variables: Mapping[bytes, bytes]) -> NoReturn:
    """Become a program, with exactly these variables, which are the user's. Raise OSError.

    The program is looked for in their PATH, without entries that depend on the current directory.
    """
    path = os.fsdecode(variables.get(b"PATH", os.fsencode(os.defpath)))
    os.execve(_executable(command[0], {"PATH": path}), command, variables)


def _executable(name: str, variables: Mapping[str, str]) -> str:
    """Return the file of a program. Raise OSError as execvp does."""
    if "/" in name:
        return name
    path = variables.get("PATH", os.defpath)
    found = find_program(name, path=path)
    if found is None:
        is_there = any(os.path.isfile(os.path.join(directory, name)) for directory in search_path(path))
        code = errno.EACCES if is_there else errno.ENOENT
        raise OSError(code, os.strerror(code), name)
    return found

"""The texts that the command writes for people. A text may contain anything from a file, so it is made harmless here.

Output for programs (a path, flags, JSON, a graph) is printed as it is, quoted for its reader.
"""

import sys

from rocm_sdk.base.given import given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from rocm_sdk.errors import RocmSdkError

    from .style import Style


def tell(line: str) -> None:
    """Write a line to stdout."""
    from rocm_sdk.base.value_text import harmless  # here: most commands write nothing of the kind

    print(harmless(line), flush=True)


def tell_wrapped(text: str, start: str = "") -> None:
    """Write a line to stdout: `start` and a text. On a terminal, a long one continues below, indented."""
    from rocm_sdk.base.value_text import harmless

    from .style import width_of, wrapped

    indent = " " * (len(start) - len(start.lstrip(" ")) + 2)
    for part in wrapped(harmless(text), width_of(sys.stdout), indent, start):
        tell(part)


def tell_fix(fix: str, is_command: bool, place: int = 2, label: str = "fix") -> None:
    """Write a fix to stdout, from a column on; a command can still be pasted into a shell."""
    from rocm_sdk.base.value_text import harmless

    from .style import column_of, width_of, wrapped_fix

    columns = width_of(sys.stdout)
    indent = " " * column_of(place, columns)
    for part in wrapped_fix(f"{indent}{label}: ", harmless(fix), columns, f"{indent}  ", is_command=is_command):
        tell(part)


def tell_row(first: str, text: str, paint: "tuple[Style, Style]" = (str, str)) -> None:
    """Write a row of two cells to stdout. The second is a text that continues below like the last one of `tell_table`.

    paint: the functions that paint the cells.
    """
    from rocm_sdk.base.value_text import harmless

    from .style import row_lines, width_of

    for line in row_lines(harmless(first), harmless(text), width_of(sys.stdout)):
        print("".join(painted(cell) for painted, cell in zip(paint, line) if cell), flush=True)  # noqa: B905


def tell_table(headings: "Sequence[str]", rows: "Iterable[Sequence[str]]", numbers: "Container[str]") -> None:
    """Write a table to stdout. numbers: the headings of columns that are aligned to the right, such as sizes.

    On a terminal, the text of the last column continues below if it would be too long.
    """
    table = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.rjust(width) if heading in numbers else cell.ljust(width)
            for heading, cell, width in zip(headings, row, widths, strict=True)
        ]
        if headings[-1] in numbers:
            tell("  ".join(cells))
        else:
            tell_row("  ".join(cells[:-1]), row[-1])


def saying(
    headings: "Sequence[str]", rows: "Sequence[Sequence[str]]", nothing: "Container[str]" = ("", "-")
) -> "tuple[list[str], list[list[str]]]":
    """Return a table without the columns in which no row says anything. nothing: the cells that say nothing."""
    said = [any(row[column] not in nothing for row in rows) for column in range(len(headings))]
    kept = [column for column, says in enumerate(said) if says]
    return [headings[column] for column in kept], [[row[column] for column in kept] for row in rows]


def tell_json(schema: int, **content: object) -> None:
    """Write a document for programs, as docs/json.md describes it. schema: counted up when a meaning changes."""
    import json

    print(json.dumps({"schema": schema, **content}, indent=2))


def complain(message: str, fix: str | None = None) -> None:
    """Write a message to stderr, and in a second line what to do. On a terminal, both are wrapped between words."""
    from rocm_sdk.base.value_text import harmless, without_passwords

    from .style import width_of, wrapped

    text = harmless(without_passwords(message))
    print("\n".join(wrapped(text, width_of(sys.stderr), "  ", f"{given.program}: ")), file=sys.stderr)
    if fix is not None:
        complain_fix(fix)


def complain_of(error: "RocmSdkError") -> None:
    """Write an exception of this package to stderr: message, code and fix."""
    complain(f"{error.message} [{error.code}]", error.fix)


def status_of(error: "RocmSdkError", words: "Iterable[str]" = ()) -> int:
    """Return the exit status for an exception.

    The status is 2 for wrong usage, which is a word of the command line that means nothing, else 1. words: the words
    that may name files, also in the form --option=FILE.
    """
    from rocm_sdk.errors import LibraryNotFoundError, UnknownLibraryError, UnknownTargetError

    named = {name for word in words for name in (word, word.partition("=")[2])}
    is_absent = isinstance(error, LibraryNotFoundError) and error.path in named
    return 2 if is_absent or isinstance(error, (UnknownLibraryError, UnknownTargetError)) else 1


def status_of_system_error(error: OSError, words: "Iterable[str]") -> int:
    """Return the exit status for a system error.

    The status is 2 if a file that the command line names does not exist, else 1.
    """
    named = {name for word in words for name in (word, word.partition("=")[2])}
    is_absent = isinstance(error, (FileNotFoundError, NotADirectoryError)) and str(error.filename) in named
    return 2 if is_absent else 1


def attempt(name: str, work: "Callable[[], None]") -> int:
    """Do work on a file of this name, complain if it fails, and return the exit status."""
    from rocm_sdk.errors import RocmSdkError

    try:
        work()
    except RocmSdkError as error:
        complain_of(error)
        return status_of(error, (name,))
    except OSError as error:
        if is_of_output(error):
            raise
        complain(*explained(error, name))
        return status_of_system_error(error, (name,))
    return 0


def explained(error: OSError, name: object = None) -> "tuple[str, str | None]":
    """Return the words of a system error about the file that it names, and what to do.

    name: the file of an error that names none. The second is None if nothing is known to help.
    """
    import os

    if place := error.filename or name:
        return f"{place}: {error.strerror}", fix_of_error(error)
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except FileNotFoundError:
            return "the current directory was removed", "change to one that is there"
    return str(error), None


def fix_of_error(error: OSError) -> str | None:
    """Return what to do about a system error that names a file or directory.

    The result is None if nothing is known to help.
    """
    import errno

    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "name what is there"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "give this user the right to it, or name another place"
    if error.errno == errno.EROFS:
        return "name another place"
    if error.errno == errno.EISDIR:
        return "name a file"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room there, or name another place"
    return None


def complain_of_output(path: object, error: OSError) -> None:
    """Write to stderr that a file cannot be written, and what to do."""
    import os

    from rocm_sdk.base.value_text import quoted_for_shell

    parent = os.path.dirname(str(path))
    is_absent = isinstance(error, FileNotFoundError) and parent != "" and not os.path.lexists(parent)
    fix = f"mkdir -p -- {quoted_for_shell(parent)}" if is_absent else fix_of_error(error)
    complain(f"cannot write {path}: {error.strerror}", fix)


# The first words of fixes that are typed; another fix is a sentence.
_COMMANDS = frozenset(
    (
        *("apt", "apt-get", "chmod", "conda", "cp", "dnf", "env", "eval", "export", "ldconfig", "ln"),
        *("mkdir", "mount", "mv", "patchelf", "pip", "python", "python3", "readelf", "rm", "rmdir"),
        *("rocm-sdk", "rocm-sdk-build", "sudo", "ulimit", "unset", "uv"),
    )
)


def complain_fix(fix: str) -> None:
    """Write to stderr what to do; a command can still be pasted into a shell."""
    from rocm_sdk.base.value_text import harmless

    from .style import width_of, wrapped_fix

    text = harmless(fix)
    first = text.partition(" ")[0]
    is_command = first in _COMMANDS or "/" in first or "=" in first
    print(
        "\n".join(wrapped_fix("  fix: ", text, width_of(sys.stderr), " " * 4, is_command=is_command)), file=sys.stderr
    )


def end_without_output(error: OSError) -> int:
    """End with SIGPIPE if nobody reads the output, as other programs do.

    Otherwise say what is wrong, and return the status 128.
    """
    import os

    # Python flushes stdout once more at exit, which must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        import signal

        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    complain(f"cannot write to standard output: {error.strerror}")
    for done in _done:
        complain(f"but this is done: {done}")
    return 128


_done: list[str] = []  # the changes of this run, in case nobody can read its answer


def remember_done(what: str) -> None:
    """Remember what a command has done, which is printed if its answer cannot be written."""
    _done.append(what)


def is_of_output(error: OSError) -> bool:
    """Return whether an exception says that standard output cannot be written: the rest of its buffer fails again."""
    if isinstance(error, BrokenPipeError):
        return True
    if error.filename is not None:
        return False
    try:
        sys.stdout.flush()
    except OSError as again:
        return again.errno == error.errno
    return False


def flushed(status: int) -> int:
    """Return the exit status once everything is written; that of `end_without_output` if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return end_without_output(error)
    return status

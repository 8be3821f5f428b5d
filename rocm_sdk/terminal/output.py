"""What the command writes for people. It may hold text of any file, so it is made harmless here.

Output for programs (a path, flags, JSON, a graph) is printed as it is, quoted for its reader.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from rocm_sdk.errors import RocmSdkError


def tell(line: str) -> None:
    """Writes a line to stdout."""
    from rocm_sdk.base.value_text import harmless  # here: most commands write nothing of the kind

    print(harmless(line), flush=True)


def tell_table(headings: "Sequence[str]", rows: "Iterable[Sequence[str]]", numbers: "Container[str]") -> None:
    """Writes a table to stdout. numbers: the headings of columns that are aligned to the right, as sizes are."""
    table = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (
            cell.rjust(width) if heading in numbers else cell.ljust(width)
            for heading, cell, width in zip(headings, row, widths, strict=True)
        )
        tell("  ".join(cells).rstrip())


def tell_json(schema: int, **content: object) -> None:
    """Writes a document for programs, as docs/json.md describes it. schema: counted up when a meaning changes."""
    import json

    print(json.dumps({"schema": schema, **content}, indent=2))


def complain(message: str, fix: str | None = None) -> None:
    """Writes a message to stderr, and in a second line what to do."""
    from rocm_sdk.base.value_text import harmless

    print(f"rocm-sdk: {harmless(message)}", file=sys.stderr)
    if fix is not None:
        complain_fix(fix)


def complain_of(error: "RocmSdkError") -> None:
    """Writes an exception of this package to stderr: message, code and fix."""
    complain(f"{error.message} [{error.code}]", error.fix)


def succeeds(name: str, work: "Callable[[], None]") -> bool:
    """Does work on a file of this name, and complains if it fails."""
    from rocm_sdk.errors import RocmSdkError

    try:
        work()
    except RocmSdkError as error:
        complain_of(error)
        return False
    except BrokenPipeError:  # of stdout
        raise
    except OSError as error:
        complain(f"{error.filename or name}: {error.strerror}")
        return False
    return True


def complain_fix(fix: str) -> None:
    """Writes to stderr what to do."""
    from rocm_sdk.base.value_text import harmless

    print(f"  fix: {harmless(fix)}", file=sys.stderr)


def end_without_output(error: OSError) -> int:
    """Ends by SIGPIPE if nobody reads the output, as other programs do; else says what is wrong."""
    import os

    # Python flushes stdout once more at exit, which must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        import signal

        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    complain(f"cannot write to standard output: {error.strerror}")
    return 128

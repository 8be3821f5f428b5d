"""The lists of files that package managers print: `dpkg -L`, `rpm -ql`, `qlist`, `nix-store -qR`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.base.errors import PackagingError

# Lines that are not paths: dpkg's lines on diverted files, and rpm's line on a package without files.
_DIVERTED = re.compile(r"(?:locally diverted|diverted by \S+) to: (/.*)")
_IGNORED = re.compile(r"package diverts others to: /.*|\(contains no files\)|\s*")
_LINK = " -> "  # qlist --verbose: before the target of a link
# Files that a system may be configured not to install, as container images are. Packages still list them.
_OPTIONAL = re.compile(r"/share/(?:doc|info|licenses|lintian|locale|man)/")


class Listed(NamedTuple):
    """A line of a list that names a file, link or directory."""

    path: str  # absolute path
    line: str  # LIST:NUMBER, for messages


def read_list(path: Path) -> list[Listed]:
    """Return the files, links and directories that a list names; `-` is standard input.

    Raise PackagingError for a line that is not a path, or names a path that does not exist.
    """
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise PackagingError(f"{path}: the list cannot be read: {error.strerror}") from error
    found: list[Listed] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        text = os.fsdecode(raw)
        if diverted := _DIVERTED.fullmatch(text):
            # The path in the line before is another package's; the file of this package is here.
            found[-1:] = [Listed(diverted[1], f"{path}:{number}")]
        elif not _IGNORED.fullmatch(text):
            found.append(Listed(text, f"{path}:{number}"))
    if not found:
        raise PackagingError(f"{path}: the list names no file", "it has what `dpkg -L PACKAGE...` or `rpm -ql` prints")
    return [checked for each in found if (checked := _checked(each)) is not None]


def _checked(listed: Listed) -> Listed | None:
    """Return the line with only the path; None if the path may be missing, and is."""
    path = listed.path
    if not path.startswith("/") or "\0" in path:
        raise PackagingError(f"{listed.line}: {path!r} is not an absolute path")
    for each in (path, path.rpartition(_LINK)[0]):
        if each and os.path.lexists(each):
            return Listed(each, listed.line)
    if _OPTIONAL.search(path):
        return None
    raise PackagingError(
        f"{listed.line}: {path}: there is no such file", "make the list where the packages are installed"
    )


def read_lists(paths: list[Path]) -> Iterator[Listed]:
    """Yield the lines of several lists."""
    for path in paths:
        yield from read_list(path)

"""Takes over the files that both distributions claim, and gives them back.

Each file that changes is replaced in one step, by a new file that is renamed over it; installed files may be hard links
into an installer's cache, and are never written to. Replaced files are kept in `rocm-X.dist-info/adopted/`, which
RECORD lists, so that undoing is a series of renames. Every step can be repeated: after an interruption the next call
completes the work.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from . import metadata, own_files, record
from .errors import AdoptionError
from .installed import Installed, find
from .state import SITE, THEIRS, State, compiled_names, entry_points, state

_KEPT = "adopted"  # directory in the dist-info directory of `rocm`
_PARTIAL = ".adopting"  # suffix of files that are being written


class Adoption(NamedTuple):
    """The result of an adoption, or of undoing one: the distribution `rocm` ("" if it is not installed), and names."""

    theirs: str
    released: tuple[str, ...]
    restored: tuple[str, ...]


def adopt(site: Path = SITE) -> Adoption:
    """Makes this distribution the only owner of its files in a site-packages directory, and restores overwritten ones.

    Changes nothing if that is already so. Raises AdoptionError or OSError if it cannot be done; the steps until then
    are kept, and the next call continues.
    """
    with _locked(site):
        before = state(site)
        contents = {name: _own_content(before.ours, name) for name in before.damaged}
        released = _released(before)
        if before.theirs is not None:
            _keep_and_release(before.theirs, released, [name for name in before.damaged if name in before.shared])
        for name, content in contents.items():
            _replace(site / name, content, is_program=own_files.is_script(name))
            _remove_compiled(site, name)
        _correct_own_record(before.ours, contents)
    theirs = "" if before.theirs is None else before.theirs.pip_name()
    return Adoption(theirs, _sources(released), tuple(contents))


def undo(site: Path = SITE) -> Adoption:
    """Restores RECORD and metadata of `rocm`, and its files that were replaced.

    Changes nothing if there is no adoption. Errors as of adopt().
    """
    with _locked(site):
        theirs = find(site, THEIRS)
        if theirs is None:
            return Adoption("", (), ())
        directory = theirs.dist_info / _KEPT
        own_record = theirs.name_of("RECORD")
        # RECORD comes last: until then it lists the kept files.
        kept = sorted(map(unquote, _names_in(directory)), key=lambda name: name == own_record)
        for name in kept:
            (directory / quote(name, safe="")).rename(site / name)
            _remove_compiled(site, name)
        for partial in directory.glob(f"*{_PARTIAL}"):
            partial.unlink()
        if directory.is_dir():
            directory.rmdir()
        back = record.parse((theirs.dist_info / "RECORD").read_bytes())
    given = set(back) - set(theirs.rows)
    replaced = tuple(name for name in kept if not name.startswith(theirs.dist_info.name))
    return Adoption(theirs.pip_name(), _sources(row.name for row in given if row.name not in kept), replaced)


def _sources(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if not name.endswith(".pyc")))


def _released(before: State) -> tuple[str, ...]:
    """The names that are removed from `rocm`: those that both claim, and compiled files of our modules."""
    if before.theirs is None:
        return ()
    compiled = tuple(compiled_names(name) for name in before.ours.rows_by_name() if name.endswith(".py"))
    names = before.theirs.rows_by_name()
    return tuple(name for name in names if name in before.shared or name.startswith(compiled))


def _own_content(ours: Installed, name: str) -> bytes:
    content = own_files.read(name)
    expected = ours.rows_by_name()[name]
    if content is None or (not own_files.is_script(name) and record.row(expected.name, content) != expected):
        raise AdoptionError(
            f"{ours.site / name}: missing or overwritten, and there is no copy to restore it from",
            f"pip install --force-reinstall --no-deps {ours.pip_name()}",
            str(ours.site / name),
        )
    return content


def _keep_and_release(theirs: Installed, released: tuple[str, ...], overwritten: list[str]) -> None:
    """Keeps the files that will be replaced, removes `released` from the RECORD of `rocm`, and edits its metadata."""
    edited = {
        theirs.name_of("METADATA"): metadata.with_loader((theirs.dist_info / "METADATA").read_bytes()),
        theirs.name_of("entry_points.txt"): metadata.without_command(entry_points(theirs)),
    }
    edited = {name: text for name, text in edited.items() if _read(theirs.site / name) not in {None, text}}
    replaced = [*edited, *(name for name in overwritten if (theirs.site / name).is_file())]
    if not replaced and not released:
        return
    kept = _keep(theirs, [theirs.name_of("RECORD"), *replaced])
    gone = {*released, *edited, *kept}
    rows = [row for name, row in theirs.rows_by_name().items() if name not in gone]
    rows += [record.row(name, text) for name, text in edited.items()]
    rows += [record.row(name, (theirs.site / name).read_bytes()) for name in kept]
    _replace(theirs.dist_info / "RECORD", record.text(rows))
    for name, text in edited.items():
        _replace(theirs.site / name, text)


def _keep(theirs: Installed, names: list[str]) -> list[str]:
    """Copies files to where undo() finds them, unless an earlier call did; returns the names of all kept files."""
    directory = theirs.dist_info / _KEPT
    directory.mkdir(exist_ok=True)
    for name in names:
        copy = directory / quote(name, safe="")
        if not copy.exists():
            source = theirs.site / name
            _replace(copy, source.read_bytes(), is_program=bool(source.stat().st_mode & stat.S_IXUSR))
    return [theirs.name_of(f"{_KEPT}/{name}") for name in _names_in(directory)]


def _names_in(directory: Path) -> list[str]:
    """The kept files, without the partial ones of a killed call, which the next call overwrites."""
    return sorted(path.name for path in directory.glob("*") if path.suffix != _PARTIAL)


def _correct_own_record(ours: Installed, contents: Mapping[str, bytes]) -> None:
    """The first line of the command may differ from the one that the installer wrote."""
    rows = tuple(record.row(row.name, contents[name]) if name in contents else row
                 for name, row in ours.rows_by_name().items())  # fmt: skip
    if rows != ours.rows:
        _replace(ours.dist_info / "RECORD", record.text(rows))


def _replace(path: Path, content: bytes, *, is_program: bool = False) -> None:
    """Replaces `path` by a new file in one step: whoever opens it finds the old or the new one."""
    partial = path.with_name(f"{path.name}{_PARTIAL}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    umask = os.umask(0)
    os.umask(umask)
    partial.chmod((0o777 if is_program else 0o666) & ~umask)
    partial.rename(path)


def _remove_compiled(site: Path, name: str) -> None:
    """Removes the compiled files of the replaced file."""
    if name.endswith(".py"):
        for compiled in site.glob(f"{compiled_names(name)}*.pyc"):
            compiled.unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def _locked(site: Path) -> Iterator[None]:
    """Holds a lock on the directory, if its file system can lock directories (NFS cannot)."""
    if not os.access(site, os.W_OK):
        raise AdoptionError(
            f"{site}: no permission to change the installed files",
            "run this as the owner of the environment, or create one: python -m venv",
            str(site),
        )
    descriptor = os.open(site, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

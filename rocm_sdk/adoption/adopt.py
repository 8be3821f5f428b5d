"""The take-over of the files that both distributions claim, and the way back.

Each file that changes is replaced in one step, by a new file that is renamed over it; installed files may be hard links
into an installer's cache, and are never written to. Replaced files are kept in `rocm-X.dist-info/adopted/`, which
RECORD lists, so that undoing is a series of renames. Every step can be repeated: after an interruption the next call
completes the work. Each step is on the disk before the next one begins, so that a power cut is an interruption too.
"""

from __future__ import annotations

import fcntl
import os
import posixpath
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from rocm_sdk.base.file_lock import Purpose, held, holder_of
from rocm_sdk.base.inside import UnsafeNameError, parent_inside, parts_of
from rocm_sdk.base.own_wheels import install_command
from rocm_sdk.base.value_text import harmless
from rocm_sdk.installed.record import record_text, row_of

from . import metadata, own_files
from .distribution import AdoptionError, Installed, find, holds, rows_in
from .state import (
    OURS,
    SITE,
    WHOLE_ENTRY_POINTS,
    WHOLE_RECORD,
    State,
    compiled_names,
    entry_points,
    find_theirs,
    own,
    state,
)

_KEPT = "adopted"  # directory in the dist-info directory of `rocm`
_PARTIAL = ".adopting"  # suffix of files that are being written
_LOCK = ".rocm_sdk_adoption.lock"  # in site-packages, while an adoption runs, and after one that was killed
_LOCK_SECONDS = 600.0  # that another process may change the same directory
_PURPOSE = Purpose("changes the installed files", AdoptionError, is_needed=False, is_kept=False)
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Adoption(NamedTuple):
    """The result of an adoption, or of undoing one: the distribution `rocm` ("" if it is not installed), and names."""

    theirs: str
    released: tuple[str, ...]
    restored: tuple[str, ...]
    shared: tuple[str, ...] = ()  # after undoing: names that both list, because the content of `rocm` is lost


def adopt(site: Path = SITE) -> Adoption:
    """Make this distribution the only owner of its files in a directory, and restore overwritten ones.

    site: a site-packages directory. Nothing is changed if that is already so. Returns the adoption. Raises
    AdoptionError or OSError if it cannot be done; the steps until then are kept, and the next call continues.
    """
    with _locked(site):
        before = state(site)
        contents = {name: _own_content(before.ours, name) for name in before.damaged}
        released = _released(before)
        if before.theirs is not None:
            _keep_and_release(before.theirs, released, [name for name in before.damaged if name in before.shared])
        for name, content in contents.items():
            _replace(site, name, content, is_program=own_files.is_script(name))
            _remove_compiled(site, name)
        _correct_own_record(before.ours, contents)
        _remove_partial(before.ours)
    theirs = "" if before.theirs is None else before.theirs.distribution.requirement
    return Adoption(theirs, _sources(released), tuple(contents))


def undo(site: Path = SITE) -> Adoption:
    """Restore RECORD and metadata of `rocm`, and its files that were replaced, and make it the owner of these.

    Nothing is changed if there is no adoption. Raises the errors of adopt().
    """
    with _locked(site):
        ours, theirs = own(site), find_theirs(site)
        if ours is not None:
            _remove_partial(ours)
        if theirs is None:
            return Adoption("", (), ())
        _remove_partial(theirs)
        own_record = theirs.name_of("RECORD")
        # RECORD comes last: until then it lists the kept files.
        kept = sorted(_kept_names(theirs), key=lambda name: name == own_record)
        if ours is not None and own_record in kept:
            _give_back(ours, theirs, kept)
        for name in kept:
            directory, inner = _place(theirs.site, name)
            copy = theirs.name_of(f"{_KEPT}/{quote(name, safe='')}")
            with (
                parent_inside(str(theirs.site), copy) as (source, kept_name),
                parent_inside(str(directory), inner, make_mode=0o777) as (target, last),
            ):
                os.rename(kept_name, last, src_dir_fd=source, dst_dir_fd=target)
                os.fsync(target)
            _remove_compiled(site, name)
        with suppress(FileNotFoundError), parent_inside(str(site), theirs.name_of(_KEPT)) as (parent, last):
            os.rmdir(last, dir_fd=parent)
        back = rows_in(theirs.dist_info / "RECORD")
    given = set(back) - set(theirs.rows)
    replaced = tuple(name for name in kept if not name.startswith(theirs.dist_info.name))
    names = {posixpath.normpath(row.path) for row in back}
    shared = _sources(name for name in _listed_by_ours(site) if name in names)
    return Adoption(
        theirs.distribution.requirement, _sources(row.path for row in given if row.path not in kept), replaced, shared
    )


def _give_back(ours: Installed, theirs: Installed, kept: list[str]) -> None:
    """Remove from our RECORD the files of which `rocm` has its own content again, so that it owns them alone.

    The removal comes before they are put back: after an interruption the next call finds this done, or all files still
    kept. The whole RECORD is kept for the next adoption.
    """
    kept_record = theirs.dist_info / _KEPT / quote(theirs.name_of("RECORD"), safe="")
    back = theirs._replace(rows=rows_in(kept_record)).rows_by_name()
    given = {
        name
        for name in ours.rows_by_name()
        if name in kept or (name in back and back[name].digest and holds(ours.site / name, back[name]))
    }
    if not given:
        return
    whole, own_record = ours.name_of(WHOLE_RECORD), ours.name_of("RECORD")
    rows = ours._replace(rows=rows_in(ours.dist_info / "RECORD")).rows_by_name()
    if _read(ours.site / whole) is None:
        _replace(ours.site, whole, (ours.dist_info / "RECORD").read_bytes())
    gone = tuple(compiled_names(name) for name in given if name.endswith(".py"))
    rows = {name: row for name, row in rows.items() if name not in given and not name.startswith(gone)}
    rows[whole] = row_of(whole, (ours.site / whole).read_bytes())
    if any(map(own_files.is_script, given)):
        for name in _give_command_back(ours):
            rows[name] = row_of(name, (ours.site / name).read_bytes())
    _replace(ours.site, own_record, record_text(rows.values()).encode())


def _give_command_back(ours: Installed) -> tuple[str, str]:
    """Take the command out of our entry points, and keep these. Return the names of both files."""
    name, whole = ours.name_of("entry_points.txt"), ours.name_of(WHOLE_ENTRY_POINTS)
    if _read(ours.site / whole) is None:
        _replace(ours.site, whole, entry_points(ours))
    _replace(ours.site, name, metadata.without_command((ours.site / whole).read_bytes()))
    return name, whole


def _listed_by_ours(site: Path) -> list[str]:
    ours = find(site, OURS)
    return [] if ours is None else list(ours.rows_by_name())


def _kept_names(theirs: Installed) -> list[str]:
    """Return the names of the kept files. Raise AdoptionError if one of them names something that is not kept."""
    names = []
    for quoted in _names_in(theirs):
        name = unquote(quoted)
        _place(theirs.site, name)
        facts = (theirs.dist_info / _KEPT / quoted).lstat()
        if quote(name, safe="") != quoted or not stat.S_ISREG(facts.st_mode):
            raise _not_kept(theirs.dist_info / _KEPT / quoted)
        names.append(name)
    return names


def _place(site: Path, name: str) -> tuple[Path, str]:
    """Return the directory that a name of RECORD must not leave, and the name in it.

    The directory is site-packages, or the directory of the commands.
    """
    if own_files.is_script(name) and own_files.is_script_directory((site / name).parent):
        return (site / name).parent, posixpath.basename(name)
    try:
        parts_of(name)
    except UnsafeNameError as error:
        raise _not_kept(site / name) from error
    return site, name


def _not_kept(path: Path) -> AdoptionError:
    return AdoptionError(
        f"{path} is not a file that an adoption keeps or replaces",
        f"remove it from {_KEPT}/ in the dist-info directory of rocm, or install rocm again",
        str(path),
    )


def _sources(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if not name.endswith(".pyc")))


def _released(before: State) -> tuple[str, ...]:
    """Return the names that are removed from `rocm`: names that both claim, and compiled files of our modules."""
    if before.theirs is None:
        return ()
    compiled = tuple(compiled_names(name) for name in before.ours.rows_by_name() if name.endswith(".py"))
    names = before.theirs.rows_by_name()
    return tuple(name for name in names if name in before.shared or name.startswith(compiled))


def _own_content(ours: Installed, name: str) -> bytes:
    content = own_files.read(ours.site, name)
    expected = ours.rows_by_name()[name]
    if content is None or (not own_files.is_script(name) and row_of(expected.path, content) != expected):
        raise AdoptionError(
            f"{ours.site / name}: missing or overwritten, and there is no copy to restore it from",
            install_command("rocm-sdk-loader", again=True),
            str(ours.site / name),
        )
    return content


def _keep_and_release(theirs: Installed, released: tuple[str, ...], overwritten: list[str]) -> None:
    """Keep the files that will be replaced, remove `released` from the RECORD of `rocm`, and edit its metadata."""
    edited = {
        theirs.name_of("METADATA"): metadata.with_loader((theirs.dist_info / "METADATA").read_bytes()),
        theirs.name_of("entry_points.txt"): metadata.without_command(entry_points(theirs)),
    }
    edited = {name: text for name, text in edited.items() if _read(theirs.site / name) not in {None, text}}
    replaced = [*edited, *(name for name in overwritten if (theirs.site / name).is_file())]
    if not replaced and not released:
        return
    for name in [theirs.name_of("RECORD"), *replaced]:
        copy = theirs.name_of(f"{_KEPT}/{quote(name, safe='')}")
        if not (theirs.site / copy).exists():  # an earlier call may have kept it
            source = theirs.site / name
            _replace(theirs.site, copy, source.read_bytes(), is_program=bool(source.stat().st_mode & stat.S_IXUSR))
    with parent_inside(str(theirs.site), theirs.name_of(_KEPT)) as (parent, _):
        os.fsync(parent)
    kept = [theirs.name_of(f"{_KEPT}/{name}") for name in _names_in(theirs)]
    gone = {*released, *edited, *kept}
    rows = [row for name, row in theirs.rows_by_name().items() if name not in gone]
    rows += [row_of(name, text) for name, text in edited.items()]
    rows += [row_of(name, (theirs.site / name).read_bytes()) for name in kept]
    _replace(theirs.site, theirs.name_of("RECORD"), record_text(rows).encode())
    for name, text in edited.items():
        _replace(theirs.site, name, text)


def _names_in(theirs: Installed) -> list[str]:
    """Return the kept files, without the partial ones of a killed call, which the next call overwrites."""
    names = _listed(theirs.site, theirs.name_of(_KEPT))
    return sorted(name for name in names if not name.endswith(_PARTIAL))


def _listed(site: Path, directory: str) -> list[str]:
    """Return the names in a directory inside site-packages; [] if there is none."""
    try:
        with parent_inside(str(site), f"{directory}/x") as (descriptor, _):
            return os.listdir(descriptor)
    except FileNotFoundError:
        return []


def _remove_partial(distribution: Installed) -> None:
    """Remove the partial files that a killed call has left beside the files of a distribution."""
    names = [*distribution.rows_by_name(), *map(distribution.name_of, ("RECORD", WHOLE_RECORD, WHOLE_ENTRY_POINTS))]
    kept = _listed(distribution.site, distribution.name_of(_KEPT))
    names += [distribution.name_of(f"{_KEPT}/{name.removesuffix(_PARTIAL)}") for name in kept]
    for name in names:
        with suppress(OSError, AdoptionError):
            directory, inner = _place(distribution.site, name)
            with parent_inside(str(directory), f"{inner}{_PARTIAL}") as (parent, last):
                os.unlink(last, dir_fd=parent)


def _correct_own_record(ours: Installed, contents: Mapping[str, bytes]) -> None:
    """List all our files again. The wrapper of the command may be one that another installer wrote."""
    rows = tuple(row_of(row.path, contents[name]) if name in contents else row
                 for name, row in ours.rows_by_name().items())  # fmt: skip
    entries = ours.name_of(WHOLE_ENTRY_POINTS)
    text = _read(ours.site / entries)
    if text is not None:
        _replace(ours.site, ours.name_of("entry_points.txt"), text)
        with parent_inside(str(ours.site), entries) as (parent, last):
            os.unlink(last, dir_fd=parent)
    current = (ours.dist_info / "RECORD").read_bytes()
    whole = _read(ours.dist_info / WHOLE_RECORD) or current
    content = whole if rows == ours.rows else record_text(rows).encode()
    if content != current:
        _replace(ours.site, ours.name_of("RECORD"), content)
    with suppress(FileNotFoundError), parent_inside(str(ours.site), ours.name_of(WHOLE_RECORD)) as (parent, last):
        os.unlink(last, dir_fd=parent)


def _replace(site: Path, name: str, content: bytes, *, is_program: bool = False) -> None:
    """Replace a file by a new one in one step: whoever opens it finds the old or the new one."""
    directory, inner = _place(site, name)
    with parent_inside(str(directory), inner, make_mode=0o777) as (parent, last):
        partial = f"{last}{_PARTIAL}"
        with suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=parent)
        mode = 0o777 if is_program else 0o666
        with open(os.open(partial, _NEW_FILE, mode, dir_fd=parent), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(partial, last, src_dir_fd=parent, dst_dir_fd=parent)
        os.fsync(parent)


def _remove_compiled(site: Path, name: str) -> None:
    """Remove the compiled files of the replaced file."""
    if not name.endswith(".py"):
        return
    directory, beginning = posixpath.split(posixpath.normpath(compiled_names(name)))
    for compiled in _listed(site, directory):
        if compiled.startswith(beginning) and compiled.endswith(".pyc"):
            with suppress(FileNotFoundError), parent_inside(str(site), f"{directory}/{compiled}") as (parent, last):
                os.unlink(last, dir_fd=parent)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def _locked(site: Path) -> Iterator[None]:
    """Yield with a lock of the directory, if its file system has locks.

    Raises AdoptionError where another process holds it for longer than the limit, or a user who may not write there.
    """
    if not os.access(site, os.W_OK):
        raise AdoptionError(
            f"{site}: no permission to change the installed files",
            "run this as the owner of the environment, or create one: python -m venv",
            str(site),
        )
    with held(_PURPOSE, f"{site}/{_LOCK}", _LOCK_SECONDS, lambda words: print(harmless(words), file=sys.stderr)):
        descriptor = os.open(site, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with suppress(OSError):  # NFS cannot lock directories
                try:  # as earlier versions of this package do
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    holder = holder_of(descriptor, str(site))
                    if holder is not None and not holder.is_stranger:
                        what = f"process {holder.pid} of {holder.user} has locked {site}"
                        raise AdoptionError(what, _PURPOSE.patience, str(site)) from None
            yield
        finally:
            os.close(descriptor)

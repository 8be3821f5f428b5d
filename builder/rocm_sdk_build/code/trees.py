"""Whole directories and wheels with less GPU code: each file that has code is rewritten, the others are copied.

A selection names the files and directories that the new tree does not get.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk.installed.directory_walk import refuse_deep
from rocm_sdk.installed.record import read_record, record_text, with_new_digests, without_files
from rocm_sdk_build.base.damaged import refusing_damage
from rocm_sdk_build.base.errors import raise_error
from rocm_sdk_build.base.input_file import InputFile, open_input
from rocm_sdk_build.base.members import unpack
from rocm_sdk_build.base.new_file import copy_attributes, new_file, refuse_output
from rocm_sdk_build.base.pieces import write_all
from rocm_sdk_build.base.scratch import scratch_directory

from .rewrite import NewCode, Rewritten
from .tree_file import TreeFile, write_tree_file

_CHUNK = 1 << 20


class Left(NamedTuple):
    """A file with code that stays as it is."""

    path: str  # path in the tree
    why: str


class Selection(NamedTuple):
    """The files that a new tree does not get; paths are paths in the tree."""

    left_out: Mapping[str, str] = {}  # path of a file, link or directory with all paths below -> reason
    kinds: Mapping[str, str] = {}  # path -> kind, of files that are counted by kinds
    held: tuple[Left, ...] = ()  # files that are for other GPUs, and stay
    suffices: bool = False  # the tree is worth writing if no file is rewritten


Select = Callable[[str], Selection]  # makes the selection for a directory


def select_all(_directory: str) -> Selection:
    """Return a selection that leaves nothing out."""
    return Selection()


class Order(NamedTuple):
    """The order for a tree."""

    wish: NewCode  # wish for its files
    select: Select = select_all


class LeftOut(NamedTuple):
    """A file, link or directory that the new tree does not have."""

    path: str  # path in the tree
    why: str
    size: int  # bytes; 0 for a link or directory


class KindSum(NamedTuple):
    """The files of one kind; sizes are in bytes, and the size of the kept files is the new one."""

    kind: str
    kept: int
    kept_size: int
    dropped: int
    dropped_size: int


class RewrittenTree(NamedTuple):
    """The result of a directory or wheel; sizes are sums of a directory's files, or a wheel's size, in bytes."""

    path: str
    output: str | None
    size_before: int
    size: int
    rewritten: tuple[Rewritten, ...]
    left: tuple[Left, ...]
    left_out: tuple[LeftOut, ...]
    kinds: tuple[KindSum, ...]
    selection: Selection


def rewrite_directory(path: str, output: str | None, wish: NewCode, select: Select = select_all) -> RewrittenTree:
    """Copy a directory to `output`, which must not exist, with each file of GPU code rewritten by the wish.

    The new directory has neither files that the selection leaves out nor links to them, and RECORD has no rows for
    them. The digests in each RECORD are made anew. With None for `output` only the sizes are computed.

    Raise RewriteError if the directory cannot be rewritten, and OSError if a file cannot be read or written. Then
    nothing of `output` is left.
    """
    if output is not None:
        if os.path.lexists(output):
            raise refusal(path, f"{output} exists; name a directory that does not")
        source, place = (Path(each).resolve() for each in (path, output))
        if place.is_relative_to(source):
            raise refusal(path, f"{output} lies in it, and would be copied into itself; name an output beside it")
    refuse_deep(path)
    with scratch_directory(_parent_of(output)) as scratch:
        target = scratch / "tree"
        tree = _Tree(path, str(target), Order(wish, select), output, path)
        made = tree.make()
        if output is not None:
            target.rename(output)
            os.chmod(output, tree.mode)  # at the end: a directory that its owner may not write to cannot be moved
    return made


def rewrite_wheel(path: str, output: str | None, wish: NewCode, select: Select = select_all) -> RewrittenTree:
    """Write a wheel anew, as `rewrite_directory` does for a directory.

    The members of the wheel keep their order, times and attributes.
    """
    if output is not None:
        _refuse_name(path, output)
    with scratch_directory(_parent_of(output)) as scratch, open_input(path) as wheel:
        if output is not None:
            if os.path.exists(output) and os.path.samestat(os.stat(output), wheel.facts):
                raise refusal(path, "the output is the file itself; a file is never rewritten in place")
            refuse_output(output)
        archive = open_zip(path, wheel.file)
        before, after = str(scratch / "before"), str(scratch / "after")
        members = _unpack(archive, before, path)
        made = _Tree(before, after, Order(wish, select), output, path).make()
        gone = {os.path.join(before, each.path) for each in made.left_out}
        members = [each for each in members if os.path.normpath(each[1]) not in gone]
        with new_file(output, wheel) as new, open(os.dup(new), "wb") as packed:
            _pack(archive, members, before, after, packed)
            packed.flush()
            size = os.fstat(new).st_size
    return made._replace(path=path, size_before=wheel.facts.st_size, size=size)


def _parent_of(output: str | None) -> Path:
    return Path(tempfile.gettempdir() if output is None else os.path.dirname(os.path.abspath(output)))


class _Directory(NamedTuple):
    """A directory of the new tree, and the attributes that it gets when all parts below are complete."""

    path: str
    mode: int
    times: tuple[int, int]


class _Tree:
    def __init__(self, source: str, target: str, order: Order, output: str | None, shown: str) -> None:
        self.source, self.target, self.order, self.output = source, target, order, output
        self.selection = Selection()
        self.shown = shown  # name in messages: the directory, or the wheel
        self.rewritten: list[Rewritten] = []
        self.left: list[Left] = []
        self.complete = 0  # files that hold code for the GPUs alone
        self.gone: dict[str, LeftOut] = {}  # by path
        self.links: list[str] = []  # links of the new tree
        self.sizes: dict[str, int] = {}  # sizes of the new tree's files that are counted by kinds
        self.size_before = self.size = 0
        self.mode = 0  # mode of the directory itself, for the mover

    def make(self) -> RewrittenTree:
        """Write the new tree; return the result.

        Raise RewriteError for a tree without GPU code that can be rewritten.
        """
        made: list[_Directory] = []
        self.selection = self.order.select(self.source)
        # Files are taken from the open directory; the depth of the tree is known.
        for parent, directories, files, descriptor in os.fwalk(self.source, onerror=raise_error):  # noqa: TID251
            directories.sort()
            place = os.path.normpath(os.path.join(self.target, os.path.relpath(parent, self.source)))
            if not self._leaves_out(parent, os.fstat(descriptor)):
                made.append(_make_directory(parent, descriptor, place))
            links = [name for name in directories if stat.S_ISLNK(_mode_of(name, descriptor))]
            for name in sorted(files + links):
                self._take(os.path.join(parent, name), os.path.join(place, name), descriptor)
        if not self.rewritten and not self.selection.suffices:
            if not self.left:
                raise refusal(self.shown, "it has no code of other GPUs" if self.complete else "it holds no GPU code")
            first = f"{self.left[0].path}: {self.left[0].why}"
            raise refusal(self.shown, f"it has no file whose code can be rewritten: {first}")
        self._remove_links()
        self._renew_records(each.path for each in made)
        for each in reversed(made[1:]):
            os.chmod(each.path, each.mode)
            os.utime(each.path, ns=each.times)
        os.utime(self.target, ns=made[0].times)
        self.mode = made[0].mode
        return self._result()

    def _result(self) -> RewrittenTree:
        return RewrittenTree(
            path=self.source,
            output=self.output,
            size_before=self.size_before,
            size=self.size,
            rewritten=tuple(self.rewritten),
            left=tuple(self.left),
            left_out=tuple(self.gone.values()),
            kinds=tuple(self._sums()),
            selection=self.selection,
        )

    def _sums(self) -> Iterator[KindSum]:
        kinds = self.selection.kinds
        for kind in sorted(set(kinds.values())):
            kept = [size for name, size in self.sizes.items() if kinds[name] == kind]
            dropped = [each.size for name, each in self.gone.items() if kinds.get(name) == kind]
            yield KindSum(kind, len(kept), sum(kept), len(dropped), sum(dropped))

    def _leaves_out(self, path: str, facts: os.stat_result) -> bool:
        """Return whether the file or directory is left out, itself or with the directory around it."""
        name = os.path.relpath(path, self.source)
        whole = self.gone.get(os.path.dirname(name))
        why = self.selection.left_out.get(name, whole.why if whole is not None else None)
        if why is None:
            return False
        size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
        self.gone[name] = LeftOut(name, why, size)
        self.size_before += size
        return True

    def _remove_links(self) -> None:
        """Remove the links that led to files or directories that are left out."""
        root = os.path.realpath(self.source)
        for name in self.links:
            end = os.path.relpath(os.path.realpath(os.path.join(self.source, name)), root)
            if end in self.gone:
                os.unlink(os.path.join(self.target, name))
                self.gone[name] = LeftOut(name, f"it leads to {end}, which is left out", 0)

    def _take(self, path: str, place: str, parent: int) -> None:
        facts = os.stat(os.path.basename(path), dir_fd=parent, follow_symlinks=False)
        mode, name = facts.st_mode, os.path.relpath(path, self.source)
        if self._leaves_out(path, facts):
            return
        if stat.S_ISLNK(mode):
            self.links.append(name)
            os.symlink(os.readlink(os.path.basename(path), dir_fd=parent), place)
            return
        if not stat.S_ISREG(mode):
            raise refusal(self._shown(path), "it is neither a file nor a directory nor a link")
        with open_input(path, place=parent) as source:
            made = self._write(source, place)
        self.size_before += source.facts.st_size
        self.size += made.size
        if name in self.selection.kinds:
            self.sizes[name] = made.size

    def _write(self, source: InputFile, place: str) -> TreeFile:
        path = source.path
        name, shown = os.path.relpath(path, self.source), self._shown(path)
        try:
            made = write_tree_file(source, place, self.order.wish)
        except RocmSdkError as error:
            message, detail = (text.replace(path, shown) for text in (error.message, error.detail))
            raise type(error)(message, error.fix, shown, error.code, error.problem, detail=detail) from None
        self.complete += made.is_complete
        if made.rewritten is not None:
            self.rewritten.append(made.rewritten._replace(path=name))
        if made.left is not None:
            self.left.append(Left(name, made.left.detail.replace(path, shown)))
        return made

    def _shown(self, path: str) -> str:
        """Return the name of a file in messages.

        A wheel's file was unpacked to a directory that will be gone.
        """
        return path if self.shown == self.source else f"{self.shown}: {os.path.relpath(path, self.source)}"

    def _renew_records(self, directories: Iterable[str]) -> None:
        """Write the digests and sizes of rewritten files into each RECORD."""
        root = os.path.realpath(self.target)
        changed = {path: path for path in (os.path.join(root, each.path) for each in self.rewritten)}
        gone = {os.path.join(root, name): name for name in self.gone}
        for directory in directories:
            record = os.path.join(directory, "RECORD")
            if not directory.endswith(".dist-info") or not os.path.isfile(record) or os.path.islink(record):
                continue
            with open_input(record) as source:
                shown = self._shown(os.path.join(self.source, os.path.relpath(record, self.target)))
                with refusing_damage(partial(_no_record, shown)):
                    rows = read_record(record).rows
                site = os.path.dirname(directory)
                kept = without_files(rows, site, gone) if gone else rows
                text = record_text(with_new_digests(kept, site, changed)).encode()
                with new_file(record, source, is_synced=False) as new:
                    write_all(new, text, 0)
                self.size += len(text) - source.facts.st_size
                os.utime(record, ns=_times_of(source.facts))


def _no_record(shown: str, what: str) -> RocmSdkError:
    return refusal(shown, f"it is not a RECORD: {what}")


def _mode_of(name: str, parent: int) -> int:
    return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode


def _times_of(facts: os.stat_result) -> tuple[int, int]:
    return (facts.st_atime_ns, facts.st_mtime_ns)


def _make_directory(path: str, source: int, place: str) -> _Directory:
    """Make a directory that its owner may write to until all parts below are complete."""
    facts = os.fstat(source)
    os.mkdir(place, facts.st_mode & 0o777)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        copy_attributes(path, source, descriptor)
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        os.fchmod(descriptor, stat.S_IRWXU)
    finally:
        os.close(descriptor)
    return _Directory(place, mode, _times_of(facts))


# ---- wheels ----

# A wheel's name: distribution, version, perhaps a build number, and the tags of interpreter, ABI and platform.
_WHEEL_NAME = re.compile(r"([\w.]+)-([\w.!+]+)(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl", re.ASCII)


def _refuse_name(path: str, output: str) -> None:
    """Raise RewriteError for a name that installers would reject: not a wheel's, or another distribution's."""
    old, new = (_WHEEL_NAME.fullmatch(os.path.basename(each)) for each in (path, output))
    if new is None:
        raise refusal(path, f"installers reject the name {os.path.basename(output)}: name the output as the wheel is")
    if old is not None and old.groups() != new.groups():
        raise refusal(path, f"{os.path.basename(output)} is the name of another distribution or version")


def _unpack(archive: zipfile.ZipFile, directory: str, path: str) -> list[tuple[zipfile.ZipInfo, str]]:
    """Write the members below a directory; return each with its place there."""

    def no_room(_: int, free: int) -> Exception:
        return refusal(path, f"its members take more than the {free} bytes that are free for them, twice")

    with refusing_damage(lambda what: refusal(path, f"it is damaged, or its members cannot be read: {what}")):
        return unpack(archive, directory, partial(refusal, path), no_room, copies=2)


def _pack(
    archive: zipfile.ZipFile, members: list[tuple[zipfile.ZipInfo, str]], before: str, after: str, target: IO[bytes]
) -> None:
    with zipfile.ZipFile(target, "w", allowZip64=True) as new:
        new.comment = archive.comment
        for member, place in members:
            if member.is_dir():
                new.writestr(member, b"")
                continue
            info = zipfile.ZipInfo(member.filename, member.date_time)
            info.compress_type, info.external_attr = member.compress_type, member.external_attr
            info.create_system = member.create_system
            source = os.path.join(after, os.path.relpath(place, before))
            info.file_size = os.path.getsize(source)
            with open(source, "rb") as file, new.open(info, "w") as entry:
                shutil.copyfileobj(file, entry, _CHUNK)

"""Whole directories and wheels with less GPU code: each file that has code is rewritten, the others are copied."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import zipfile
from typing import IO, NamedTuple

from rocm_sdk import device_code
from rocm_sdk.archives.candidate import HEAD_SIZE, is_candidate
from rocm_sdk.archives.zip_archive import open_zip
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.gpu_code.refusal import refusal
from rocm_sdk.installed.record import read_record, record_text, with_new_digests
from rocm_sdk_build.files.new_file import new_file

from .rewrite import Rewritten, Wish, rewrite_file

# Problems of one file that do not stop the work on a tree: the file stays as it is.
_LEFT = ("E-CODE-010", "E-CODE-012", "E-LIB-006")
_CHUNK = 1 << 20


class Left(NamedTuple):
    """A file with code that stays as it is."""

    path: str  # in the tree
    why: str


class RewrittenTree(NamedTuple):
    """What a directory or wheel became. Sizes are the sums of its files, in bytes; those of a wheel its own."""

    path: str
    output: str | None
    size_before: int
    size: int
    rewritten: tuple[Rewritten, ...]
    left: tuple[Left, ...]


def rewrite_directory(path: str, output: str | None, wish: Wish) -> RewrittenTree:
    """Copies a directory to `output`, which must not exist, with each file of GPU code rewritten as the wish says.

    The digests in a RECORD are made anew. None: only tells the sizes. Raises RewriteError and OSError; nothing of
    `output` is left then.
    """
    if output is not None and os.path.lexists(output):
        raise refusal(path, f"{output} exists; a directory is written anew")
    parent = os.path.dirname(os.path.abspath(output)) if output is not None else tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix=".rocm-sdk-", dir=parent) as scratch:
        target = os.path.join(scratch, "tree")
        made = _Tree(path, target, wish, output, path).make()
        if output is not None:
            os.rename(target, output)
    return made


def rewrite_wheel(path: str, output: str | None, wish: Wish) -> RewrittenTree:
    """The same of a wheel, whose members keep their order, times and attributes."""
    if output is not None:
        _refuse_name(path, output)
    parent = os.path.dirname(os.path.abspath(output)) if output is not None else tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix=".rocm-sdk-", dir=parent) as scratch, open(path, "rb") as file:
        if output is not None and os.path.exists(output) and os.path.samestat(os.stat(output), os.fstat(file.fileno())):
            raise refusal(path, "the output is the file itself; a file is never rewritten in place")
        archive = open_zip(path, file)
        before, after = os.path.join(scratch, "before"), os.path.join(scratch, "after")
        members = _unpack(archive, before, path)
        made = _Tree(before, after, wish, output, path).make()
        with new_file(output, file.fileno()) as new, open(os.dup(new), "wb") as packed:
            _pack(archive, members, before, after, packed)
            packed.flush()
            size = os.fstat(new).st_size
    return made._replace(path=path, size_before=os.path.getsize(path), size=size)


class _Tree:
    def __init__(self, source: str, target: str, wish: Wish, output: str | None, shown: str) -> None:
        self.source, self.target, self.wish, self.output = source, target, wish, output
        self.shown = shown  # in messages: the directory, or the wheel
        self.rewritten: list[Rewritten] = []
        self.left: list[Left] = []
        self.size_before = self.size = 0

    def make(self) -> RewrittenTree:
        """Writes the new tree. Refuses one without GPU code that can be rewritten."""
        unlisted: list[OSError] = []
        for parent, directories, files in os.walk(self.source, onerror=unlisted.append):
            directories.sort()
            place = os.path.normpath(os.path.join(self.target, os.path.relpath(parent, self.source)))
            os.makedirs(place, exist_ok=True)
            links = [name for name in directories if os.path.islink(os.path.join(parent, name))]
            for name in sorted(files + links):
                self._take(os.path.join(parent, name), os.path.join(place, name))
            shutil.copystat(parent, place)
        if unlisted:
            raise unlisted[0]
        if not self.rewritten:
            if not self.left:
                raise refusal(self.shown, "it holds no GPU code")
            first = f"{self.left[0].path}: {self.left[0].why}"
            raise refusal(self.shown, f"it has no file whose code can be rewritten: {first}")
        self._renew_records()
        return RewrittenTree(
            self.source, self.output, self.size_before, self.size, tuple(self.rewritten), tuple(self.left)
        )

    def _take(self, path: str, place: str) -> None:
        facts = os.lstat(path)
        if stat.S_ISLNK(facts.st_mode):
            os.symlink(os.readlink(path), place)
            return
        if not stat.S_ISREG(facts.st_mode):
            raise refusal(self._shown(path), "it is neither a file nor a directory nor a link")
        if not self._rewrite(path, place):
            shutil.copy2(path, place)
        self.size_before += facts.st_size
        self.size += os.path.getsize(place)

    def _rewrite(self, path: str, place: str) -> bool:
        with open(path, "rb") as file:
            if not is_candidate(file.read(HEAD_SIZE)):
                return False
        name = os.path.relpath(path, self.source)
        try:
            code = device_code(path)
            if not code.bundles and code.kernel_name is None:
                return False
            self.rewritten.append(rewrite_file(path, place, self.wish)._replace(path=name))
        except RocmSdkError as error:
            shown = self._shown(path)
            message, detail = (text.replace(path, shown) for text in (error.message, error.detail))
            if error.code not in _LEFT:
                raise type(error)(message, error.fix, shown, error.code, error.problem, detail=detail) from None
            self.left.append(Left(name, detail))
            return False
        shutil.copystat(path, place)
        return True

    def _shown(self, path: str) -> str:
        """The name of a file in messages. A wheel's file was unpacked to a directory that will be gone."""
        return path if self.shown == self.source else f"{self.shown}: {os.path.relpath(path, self.source)}"

    def _renew_records(self) -> None:
        """The digests and sizes of what was rewritten, in each RECORD."""
        changed = {os.path.normpath(each.path): os.path.join(self.target, each.path) for each in self.rewritten}
        for name in sorted(os.listdir(self.target)):
            record = os.path.join(self.target, name, "RECORD")
            if name.endswith(".dist-info") and os.path.isfile(record):
                text = record_text(with_new_digests(read_record(record).rows, changed))
                os.unlink(record)
                with open(record, "w", encoding="utf-8", newline="") as file:
                    file.write(text)


# ---- wheels ----

# A wheel's name: distribution, version, perhaps a build number, and the tags of interpreter, ABI and platform.
_WHEEL_NAME = re.compile(r"([\w.]+)-([\w.!+]+)(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl", re.ASCII)


def _refuse_name(path: str, output: str) -> None:
    """Refuses a name that installers would reject: of another form than wheels', or of another distribution's."""
    old, new = (_WHEEL_NAME.fullmatch(os.path.basename(each)) for each in (path, output))
    if new is None:
        raise refusal(path, f"installers reject the name {os.path.basename(output)}: name the output as the wheel is")
    if old is not None and old.groups() != new.groups():
        raise refusal(path, f"{os.path.basename(output)} is the name of another distribution or version")


def _unpack(archive: zipfile.ZipFile, directory: str, path: str) -> list[tuple[zipfile.ZipInfo, str]]:
    """Writes the members below a directory; returns each with its place there."""
    free = shutil.disk_usage(os.path.dirname(directory)).free
    members = archive.infolist()
    if sum(each.file_size for each in members) * 2 > free:
        raise refusal(path, f"its members take more than the {free} bytes that are free for them, twice")
    os.mkdir(directory)
    found = [(member, archive.extract(member, directory)) for member in members]
    if len({place for _, place in found}) != len(found):
        raise refusal(path, "it has two members of one name")
    return found


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

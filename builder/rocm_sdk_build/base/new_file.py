"""The one writer of finished files: a file gets its name when it is complete."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rocm_sdk.base.moves import sync_file

from .input_file import InputFile
from .scratch import scratch_directory

_log = logging.getLogger(__name__)
# Errors of a file system that does not support files without a name.
_UNNAMED_REFUSED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
_RIGHTS = 0o777
_NOT_RIGHTS = ((stat.S_ISUID, "set-user-ID"), (stat.S_ISGID, "set-group-ID"), (stat.S_ISVTX, "sticky"))
_CAPABILITIES = "security.capability"
_ACLS = ("system.posix_acl_access", "system.posix_acl_default")
_USER = "user."


class OutputRefusedError(OSError):
    """The error for a new file that would take the place of something that is not a file."""


def is_directory(output: str) -> bool:
    """Return whether an output is a directory, in which files get their own names.

    Raise OutputRefusedError if the output is a link to a directory, made by another user: he chose the directory.
    """
    is_link = os.path.islink(output)
    if not os.path.isdir(output):
        return False
    owner = os.lstat(output).st_uid
    if is_link and owner not in (0, os.geteuid()):
        message = f"is a link of user {owner}, who chose the directory behind it: name that directory"
        raise OutputRefusedError(errno.EPERM, message, output)
    return True


@contextlib.contextmanager
def new_file(
    output: str | None, source: InputFile | None = None, *, is_synced: bool = True, may_be_link: bool = False
) -> Iterator[int]:
    """Yield the descriptor of a new file, which becomes `output` at the end of the block; None: the file gets no name.

    `source` is the file from which the new file is made. The source must not change meanwhile, and the new file gets
    its attributes (`copy_attributes`). With `is_synced` the disk has the content before the file has the name. With
    `may_be_link` a symbolic link of that name is replaced.

    A block that fails leaves nothing. The next use removes the files of a process that was killed in the block.

    Raise OutputRefusedError, before the block runs, if `output` is something other than a file; raise OSError for all
    other failures.
    """
    if output is not None:
        refuse_output(output, may_be_link=may_be_link)
    directory = os.path.dirname(os.path.abspath(output)) if output is not None else tempfile.gettempdir()
    # The system takes the umask from the rights. Nobody else can open the file before it has its name.
    mode = 0o666 if source is None else source.facts.st_mode & _RIGHTS
    with contextlib.ExitStack() as block:
        place = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        block.callback(os.close, place)
        descriptor, path = _open(directory, place, mode, block)
        block.callback(os.close, descriptor)
        try:
            yield descriptor
        finally:
            if source is not None:
                source.refuse_changed()  # a change of the source is also the cause of other errors
        if output is None:
            return
        if source is not None:
            copy_attributes(source.path, source.descriptor, descriptor)
        if is_synced:
            os.fsync(descriptor)
        name = os.path.basename(output)
        if path is None:
            try:
                _link(descriptor, name, place)
                return
            except FileExistsError:
                path = str(block.enter_context(scratch_directory(Path(directory))) / "new")
                _link(descriptor, path, place)
        refuse_output(output, may_be_link=may_be_link)
        os.replace(path, name, dst_dir_fd=place)


def refuse_output(output: str, *, may_be_link: bool = False) -> None:
    """Raise OutputRefusedError if something other than a file has the name, which a new file would replace.

    Raise IsADirectoryError if a directory has the name, or the name ends like a directory's.
    """
    try:
        mode = os.lstat(output).st_mode
    except FileNotFoundError:
        if not os.path.basename(output):
            raise IsADirectoryError(errno.EISDIR, "it is the name of a directory; name a file", output) from None
        return
    if stat.S_ISREG(mode) or (may_be_link and stat.S_ISLNK(mode)):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file", output)
    if stat.S_ISLNK(mode):
        target = os.path.realpath(output)
        other = "another file: it leads to itself" if os.path.islink(target) else target
        raise OutputRefusedError(errno.ELOOP, f"it is a symbolic link, which is not replaced; name {other}", output)
    raise OutputRefusedError(errno.EINVAL, "it is a device, pipe or socket, which is not replaced; name a file", output)


def move_files(files: Mapping[Path, Path]) -> None:
    """Give complete files their names on the same file system, after the disk has the content of all of them.

    `files` maps each path to its new name, whose directory is made. Raise OutputRefusedError, before any file is moved,
    if something other than a file has a new name.
    """
    for target in files.values():
        refuse_output(str(target))
    for path in files:
        sync_file(str(path))
    for path, target in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)


def copy_attributes(path: str, source: int, target: int) -> None:
    """Give a new file or directory the mode, group, ACLs and user attributes of another one, as `cp -p` does.

    A file with another owner keeps the mode with which it was made, and gets user attributes alone: rights that let
    everybody act as one user must not let everybody act as another. A warning about `path` names each loss.
    """
    old, new = os.fstat(source), os.fstat(target)
    names = os.listxattr(source)
    is_own = old.st_uid == new.st_uid
    if is_own:
        mode = stat.S_IMODE(old.st_mode)
        if old.st_gid != new.st_gid:
            try:
                os.fchown(target, -1, old.st_gid)
            except PermissionError:
                mode &= ~stat.S_ISGID
        _copy_xattrs(source, target, [name for name in names if name in _ACLS])
        os.fchmod(target, mode)
    lost = [word for bit, word in _NOT_RIGHTS if old.st_mode & bit and not os.fstat(target).st_mode & bit]
    lost += ["capabilities"] if _CAPABILITIES in names else []
    if lost:
        why = f"it belongs to user {old.st_uid}, and the copy to user {new.st_uid}" if not is_own else "as cp -p does"
        _log.warning("%s: the copy loses what the file has: %s (%s)", path, ", ".join(lost), why)
    _copy_xattrs(source, target, [name for name in names if name.startswith(_USER)])


def _copy_xattrs(source: int, target: int, names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(OSError):  # the file system may have no attributes
            os.setxattr(target, name, os.getxattr(source, name))


def _open(directory: str, place: int, mode: int, block: contextlib.ExitStack) -> tuple[int, str | None]:
    """Open a new file; return its descriptor, and its path if the file must have one.

    A file with a path is in a scratch directory, which the block removes.
    """
    try:
        if os.path.isdir("/proc/self/fd"):
            return os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode, dir_fd=place), None
    except OSError as error:
        if error.errno not in _UNNAMED_REFUSED:
            raise type(error)(error.errno, error.strerror, directory) from None
    path = str(block.enter_context(scratch_directory(Path(directory))) / "new")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode), path


def _link(descriptor: int, name: str, place: int) -> None:
    # With a descriptor of the directory, os.link calls linkat, which follows the link in /proc.
    os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=place, follow_symlinks=True)

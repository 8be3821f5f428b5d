"""The one writer of finished files: a file gets its name when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator

# Errors of a file system without support for files that have no name.
_UNNAMED_REFUSED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)


@contextlib.contextmanager
def new_file(output: str | None, source: int | None = None, *, is_synced: bool = True) -> Iterator[int]:
    """A new file, which becomes `output` at the end of the block, with the mode and extended attributes of `source`.

    output: None: it gets no name. is_synced: the disk has its content before it has the name. A block that fails leaves
    nothing. A process that is killed in it leaves nothing either, if the file system supports files that have no name
    and /proc is mounted, through which they get one. Raises OSError.
    """
    if output is not None and os.path.isdir(output):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), output)
    directory = os.path.dirname(os.path.abspath(output)) if output is not None else tempfile.gettempdir()
    descriptor, name = _open(directory, 0o666 if source is None else 0o600)
    try:
        yield descriptor
        if output is not None:
            if source is not None:
                _copy_attributes(source, descriptor)
            if is_synced:
                os.fsync(descriptor)
            name = name or _give_name(descriptor, directory)
            os.replace(name, output)
            name = None
    finally:
        os.close(descriptor)
        if name is not None:
            os.unlink(name)


def _open(directory: str, mode: int) -> tuple[int, str | None]:
    """A new file, and its name if it must have one."""
    try:
        if os.path.isdir("/proc/self/fd"):
            return os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode), None
    except OSError as error:
        if error.errno not in _UNNAMED_REFUSED or not os.path.isdir(directory):
            raise
    descriptor, name = tempfile.mkstemp(prefix=".rocm-sdk-", dir=directory)
    os.fchmod(descriptor, mode & 0o644)
    return descriptor, name


def _give_name(descriptor: int, directory: str) -> str:
    name = f".rocm-sdk-{os.getpid()}-{descriptor}.new"
    place = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # With a descriptor of the directory, os.link calls linkat, which follows the link in /proc.
        os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=place, follow_symlinks=True)
    finally:
        os.close(place)
    return f"{directory}/{name}"


def _copy_attributes(source: int, target: int) -> None:
    os.fchmod(target, stat.S_IMODE(os.fstat(source).st_mode))
    for name in os.listxattr(source):
        with contextlib.suppress(OSError):  # some only the system sets
            os.setxattr(target, name, os.getxattr(source, name))

"""The ways to give a file a second name: a hard link or, if that is refused, a reflink, or else a copy.

A symbolic link is used if a hard link would silently be a copy.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections import Counter
from contextlib import suppress
from typing import BinaryIO

from rocm_sdk.base.files import installed_file
from rocm_sdk.base.inside import parent_inside
from rocm_sdk.base.moves import refusal_to_move

# Links in a tree's bin directory that stay symbolic: LLVM's drivers decide what to do by the name they are called with.
DRIVER_LINKS = {"amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdflang", "amdlld", "amdllvm"}

HARD_LINK, REFLINK, COPY, SYMBOLIC_LINK = "hard link", "reflink", "copy", "symbolic link"

LINK_REFUSED = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_FICLONE = 0x40049409


class FileLinker:
    """The links from a tree to files of the directories beside it. `counts` says how often each method was used.

    staging: a staging directory; None if nothing will be linked, and a file that was linked by any method is right.
    """

    def __init__(self, site: str, staging: str | None) -> None:
        self.counts: Counter[str] = Counter()
        self._site = site
        self._staging = staging
        self._in_lower_layer: dict[str, bool] = {}

    def link(self, path: str, text: str, target: str) -> None:
        """Create `target`, the tree's `path`, for the symbolic link `text` in the archive.

        Raises FileNotFoundError if the linked file does not exist. Directories and drivers stay symbolic links.
        """
        source = self.source(path, text)
        file = installed_file(source)
        facts = os.stat(file, follow_symlinks=False)
        if self._stays_symbolic(path, source, facts):
            os.symlink(text, target)
            method = SYMBOLIC_LINK
        else:
            method = link_or_copy(file, target)
        self.counts[method] += 1

    def replace(self, tree: str, path: str, text: str) -> None:
        """Create the file of a link in one step in the directory `tree`, in place of a file that is there.

        Missing directories are made. Raises NotADirectoryError or IsADirectoryError if the tree is not as it was made.
        """
        temporary = f"{self._staging}/new-link"
        self.link(path, text, temporary)
        try:
            with parent_inside(tree, path, make_mode=0o777) as (parent, last):
                os.rename(temporary, last, dst_dir_fd=parent)
        finally:
            # The temporary link is still there if the renaming failed, or both are names of one file already.
            with suppress(FileNotFoundError):
                os.unlink(temporary)

    def is_current(self, path: str, text: str, target: str) -> bool:
        """Return whether `target` is what `link` would create now. False, too, if the linked file does not exist."""
        source = self.source(path, text)
        try:
            wanted = os.stat(installed_file(source), follow_symlinks=False)
            found = os.stat(target, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):  # a file or a link in place of a directory
                return False
            raise
        stays_symbolic = self._stays_symbolic(path, source, wanted)
        if stat.S_ISLNK(found.st_mode):
            return os.readlink(target) == text and stays_symbolic is not False
        if not stat.S_ISREG(found.st_mode) or stays_symbolic:
            return False
        return os.path.samestat(wanted, found) or (_is_copy(found, wanted) and not self._can_link(source))

    def is_copy(self, path: str, text: str, target: str) -> bool:
        """Return whether `target` is a copy of the linked file, which a hard link could replace."""
        try:
            wanted = os.stat(installed_file(self.source(path, text)), follow_symlinks=False)
            found = os.stat(target, follow_symlinks=False)
        except OSError:
            return False
        return stat.S_ISREG(found.st_mode) and found.st_dev == wanted.st_dev and _is_copy(found, wanted)

    def _can_link(self, source: str) -> bool:
        """Return whether a hard link to a file can be made now; False if nothing will be linked."""
        if self._staging is None:
            return False
        probe = f"{self._staging}/probe-link"
        try:
            os.link(installed_file(source), probe, follow_symlinks=False)
        except OSError:
            return False
        os.unlink(probe)
        return True

    def source(self, path: str, text: str) -> str:
        """Return the file that the link `text` at the tree's `path` points to.

        The text alone decides: the tree may be staged.
        """
        return os.path.normpath(os.path.join(self._site, "tree", os.path.dirname(path), text))

    def _stays_symbolic(self, path: str, source: str, facts: os.stat_result) -> bool | None:
        """Return whether a link stays symbolic; None if that is not known."""
        if not stat.S_ISREG(facts.st_mode) or (
            os.path.dirname(path) == "bin" and os.path.basename(path) in DRIVER_LINKS
        ):
            return True
        # A program finds its installation through /proc/self/exe, which resolves symbolic links.
        is_program = bool(facts.st_mode & 0o111) and ".so" not in os.path.basename(path)
        return False if is_program else self._is_in_lower_layer(source)

    def _is_in_lower_layer(self, source: str) -> bool | None:
        """Return whether the package of `source` is in a lower layer of an overlayfs, where a hard link makes a copy.

        The result is None if nothing will be linked.
        """
        if self._staging is None:
            return None
        package = os.path.join(self._site, os.path.relpath(source, self._site).partition("/")[0])
        if package not in self._in_lower_layer:
            self._in_lower_layer[package] = _cannot_move(package, os.path.join(self._staging, "not-empty"))
        return self._in_lower_layer[package]


def _cannot_move(package: str, obstacle: str) -> bool:
    """Return whether overlayfs refuses to rename `package`, as it does for a directory of a lower layer."""
    os.makedirs(obstacle, exist_ok=True)
    if os.stat(package).st_dev != os.stat(obstacle).st_dev:
        return False
    return refusal_to_move(package, obstacle) == errno.EXDEV


def _is_copy(found: os.stat_result, wanted: os.stat_result) -> bool:
    """Return whether a file is a copy of another one: a separate file with the same size and time."""
    return (
        found.st_nlink == 1
        and (found.st_size, found.st_mtime_ns) == (wanted.st_size, wanted.st_mtime_ns)
        and not os.path.samestat(found, wanted)
    )


def link_or_copy(source: str, target: str) -> str:
    """Create the file `target` with the content of the regular file `source`. Return the method that was used."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in LINK_REFUSED:
            raise
    else:
        return HARD_LINK
    with open(source, "rb") as original:
        return copy_file(original, target)


def copy_file(original: BinaryIO, target: str) -> str:
    """Create the file `target` with the content of an open file. Return the method that was used."""
    facts = os.fstat(original.fileno())
    mode = 0o777 if facts.st_mode & 0o111 else 0o666
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as copy:
        try:
            fcntl.ioctl(copy, _FICLONE, original.fileno())
            method = REFLINK
        except OSError:
            shutil.copyfileobj(original, copy, 1 << 20)
            copy.flush()
            method = COPY
        os.utime(descriptor, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    return method

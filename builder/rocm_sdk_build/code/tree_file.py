"""A file of a new tree: rewritten if its GPU code can be rewritten, otherwise copied."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.candidate import HEAD_SIZE, is_candidate
from rocm_sdk_build.base.input_file import ChangedInputError, InputFile
from rocm_sdk_build.base.new_file import new_file

from .bundles import read_code
from .choice import choose_images
from .file_pieces import copy_whole
from .rewrite import NewCode, Rewritten, rewrite_input

if TYPE_CHECKING:
    from rocm_sdk import DeviceCode

# Problems of one file that do not stop the work on a tree: the file stays as it is.
_LEFT = ("E-CODE-010", "E-CODE-012", "E-LIB-006")
_OBJECT = "code object"


class TreeFile(NamedTuple):
    """The result of a file; `size` is the size of the new file in bytes."""

    size: int
    rewritten: Rewritten | None = None
    left: RocmSdkError | None = None  # the error for which the file stays as it is, although it has GPU code
    is_complete: bool = False  # the file is a code object that one of the GPUs runs


def write_tree_file(source: InputFile, place: str, wish: NewCode, *, may_link: bool = False) -> TreeFile:
    """Write the new file `place`, with the times of the original; return the result.

    With `may_link` the new file is another name of the original if no code is dropped. Raise RocmSdkError for an error
    that stops the work on the tree.
    """
    found = _rewritten(source, place, wish)
    if may_link and (found.rewritten is None or not found.rewritten.dropped):
        if found.rewritten is not None:
            os.unlink(place)
            found = TreeFile(source.facts.st_size)
        if _linked(source, place):
            return found
    if found.rewritten is None:
        with new_file(place, source, is_synced=False) as new:
            copy_whole(source.descriptor, new, source.facts.st_size, source.path)
    os.utime(place, ns=(source.facts.st_atime_ns, source.facts.st_mtime_ns))
    return found


def _linked(source: InputFile, place: str) -> bool:
    """Give the file another name; return False if the system refuses the link.

    The system refuses a link on another file system, or to another user's file. Raise ChangedInputError if the
    file has changed meanwhile.
    """
    try:
        os.link(source.path, place)
    except OSError:
        return False
    now, before = os.lstat(place), source.facts
    if not os.path.samestat(now, before) or (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise ChangedInputError(errno.ESTALE, "it changed while it was linked; let nothing write to it", source.path)
    return True


def _rewritten(source: InputFile, place: str, wish: NewCode) -> TreeFile:
    size = source.facts.st_size
    if not wish.steps() or not is_candidate(os.pread(source.descriptor, HEAD_SIZE, 0)):
        return TreeFile(size)
    try:
        code = read_code(source.descriptor, source.path)
        if not code.bundles and code.kernel_name is None:
            return TreeFile(size)
        if _is_object_to_keep(code, wish):
            return TreeFile(size, is_complete=True)
        made = rewrite_input(source, place, wish, is_synced=False)
    except RocmSdkError as error:
        if error.code not in _LEFT:
            raise
        return TreeFile(size, left=error)
    return TreeFile(os.path.getsize(place), made)


def _is_object_to_keep(code: DeviceCode, wish: NewCode) -> bool:
    """Return whether a file is a code object, which cannot be made smaller, and one of the GPUs runs it."""
    is_kept = bool(wish.gpus) and wish.compressed is None and not wish.retarget
    images = [image for bundle in code.bundles for image in bundle.images] if is_kept and code.kind == _OBJECT else []
    return bool(images) and choose_images(images, wish.gpus, wish.unofficial) == images

"""The kernels of a file of GPU code, as the metadata of its code objects describes them."""

from __future__ import annotations

import tempfile
from typing import Any, NamedTuple

from rocm_sdk import _native


class Kernel(NamedTuple):
    """A kernel of a code object."""

    target: str
    bundle: int  # number of its bundle in the file
    name: str  # as the compiler writes it: mangled, if it is C++
    metadata: dict[str | int, Any]  # the kernel's description: ".vgpr_count", ".args", ...; {} in version 2


def kernels_in(path: str, directory: str) -> list[Kernel]:
    """Return the kernels of each code object of a file, in their order.

    directory: the place for content that has to be decompressed. Raises BadLibraryError for a file or a code object
    that is damaged, the other errors of `device_code`, and OSError.
    """
    with tempfile.TemporaryFile(dir=directory, buffering=0) as scratch:
        return [Kernel(*each) for each in _native.kernels(path, scratch.fileno())]

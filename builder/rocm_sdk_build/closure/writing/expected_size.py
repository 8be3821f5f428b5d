"""The size of a file in a closure, as far as its list of GPU code tells before anything is rewritten."""

from __future__ import annotations

from rocm_sdk import device_code
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.targets import compatibility
from rocm_sdk_build.code.rewrite import Wish


def expected_size(path: str, size: int, wish: Wish) -> int:
    """Return the bytes of a library or program of this size without the code that no GPU of the wish runs.

    A file that cannot be read counts with all its bytes.
    """
    if not wish.gpus:
        return size
    try:
        code = device_code(path)
    except (OSError, RocmSdkError):  # the writing of the file will tell the fault
        return size
    whole = sum(target.size for target in code.targets)
    if whole == 0:
        return size
    used = sum(target.size for target in code.targets if _is_kept(target.target, wish))
    return size - round(code.stored_size * (1 - used / whole))


def _is_kept(target: str, wish: Wish) -> bool:
    """Return whether code for a target stays; code for an unknown target stays."""
    try:
        return any(compatibility(target, gpu, unofficial=wish.unofficial).fit != "none" for gpu in wish.gpus)
    except RocmSdkError:
        return True

"""How much of a file a closure will write, as far as its list of GPU code tells before anything is rewritten."""

from __future__ import annotations

from rocm_sdk import device_code
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.targets import compatibility
from rocm_sdk_build.code.rewrite import Wish


def expected_size(path: str, size: int, wish: Wish) -> int:
    """Return the bytes of a library or program of this size without the code that no GPU of the wish runs.

    All bytes of what cannot be read.
    """
    if not wish.gpus:
        return size
    try:
        code = device_code(path)
    except (OSError, RocmSdkError):  # its writing says what is wrong
        return size
    whole = sum(target.size for target in code.targets)
    if whole == 0:
        return size
    used = sum(target.size for target in code.targets if _is_kept(target.target, wish))
    return size - round(code.stored_size * (1 - used / whole))


def _is_kept(target: str, wish: Wish) -> bool:
    """What no name tells of stays."""
    try:
        return any(compatibility(target, gpu, unofficial=wish.unofficial).fit != "none" for gpu in wish.gpus)
    except RocmSdkError:
        return True

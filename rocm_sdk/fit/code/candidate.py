"""The files that may hold GPU code, by their first bytes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from rocm_sdk._native import DeviceCode
    from rocm_sdk.errors import RocmSdkError

    Found = DeviceCode | RocmSdkError

HEAD_SIZE = 64
CODE_ENDINGS = (".o", ".co", ".hsaco", ".kpack")  # of files that the linker does not load
_MAGICS = (b"\x7fELF", b"!<arch>\n", b"KPAK", b"CCOB", b"__CLANG_OFFLOAD_BUNDLE__", b"\x10\xff\x10\xad")


def is_candidate(head: bytes) -> bool:
    """Return whether a file that begins like this may hold GPU code."""
    return head.startswith(_MAGICS)


def may_have_code(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like one that may hold GPU code. Raise OSError."""
    with open(path, "rb") as file:
        return is_candidate(file.read(HEAD_SIZE))

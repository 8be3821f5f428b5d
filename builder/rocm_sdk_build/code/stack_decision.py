"""The libraries that ask for an executable stack by mistake, and the text about them.

A linked library does not tell why its flag is set. The flag stays if code of the library writes trampolines onto the
stack, which can be seen in x86-64 code. Otherwise the flag is cleared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk_build.base.errors import PackagingError

from .executable_stack import clear_executable_stack, writes_trampolines

_WHY = {
    False: "none of its code writes trampolines onto the stack",
    None: "whether its code needs one is not known for this processor",
}


class Decision(NamedTuple):
    """The libraries that lose the flag, and lines about them."""

    cleared: frozenset[str] = frozenset()
    told: str = ""


def decide(flagged: Mapping[str, Path], keeps: bool) -> Decision:
    """Return the decision about libraries (name -> file) whose flag is set.

    With `keeps` no flag is cleared (`--keep-execstack`).
    """
    needs = {} if keeps else {name: _needs(path) for name, path in flagged.items()}
    cleared = sorted(name for name, answer in needs.items() if not answer)
    kept = sorted(needs.keys() - set(cleared))
    lines = [f"  {name}: {_WHY[needs[name]]}" for name in cleared]
    told = ["these no longer ask for an executable stack, which glibc 2.41 refuses (--keep-execstack):", *lines]
    more = ["an executable stack is asked for, and needed: the code writes trampolines onto it:"]
    more += [f"  {name}" for name in kept]
    return Decision(frozenset(cleared), "\n".join([*(told if cleared else ()), *(more if kept else ())]))


def _needs(path: Path) -> bool | None:
    try:
        return writes_trampolines(str(path))
    except RocmSdkError as error:
        raise PackagingError(error.message) from error


def clear(path: Path) -> None:
    """Clear the flag of a file of ours.

    Raise PackagingError if the file is not an ELF file.
    """
    try:
        with path.open("r+b", buffering=0) as file:
            clear_executable_stack(file.fileno(), str(path))
    except RocmSdkError as error:
        raise PackagingError(error.message) from error

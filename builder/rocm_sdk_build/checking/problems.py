"""The faults of files in a directory of packages, collected: one wrong file must not hide another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheel_name import wheel_name
from rocm_sdk_build.packages.parts import short_name


class Problem(NamedTuple):
    """The fault of a file, and its fix."""

    file: Path
    what: str
    fix: str


class Problems:
    """The faults that were found so far, each once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def tell(self, file: Path, what: str, fix: str) -> None:
        """Record a fault of a file, `what` in words, and its fix; an equal fault is recorded once."""
        self._found.setdefault(Problem(file, what, fix))

    @contextmanager
    def of(self, file: Path, fix: str = "") -> Iterator[None]:
        """Yield to a block that reads a file, and record the error with which the block ends.

        `fix` replaces the error's own fix.
        """
        try:
            yield
        except PackagingError as error:
            self.tell(file, str(error).removeprefix(f"{file}: "), fix or error.fix)
        except (PermissionError, FileNotFoundError) as error:
            self.tell(file, f"cannot be read: {error.strerror}", "give it to the user who checks it, or remove it")


def again(project: str, version: str = "") -> str:
    """Return the fix for a package that must be made; `version` is its version, if it is known."""
    of = version and f" --version {version}"
    return f"make it: rocm-sdk-build artifacts --only {short_name(project)}{of} with the options of the others"


def project_of(wheel: Path) -> str:
    """Return the normalised name of a wheel's distribution."""
    return wheel_name(wheel).project

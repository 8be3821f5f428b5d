"""What is wrong with files of a directory of packages, collected: one wrong file must not hide another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.wheel_name import wheel_name
from rocm_sdk_build.packages.parts import short_name


class Problem(NamedTuple):
    """What is wrong with a file, and what to do."""

    file: Path
    what: str
    fix: str


class Problems:
    """Those that were found so far, each once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def tell(self, file: Path, what: str, fix: str) -> None:
        self._found.setdefault(Problem(file, what, fix))

    @contextmanager
    def of(self, file: Path, fix: str = "") -> Iterator[None]:
        """The block reads a file, and ends where it is wrong. fix: in place of that of the error."""
        try:
            yield
        except PackagingError as error:
            self.tell(file, str(error).removeprefix(f"{file}: "), fix or error.fix)
        except (PermissionError, FileNotFoundError) as error:
            self.tell(file, f"cannot be read: {error.strerror}", "give it to the user who checks it, or remove it")


def again(project: str, version: str = "") -> str:
    """What to do about a package that must be made. version: of it, if it is known."""
    of = version and f" --version {version}"
    return f"make it: rocm-sdk-build artifacts --only {short_name(project)}{of} with the options of the others"


def project_of(wheel: Path) -> str:
    """The distribution of a wheel by its name, normalised."""
    return wheel_name(wheel).project

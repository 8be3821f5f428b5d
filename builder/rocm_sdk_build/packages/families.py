"""The target families of a build, which the loader's table expands."""

from __future__ import annotations

from rocm_sdk import UnknownTargetError, targets
from rocm_sdk._native import package_owner
from rocm_sdk.base.value_text import listed
from rocm_sdk_build.base.errors import WrongUsageError


def names_in(text: str) -> tuple[str, ...]:
    """Return the names that `,` or `;` separate, each once."""
    return tuple(dict.fromkeys(listed(text)))


def expand(names: str | None) -> tuple[str, ...] | None:
    """Return the targets of families, sorted, or None if no family is named: there is no such platform.

    Names of families are separated by `,` or `;`. Raise WrongUsageError for a family that is not known.
    """
    if names is None or not names_in(names):
        return None
    try:
        return tuple(sorted(targets.expand(names)))
    except UnknownTargetError as error:
        raise WrongUsageError(error.message, error.fix or "") from error


def is_family(name: str) -> bool:
    """Return whether the loader's table has a family or target of this name."""
    try:
        targets.expand(name)
    except UnknownTargetError:
        return False
    return True


class Families:
    """The targets that the packages are for, and the systems of these targets."""

    def __init__(self, linux: str | None, windows: str | None, present: set[str]) -> None:
        """Expand the families that are asked for, `linux` and `windows`; without both, `present` counts.

        `present` has the families of the artifacts, features included.
        """
        self.linux, self.windows = expand(linux) or (), expand(windows) or ()
        self.named = names_in(f"{linux or ''},{windows or ''}")  # families by the names of the user
        if self.linux or self.windows:
            self.available = tuple(sorted({*self.linux, *self.windows}))
            both = sorted(set(self.linux) & set(self.windows))
            self.default: str | None = next(iter(both or self.available), None)
        else:
            self.available = tuple(sorted(present))
            self.default = self.available[0] if self.available else None

    def targets(self) -> tuple[str, ...]:
        """Return the targets that packages are named after, each once."""
        return tuple(dict.fromkeys(map(package_owner, self.available)))

    def marker(self, target: str) -> str:
        """Return the environment marker of a requirement of this target; "" if the target is for all systems."""
        if not (self.linux and self.windows):
            return ""
        on_linux, on_windows = target in map(package_owner, self.linux), target in map(package_owner, self.windows)
        if on_linux == on_windows:
            return ""
        return 'sys_platform == "linux"' if on_linux else 'sys_platform == "win32"'

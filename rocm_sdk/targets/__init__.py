"""What gfx targets and target families are: the tables of the C library.

    >>> from rocm_sdk import targets
    >>> targets.lookup("gfx1151").product
    'AMD Strix Halo iGPU'
    >>> targets.expand("gfx110X-igpu,gfx942:xnack-")
    ('gfx1103', 'gfx942:xnack-')

Unknown names raise UnknownTargetError, a ValueError, with the nearest known ones.
"""

from rocm_sdk import _native
from rocm_sdk._native import Target

__all__ = ["Target", "expand", "families_of", "lookup", "package_owner", "table"]


def lookup(name: str) -> Target:
    """The target of this name; features behind it are allowed and do not matter."""
    return _native.target(name)


def expand(names: str) -> tuple[str, ...]:
    """The targets that a list stands for, in order, each once.

    names: targets and families, `,` or `;` between them. Families are known in all their spellings: gfx94X-dcgpu,
        gfx9_4, gfx9-4, gfx94x. Targets may carry features (gfx942:xnack-), which are kept.
    """
    found: dict[str, None] = {}
    for name in filter(None, map(str.strip, names.replace(";", ",").split(","))):
        found |= dict.fromkeys([_native.target_id(name)] if ":" in name else _native.expand_targets(name))
    return tuple(found)


def families_of(target: str) -> tuple[str, ...]:
    """The packaging families of a target, its own name first; empty where ROCm is not built for it."""
    return _native.families_of(target)


def package_owner(target: str) -> str:
    """The target whose packages serve this one: mostly itself."""
    return _native.target(target).package_owner


def table() -> tuple[Target, ...]:
    """All targets that are known."""
    return _native.targets()

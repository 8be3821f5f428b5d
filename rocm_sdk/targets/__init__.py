"""The gfx targets and target families: the tables of the C library.

    >>> from rocm_sdk import targets
    >>> targets.lookup("gfx1151").product
    'AMD Strix Halo iGPU'
    >>> targets.expand("gfx110X-igpu,gfx942:xnack-")
    ('gfx1103', 'gfx942:xnack-')

Unknown names raise UnknownTargetError, a ValueError, which names the nearest known ones.
"""

from rocm_sdk import _native
from rocm_sdk._native import Target

__all__ = ["Target", "expand", "families_of", "lookup", "package_owner", "table"]


def lookup(name: str) -> Target:
    """The target of this name. Features after the name are allowed and ignored."""
    return _native.target(name)


def expand(names: str) -> tuple[str, ...]:
    """The targets of a list, in order, each once.

    names: targets and families, separated by `,` or `;`. Families have several spellings: gfx94X-dcgpu, gfx9_4,
        gfx9-4, gfx94x. Targets may have features (gfx942:xnack-), which are kept.
    """
    found: dict[str, None] = {}
    for name in filter(None, map(str.strip, names.replace(";", ",").split(","))):
        found |= dict.fromkeys([_native.target_id(name)] if ":" in name else _native.expand_targets(name))
    return tuple(found)


def families_of(target: str) -> tuple[str, ...]:
    """The packaging families of a target, its own name first; empty if ROCm is not built for it."""
    return _native.families_of(target)


def package_owner(target: str) -> str:
    """The target whose packages support this one, mostly itself."""
    return _native.target(target).package_owner


def table() -> tuple[Target, ...]:
    """All known targets."""
    return _native.targets()

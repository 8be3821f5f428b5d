"""The gfx targets and target families: the tables of the C library.

    >>> from rocm_sdk import targets
    >>> targets.lookup("gfx1151").product
    'AMD Radeon 8065S / 8060S / 8050S / 8040S (Strix Halo)'
    >>> targets.expand("gfx110X-igpu,gfx942:xnack-")
    ('gfx1103', 'gfx942:xnack-')

Unknown names raise UnknownTargetError, a ValueError, which names the nearest known ones.
"""

from rocm_sdk import _native
from rocm_sdk._native import Target
from rocm_sdk.base.value_text import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import Compatibility

__all__ = ["Target", "choose_family", "compatibility", "expand", "families_of", "lookup", "package_owner", "table"]


def lookup(name: str) -> Target:
    """Return the target of this name. Features after the name are allowed and ignored."""
    return _native.target(name)


def expand(names: str) -> tuple[str, ...]:
    """Return the targets of a list, in order, each once.

    names: targets and families, separated by `,` or `;`. Families have several spellings: gfx94X-dcgpu, gfx9_4,
        gfx9-4, gfx94x. Targets may have features (gfx942:xnack-), which are kept.
    """
    found: dict[str, None] = {}
    for name in listed(names):
        found |= dict.fromkeys([_native.target_id(name)] if ":" in name else _native.expand_targets(name))
    return tuple(found)


def refuse_no_target(option: str, selection: str) -> None:
    """Raise EmptySelectionError for a list of targets that names none. option: the name of the option with the list."""
    if not listed(selection):
        from rocm_sdk import EmptySelectionError

        raise EmptySelectionError(f"{option} {selection!r} names no target", "name some: gfx942,gfx110X-all")


def families_of(target: str) -> tuple[str, ...]:
    """Return the packaging families of a target, its own name first; empty if ROCm is not built for it."""
    return _native.families_of(target)


def package_owner(target: str) -> str:
    """Return the target whose packages support this one, usually itself."""
    return _native.target(target).package_owner


def table() -> tuple[Target, ...]:
    """Return all known targets."""
    return _native.targets()


def choose_family(families: "Iterable[str]") -> tuple[str, str] | None:
    """Return which of the families the GPUs of this machine need, and the target of the GPU that decides.

    A visible GPU takes precedence over a hidden one, a discrete one over an integrated one; then more memory, then the
    kernel's order. GPUs that no family fits do not count; None if none is left. Raises TopologyError like gpus().
    """
    family, _, gpu = _native.choose_family(tuple(families))
    return (family, gpu) if family is not None and gpu is not None else None


def compatibility(
    code: str, gpu: str, *, generic_version: int | None = None, unofficial: bool = False
) -> "Compatibility":
    """Return whether a GPU runs code that was compiled for a target.

    code: the target of the code ("gfx90a:xnack-", "gfx11-generic", "amdgcnspirv").
    gpu: the target that ROCm presents for the GPU (`Gpu.target`). If it leaves a feature of its processor open, like
        "gfx90a", code for either mode fits, and the result says which mode that takes.
    generic_version: of code for a generic target; None if it is not known.
    unofficial: whether to count code that only runtimes with distributions' patches try.
    """
    return _native.compatibility(code, gpu, generic_version, unofficial)

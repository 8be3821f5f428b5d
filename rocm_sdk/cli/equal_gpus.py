"""The grouping of GPUs that are equal except for their place, as one line.

An example is "64 x gfx942 AMD Instinct MI300X, 206.2 GB each, usable".
"""

from rocm_sdk.base.value_text import size_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm_sdk._native import Gpu


def equal_gpus(gpus: "Iterable[Gpu]") -> "list[list[Gpu]]":
    """Return the GPUs in groups of equal ones, in the order of their first."""
    groups: dict[tuple[object, ...], list[Gpu]] = {}
    for gpu in gpus:
        groups.setdefault((gpu.target, gpu.name, gpu.memory, gpu.usable, reason_of(gpu)), []).append(gpu)
    return [*groups.values()]


def reason_of(gpu: "Gpu") -> "str | None":
    """Return why a GPU cannot be used, without the name of its own device file; None if it can."""
    if gpu.why_not is None or gpu.render_node is None:
        return gpu.why_not
    return gpu.why_not.replace(gpu.render_node, "")


def lines_of(groups: "Iterable[list[Gpu]]") -> "Iterator[str]":
    """Yield a line for each group; a reason is the one of the first GPU that has it, and is said once."""
    said: set[str | None] = set()
    for group in groups:
        reason = reason_of(group[0])
        why = ", for the same reason" if reason in said else f": {group[0].why_not}"
        said.add(reason)
        yield _line_of(group, "usable" if group[0].usable else f"not usable{why}")


def _line_of(group: "list[Gpu]", usable: str) -> str:
    first, count = group[0], len(group)
    number, each = (f"{count} x ", " each") if count > 1 else ("", "")
    return f"{number}{first.processor} {first.name}, {size_text(first.memory)}{each}, {usable}"

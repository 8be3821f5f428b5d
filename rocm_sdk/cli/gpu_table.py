"""The GPUs of this machine as a table with one row each, and below it, once each, why some cannot be used."""

from rocm_sdk.base.value_text import size_text
from rocm_sdk.terminal.output import saying, tell_table, tell_wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from rocm_sdk._native import Gpu

_MOST_ROWS = 16  # GPUs of a node, or partitions, that a screen shows
_HEADINGS = ("node", "target", "PCI", "memory", "in use", "usable", "GPU")
_NUMBERS = ("memory", "in use")


def tell_gpus(gpus: "Sequence[Gpu]", *, each: bool = False, said: "Sequence[str]" = ()) -> None:
    """Write the table; of more GPUs than fit on a screen, a line for each kind, unless `each` is true.

    said: the texts of messages below the table; a reason that is in one of them is left out.
    """
    groups = equal_gpus(gpus)
    if _MOST_ROWS < len(gpus) > len(groups) and not each:
        for line in lines_of(groups):
            tell_wrapped(line)
        return
    if not gpus:
        return
    tell_table(*saying(_HEADINGS, [_row(gpu) for gpu in gpus]), _NUMBERS)
    reasons: dict[str, list[Gpu]] = {}
    for gpu in gpus:
        if gpu.why_not is not None and not any(gpu.why_not in text for text in said):
            reasons.setdefault(reason_of(gpu) or "", []).append(gpu)
    for having in reasons.values():
        tell_wrapped(f"{nodes_text([gpu.node for gpu in having], len(gpus))}: {_reason_text(having)}")


def nodes_text(nodes: "Collection[int]", count: int = 0) -> str:
    """Return which of `count` GPUs, by their nodes: "node 3", "nodes 1, 2" or "each GPU"."""
    if len(nodes) == count > 1:
        return "each GPU"
    return f"node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"


def _row(gpu: "Gpu") -> "Sequence[str]":
    from rocm_sdk.fit.in_use import used_memory

    used = used_memory(gpu)
    memory, in_use = size_text(gpu.memory), "-" if used is None else size_text(used)
    usable = "yes" if gpu.usable else "no"
    return str(gpu.node), gpu.processor, gpu.pci_address, memory, in_use, usable, gpu.name


def _reason_text(gpus: "Sequence[Gpu]") -> str:
    """Return the common reason why these GPUs cannot be used, with a pattern for several device files."""
    first, why = gpus[0], gpus[0].why_not or ""
    if len(gpus) == 1 or first.render_node is None:
        return why
    return why.replace(first.render_node, f"{first.render_node.rstrip('0123456789')}*")


def equal_gpus(gpus: "Iterable[Gpu]") -> "list[list[Gpu]]":
    """Return the GPUs in groups of equal ones, in the order of the first of each."""
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
    """Yield a line for each group; each reason is given once, with the first GPU that has it."""
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

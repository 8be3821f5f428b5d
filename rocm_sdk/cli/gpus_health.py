"""The command `rocm-sdk gpus --health`: the condition of the GPUs, with common findings printed once."""

from rocm_sdk.base.value_text import size_text
from rocm_sdk.terminal.output import saying, tell, tell_json, tell_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm_sdk._native import Gpu
    from rocm_sdk.problems import Problem

    Item = tuple[str, int | None, str, str, Problem | None]

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_HEADINGS = ("node", "check", "state", "found")
_OF_GPUS = ("node", "PCI", "memory", "in use", "state", "found")


def print_health(gpus: "Sequence[Gpu]", items: "Sequence[Item]", *, for_programs: bool) -> None:
    """Print the findings: for one GPU a row for each check; for several a row for each GPU, and what they share."""
    if for_programs:
        tell_json(_SCHEMA, health=[_document(*item) for item in items])
    elif len(gpus) > 1:
        own, common = _divided(items)
        tell_table(*saying(_OF_GPUS, [_row(gpu, items, own) for gpu in gpus]), ("memory", "in use"))
        if common:
            tell("")
            tell_table(_HEADINGS, [_common_row(item, nodes, len(gpus)) for item, nodes in common], ())
    elif items:
        tell_table(_HEADINGS, [_common_row(item, [item[1]], 1) for item in items], ())


def _divided(items: "Iterable[Item]") -> "tuple[dict[int, list[Item]], list[tuple[Item, list[int | None]]]]":
    """Return the findings that only one GPU has, by its node; and the others, each with the nodes that have it."""
    groups: dict[tuple[str, str, str], list[Item]] = {}
    for item in items:
        check, _, state, text, _ = item
        groups.setdefault((check, state, text), []).append(item)
    own: dict[int, list[Item]] = {}
    common: list[tuple[Item, list[int | None]]] = []
    for group in groups.values():
        node = group[0][1]
        if len(group) == 1 and node is not None:
            own.setdefault(node, []).append(group[0])
        else:
            common.append((group[0], [item[1] for item in group]))
    return own, common


def _row(gpu: "Gpu", items: "Iterable[Item]", own: "dict[int, list[Item]]") -> "Sequence[str]":
    """Return the row of a GPU. The state is that of its worst finding, even if others have that one, too."""
    from rocm_sdk.fit.in_use import used_memory

    states = {state for _, node, state, _, _ in items if node == gpu.node}
    used = used_memory(gpu)
    return (
        str(gpu.node),
        gpu.pci_address,
        size_text(gpu.memory),
        "-" if used is None else size_text(used),
        "bad" if "bad" in states else "good" if "good" in states else next(iter(states), "-"),
        "; ".join(f"{check}: {text}" for check, _, _, text, _ in own.get(gpu.node, ())),
    )


def _common_row(item: "Item", nodes: "Sequence[int | None]", count: int) -> "Sequence[str]":
    check, node, state, text, _ = item
    if node is None:
        return "all", check, state, text
    return "each" if len(nodes) == count > 1 else ",".join(map(str, nodes)), check, state, text


def _document(check: str, node: int | None, state: str, text: str, problem: "Problem | None") -> dict[str, object]:
    document = None if problem is None else problem.as_document()
    return {"check": check, "node": node, "state": state, "text": text, "problem": document}

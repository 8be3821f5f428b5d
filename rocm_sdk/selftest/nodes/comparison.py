"""Reports of many nodes in groups of equal outcome; what each group has otherwise than the largest."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .reading import NodeReport, Unreadable

# Keys that differ from run to run, or from node to node of equal ones.
_OF_RUN = ("seconds", "microseconds")
_OF_NODE = ("host", "name", "task")
_OF_TASK = frozenset(
    {
        *("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"),
        *("ROCM_SDK_REPORT", "PYTHONHASHSEED"),
    }
)
_COUNT = re.compile(r"[0-9]{1,6}")
_NONE = "none"
_SHOWN = 200  # letters of a value


class Difference(NamedTuple):
    """What is otherwise than in the largest group. Values are texts."""

    what: str
    norm: str
    value: str


class Group(NamedTuple):
    """Reports of one kind with one outcome."""

    of: str  # "node" or "rank"
    is_norm: bool  # it is the largest group of its kind
    report_count: int
    names: tuple[str, ...]  # of nodes, and of single tasks where others of the node are in another group
    differences: tuple[Difference, ...]  # from the largest group, which has none
    errors: tuple[str, ...]  # codes and titles


class Merged(NamedTuple):
    """All reports. The largest group of each kind is the last of its kind: the others come first."""

    groups: tuple[Group, ...]
    unreadable: tuple[Unreadable, ...]
    absent: tuple[str, ...]  # expected nodes, and tasks of a job, without a report
    report_count: int

    @property
    def is_sound(self) -> bool:
        """Whether all nodes and tasks are there, equal, and without errors."""
        are_equal = all(group.is_norm and not group.errors for group in self.groups)
        return are_equal and bool(self.groups) and not self.unreadable and not self.absent


def merge(reports: Sequence[NodeReport], unreadable: Iterable[Unreadable], expected: Iterable[str]) -> Merged:
    """Groups the reports of each kind. Of two groups of one size that of the first node's name is the norm."""
    groups = [group for of in ("node", "rank") for group in _groups(of, [each for each in reports if each.of == of])]
    known = {each.node for each in reports}
    absent = (*(name for name in expected if name not in known), *_absent_tasks(reports))
    return Merged(tuple(groups), tuple(unreadable), absent, len(reports))


def _groups(of: str, reports: Sequence[NodeReport]) -> Iterable[Group]:
    by_outcome: dict[str, list[NodeReport]] = defaultdict(list)
    for each in reports:
        by_outcome[json.dumps(_outcome(each.document), sort_keys=True)].append(each)
    if not by_outcome:
        return
    first, *others = sorted(by_outcome.values(), key=lambda group: (-len(group), min(each.node for each in group)))
    norm = _values(first[0].document)
    counts = Counter(each.node for each in reports)
    for group in (*others, first):
        document = group[0].document
        found = tuple(_differences(norm, _values(document)))
        yield Group(of, group is first, len(group), tuple(_names(group, counts)), found, tuple(_errors(document)))


def _names(group: Sequence[NodeReport], counts: Mapping[str, int]) -> Iterable[str]:
    """The nodes of a group; the tasks of a node whose other reports are in other groups."""
    own = Counter(each.node for each in group)
    names = {
        each.node if own[each.node] == counts[each.node] or each.task is None else f"{each.node} task {each.task}"
        for each in group
    }
    return sorted(names)


def _absent_tasks(reports: Iterable[NodeReport]) -> Iterable[str]:
    """The tasks of a job that wrote no report, where their launcher says how many there are."""
    ranks = [each for each in reports if each.of == "rank"]
    counts = (each.document["node"].get("tasks") for each in ranks)
    count = max((int(each) for each in counts if isinstance(each, str) and _COUNT.fullmatch(each)), default=0)
    known = {each.task for each in ranks}
    return [f"task {number}" for number in range(count) if str(number) not in known]


def _outcome(document: Mapping[str, Any]) -> Any:
    """The document without what differs between equal nodes."""
    node = document["node"]
    environment = node.get("environment")
    own = {key: value for key, value in node.items() if key not in _OF_NODE}
    if isinstance(environment, dict):
        own["environment"] = {name: value for name, value in environment.items() if name not in _OF_TASK}
    subjects = document.get("subjects")
    plain = [_without(each, _OF_RUN) for each in subjects] if isinstance(subjects, list) else subjects
    problems = [_plain_problem(each, node) for each in document["problems"]]
    rest = _without(document, _OF_RUN)
    return {**rest, "node": own, "subjects": plain, "problems": problems}


def _without(value: Any, keys: Iterable[str]) -> Any:
    return {key: each for key, each in value.items() if key not in keys} if isinstance(value, dict) else value


def _plain_problem(problem: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """Texts without the name of the host, which some have in them."""
    host = node.get("host")
    if not isinstance(host, str) or not host:
        return dict(problem)
    return {key: value.replace(host, "HOST") if isinstance(value, str) else value for key, value in problem.items()}


def _values(document: Mapping[str, Any]) -> dict[str, str]:
    """What is compared: name of a fact -> its value as a text."""
    node = document["node"]
    values = {"SDK": _text(document.get("version")), "directory": _text(document.get("site"))}
    values |= {key: _text(node.get(key)) for key in ("kernel", "driver")}
    gpus = [each.get("target") for each in _list(node.get("gpus")) if isinstance(each, dict)]
    values["GPUs"] = f"{len(gpus)} ({', '.join(sorted(set(map(str, gpus))))})" if gpus else _NONE
    usable = sum(bool(each.get("usable")) for each in _list(node.get("gpus")) if isinstance(each, dict))
    values["usable GPUs"] = str(usable)
    values["firmware"] = "; ".join(sorted({_pairs(each) for each in _list(node.get("firmware"))})) or _NONE
    for title, key, holder in (
        ("package", "distributions", document),
        ("RECORD of", "record_digests", node),
        ("variable", "environment", node),
    ):
        rows = holder.get(key)
        for name, value in rows.items() if isinstance(rows, dict) else ():
            if name not in _OF_TASK:
                values[f"{title} {name}"] = _text(value)[:_SHOWN]
    for each in _list(document.get("libraries")):
        if isinstance(each, dict):
            build_id = f" (build ID {_text(each['build_id'])[:_SHOWN]})" if each.get("build_id") else ""
            values[f"library {_text(each.get('name'))[:_SHOWN]}"] = _text(each.get("path")) + build_id
    for each in document["problems"]:
        values[f"{each.get('severity', 'problem')} {each['code']}"] = _text(_plain_problem(each, node).get("title"))
    return values


def _differences(norm: Mapping[str, str], values: Mapping[str, str]) -> Iterable[Difference]:
    for what in dict.fromkeys((*norm, *values)):
        one, other = norm.get(what, _NONE), values.get(what, _NONE)
        if one != other:
            yield Difference(what, one, other)


def _errors(document: Mapping[str, Any]) -> Iterable[str]:
    for each in document["problems"]:
        if each.get("severity") == "error":
            yield f"{each['code']} {_text(each.get('title'))}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _pairs(value: Any) -> str:
    return ", ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str:
    return _NONE if value is None else str(value)

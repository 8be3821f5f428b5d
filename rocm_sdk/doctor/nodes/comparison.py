"""The reports of many nodes in groups of equal outcome, and the differences of each group from the largest."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from rocm_sdk.base.value_text import counted

from .node_reports import NodeReport, Unreadable, read_report, read_reports

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
_NOT_SHOWN = "(not shown)"  # instead of a value that may be a secret
# docs/limits.md has these limits and their reasons.
_SHOWN = 200  # letters of a value
_FACTS = 1 << 12  # of a report that are compared
_ERRORS = 100  # of a group
_DIFFERENCES = 100  # of a group
_GROUPS = 200  # whose differences are shown
_ABSENT_TASKS = 10_000  # that are named


class Difference(NamedTuple):
    """A difference from the largest group. Values are texts."""

    what: str
    norm: str
    value: str


class Group(NamedTuple):
    """The reports of one kind with one outcome."""

    of: str  # "node" or "rank"
    is_norm: bool  # it is the largest group of its kind
    report_count: int
    names: tuple[str, ...]  # of nodes, and of single tasks if others of the node are in another group
    differences: tuple[Difference, ...]  # from the largest group, which has none
    errors: tuple[str, ...]  # codes and titles
    untold: str = ""  # why some differences or errors are left out


class Merged(NamedTuple):
    """The groups of all reports. The largest group of each kind is the last of its kind: the others come first."""

    groups: tuple[Group, ...]
    unreadable: tuple[Unreadable, ...]
    absent: tuple[str, ...]  # expected nodes, and tasks of a job, without a report
    report_count: int

    @property
    def is_sound(self) -> bool:
        """True if all nodes and tasks are there, equal, and without errors."""
        are_equal = all(group.is_norm and not group.errors for group in self.groups)
        return are_equal and bool(self.groups) and not self.unreadable and not self.absent


class _Known(NamedTuple):
    """The part of a read report that is kept."""

    file: str
    of: str
    node: str
    task: str | None
    task_count: int  # the count that its launcher gives; 0: none
    outcome: bytes  # a digest


def merge(directory: str, names: Iterable[str], expected: Iterable[str]) -> Merged:
    """Group the reports of each kind, and return all groups.

    If two groups have the same size, the norm is the one with the first node's name. Reports are read one by one, and
    one of each group again. So the memory grows only with their number.
    """
    known: list[_Known] = []
    unreadable: list[Unreadable] = []
    for each in read_reports(directory, names):
        if isinstance(each, NodeReport):
            known.append(_known(each))
        else:
            unreadable.append(each)
    groups = [
        group for of in ("node", "rank") for group in _groups(of, [each for each in known if each.of == of], directory)
    ]
    nodes = {each.node for each in known}
    absent = (*(name for name in expected if name not in nodes), *_absent_tasks(known))
    return Merged(tuple(groups), tuple(unreadable), absent, len(known))


def _known(report: NodeReport) -> _Known:
    node = report.document["node"]
    count = node.get("tasks") if report.of == "rank" else None
    # The outcome is the document without the values that differ between equal nodes.
    environment = node.get("environment")
    own = {key: value for key, value in node.items() if key not in _OF_NODE}
    if isinstance(environment, dict):
        own["environment"] = {name: value for name, value in environment.items() if name not in _OF_TASK}
    subjects = report.document.get("subjects")
    plain = [_without(each, _OF_RUN) for each in subjects] if isinstance(subjects, list) else subjects
    problems = [_plain_problem(each, node) for each in report.document["problems"]]
    rest = _without(report.document, _OF_RUN)
    outcome = json.dumps({**rest, "node": own, "subjects": plain, "problems": problems}, sort_keys=True).encode()
    return _Known(
        report.file,
        report.of,
        report.node,
        report.task,
        int(count) if isinstance(count, str) and _COUNT.fullmatch(count) else 0,
        hashlib.sha256(outcome).digest(),
    )


def _groups(of: str, reports: Sequence[_Known], directory: str) -> Iterable[Group]:
    by_outcome: dict[bytes, list[_Known]] = defaultdict(list)
    for each in reports:
        by_outcome[each.outcome].append(each)
    if not by_outcome:
        return
    first, *others = sorted(by_outcome.values(), key=lambda group: (-len(group), min(each.node for each in group)))
    norm = _facts_of(first[0], directory)
    counts = Counter(each.node for each in reports)
    for number, group in enumerate((*others, first)):
        names = tuple(_names(group, counts))
        untold = f"differences of only {_GROUPS} groups are shown" if group is not first and number >= _GROUPS else ""
        facts = None if untold else _facts_of(group[0], directory)
        if facts is None or norm is None:
            yield Group(of, group is first, len(group), names, (), (), untold or "the reports changed meanwhile")
            continue
        differences = tuple(_differences(norm.values, facts.values))
        more = len(differences) - _DIFFERENCES
        said = [facts.untold] if facts.untold else []
        said += [f"{counted(more, 'difference')} more"] if more > 0 else []
        yield Group(of, group is first, len(group), names, differences[:_DIFFERENCES], facts.errors, "; ".join(said))


class _Facts(NamedTuple):
    values: dict[str, str]
    errors: tuple[str, ...]
    untold: str


def _facts_of(known: _Known, directory: str) -> _Facts | None:
    """Return the facts of a report, which is read again; None if it has changed."""
    report = read_report(directory, known.file)
    if not isinstance(report, NodeReport) or _known(report) != known:
        return None
    found = (each for each in report.document["problems"] if each.get("severity") == "error")
    errors = tuple(f"{_text(each['code'])} {_text(each.get('title'))}" for each in found)
    values = dict(islice(_values(report.document), _FACTS + 1))
    untold = [f"{counted(len(errors) - _ERRORS, 'error')} more"] if len(errors) > _ERRORS else []
    if len(values) > _FACTS:
        values.popitem()
        untold.append(f"it has more than {_FACTS} facts, and those are compared")
    return _Facts(values, errors[:_ERRORS], "; ".join(untold))


def _names(group: Sequence[_Known], counts: Mapping[str, int]) -> Iterable[str]:
    """Return the nodes of a group, and the tasks of a node whose other reports are in other groups."""
    own = Counter(each.node for each in group)
    names = {
        each.node if own[each.node] == counts[each.node] or each.task is None else f"{each.node} task {each.task}"
        for each in group
    }
    return sorted(names)


def _absent_tasks(reports: Iterable[_Known]) -> Iterable[str]:
    """Return the tasks of a job that wrote no report, if their launcher says how many there are."""
    ranks = [each for each in reports if each.of == "rank"]
    count = max((each.task_count for each in ranks), default=0)
    known = {each.task for each in ranks}
    absent = [number for number in range(count) if str(number) not in known]
    named = [f"task {number}" for number in absent[:_ABSENT_TASKS]]
    return [*named, f"{len(absent) - _ABSENT_TASKS} more tasks"] if len(absent) > _ABSENT_TASKS else named


def _without(value: Any, keys: Iterable[str]) -> Any:
    return {key: each for key, each in value.items() if key not in keys} if isinstance(value, dict) else value


def _plain_problem(problem: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem without the name of the host, which some have in their texts."""
    host = node.get("host")
    if not isinstance(host, str) or not host:
        return dict(problem)
    return {key: value.replace(host, "HOST") if isinstance(value, str) else value for key, value in problem.items()}


def _values(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the compared facts: the name of a fact, and its value as a text."""
    node = document["node"]
    yield "SDK", _text(document.get("version"))
    yield "directory", _text(document.get("site"))
    for key in ("kernel", "driver"):
        yield key, _text(node.get(key))
    gpus = [each.get("target") for each in _list(node.get("gpus")) if isinstance(each, dict)]
    yield "GPUs", _text(f"{len(gpus)} ({', '.join(sorted(set(map(str, gpus))))})") if gpus else _NONE
    usable = sum(bool(each.get("usable")) for each in _list(node.get("gpus")) if isinstance(each, dict))
    yield "usable GPUs", str(usable)
    yield "firmware", _text("; ".join(sorted({_pairs(each) for each in _list(node.get("firmware"))})) or None)
    for title, key, holder in (
        ("package", "distributions", document),
        ("RECORD of", "record_digests", node),
        ("variable", "environment", node),
    ):
        rows = holder.get(key)
        for name, value in rows.items() if isinstance(rows, dict) else ():
            if name not in _OF_TASK:
                yield f"{title} {_text(name)}", _text(value if value is not None else _NOT_SHOWN)
    for each in _list(document.get("libraries")):
        if isinstance(each, dict):
            build_id = f" (build ID {_text(each['build_id'])})" if each.get("build_id") else ""
            yield f"library {_text(each.get('name'))}", _text(each.get("path")) + build_id
    for each in document["problems"]:
        severity, code = _text(each.get("severity", "problem")), _text(each["code"])
        yield f"{severity} {code}", _text(_plain_problem(each, node).get("title"))


def _differences(norm: Mapping[str, str], values: Mapping[str, str]) -> Iterable[Difference]:
    for what in dict.fromkeys((*norm, *values)):
        one, other = norm.get(what, _NONE), values.get(what, _NONE)
        if one != other:
            yield Difference(what, one, other)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _pairs(value: Any) -> str:
    return ", ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str:
    """Return a value that can be shown. The digest tells longer values apart."""
    text = _NONE if value is None else str(value)
    if len(text) <= _SHOWN:
        return text
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
    return f"{text[:_SHOWN]}... ({len(text)} letters, SHA-256 {digest[:12]}...)"

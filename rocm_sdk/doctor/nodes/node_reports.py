"""The reader of the reports in a directory, which may be truncated, damaged, or not reports at all.

The reports come from many nodes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rocm_sdk.base.files import open_file
from rocm_sdk.doctor.report.json import SCHEMA

# docs/limits.md has these limits and their reasons.
REPORT_LIMIT = 1 << 20  # bytes
VALUE_LIMIT = 1 << 15  # of a report
TOTAL_LIMIT = 1 << 28  # bytes of all reports
COUNT_LIMIT = 1 << 17  # reports
NAME_LIMIT = 255  # letters of the name of a node or task
_SHOWN = 200  # letters of a reason
_ENDING = ".json"


class NodeReport(NamedTuple):
    """A report that can be compared: of a node, or of one process (rank) on it."""

    file: str  # its name
    node: str
    document: dict[str, Any]

    @property
    def of(self) -> str:
        """The subject of the report: "node" (`rocm-sdk test`) or "rank" (ROCM_SDK_REPORT)."""
        return "rank" if self.document.get("of") == "rank" else "node"

    @property
    def task(self) -> str | None:
        """The number of the task in its job; None for a node."""
        task = self.document["node"].get("task") if self.of == "rank" else None
        return task if isinstance(task, str) else None


class Unreadable(NamedTuple):
    """A file that is not such a report."""

    file: str
    why: str


def names_of_reports(directory: str) -> list[str]:
    """Return the names of files that may be reports. Raise OSError for a directory that cannot be listed."""
    return sorted(each for each in os.listdir(directory) if each.endswith(_ENDING))


def read_reports(directory: str, names: Iterable[str]) -> Iterator[NodeReport | Unreadable]:
    """Yield each report, or why it cannot be read. No report is kept."""
    total = 0
    for name in names:
        size = _size(os.path.join(directory, name))
        total += size if size <= REPORT_LIMIT else 0
        if total > TOTAL_LIMIT:
            total -= size
            yield Unreadable(name, f"the reports before it have {total} bytes, and all may have {TOTAL_LIMIT}")
        else:
            yield read_report(directory, name)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def read_report(directory: str, name: str) -> NodeReport | Unreadable:
    """Return one report, or why it cannot be read."""
    try:
        with open_file(os.path.join(directory, name)) as file:
            if os.fstat(file.fileno()).st_size > REPORT_LIMIT:
                raise ValueError(f"it is larger than {REPORT_LIMIT} bytes")
            return _report(name, file.read(REPORT_LIMIT + 1))
    except OSError as error:
        return Unreadable(name, error.strerror or "it is not a regular file")
    except (ValueError, RecursionError) as error:
        return Unreadable(name, str(error)[:_SHOWN] or type(error).__name__)


def _report(name: str, data: bytes) -> NodeReport:
    if not data:
        raise ValueError("it is empty")
    if len(data) > REPORT_LIMIT:
        raise ValueError(f"it is larger than {REPORT_LIMIT} bytes")
    if data.count(b",") > VALUE_LIMIT:
        raise ValueError(f"it has more than {VALUE_LIMIT} values")
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ValueError(f"it is cut or no JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("problems"), list):
        raise ValueError("it is not a report of `rocm-sdk test --json` or ROCM_SDK_REPORT")
    if document.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {document.get('schema')!r}, and not {SCHEMA}")
    node = document.get("node")
    if not isinstance(node, dict) or not isinstance(node.get("name"), str):
        raise ValueError(
            "it does not say which node it is of: make it with `rocm-sdk test --json --node --output FILE`"
        )
    if any(not isinstance(each, dict) or not isinstance(each.get("code"), str) for each in document["problems"]):
        raise ValueError("its problems have no codes")
    found = NodeReport(name, node["name"], document)
    if len(found.node) > NAME_LIMIT or len(found.task or "") > NAME_LIMIT:
        raise ValueError(f"the name of its node or task has more than {NAME_LIMIT} letters")
    return found

"""Reads the reports of a directory. They come from many nodes, and may be cut, damaged or no reports at all."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from rocm_sdk.installed.files import open_file
from rocm_sdk.selftest.report.json import SCHEMA

_LIMIT = 1 << 24  # bytes of a report
_ENDING = ".json"


class NodeReport(NamedTuple):
    """A report that can be compared: of a node, or of one process (rank) on it."""

    file: str  # its name
    node: str
    document: dict[str, Any]

    @property
    def of(self) -> str:
        """What it is of: "node" (`rocm-sdk test`) or "rank" (ROCM_SDK_REPORT)."""
        return "rank" if self.document.get("of") == "rank" else "node"

    @property
    def task(self) -> str | None:
        """The task's number in its job, of a rank."""
        task = self.document["node"].get("task") if self.of == "rank" else None
        return task if isinstance(task, str) else None


class Unreadable(NamedTuple):
    """A file that is no such report."""

    file: str
    why: str


def read_reports(directory: str) -> tuple[list[NodeReport], list[Unreadable]]:
    """The reports, and what cannot be read, both by name. Raises OSError for a directory that cannot be listed."""
    names = sorted(each for each in os.listdir(directory) if each.endswith(_ENDING))
    found = [_read(directory, name) for name in names]
    reports = [each for each in found if isinstance(each, NodeReport)]
    return reports, [each for each in found if isinstance(each, Unreadable)]


def _read(directory: str, name: str) -> NodeReport | Unreadable:
    try:
        with open_file(os.path.join(directory, name)) as file:
            return _report(name, file.read(_LIMIT + 1))
    except OSError as error:
        return Unreadable(name, error.strerror or "it is not a regular file")
    except (ValueError, RecursionError) as error:
        return Unreadable(name, str(error) or type(error).__name__)


def _report(name: str, data: bytes) -> NodeReport:
    if not data:
        raise ValueError("it is empty")
    if len(data) > _LIMIT:
        raise ValueError(f"it is larger than {_LIMIT} bytes")
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ValueError(f"it is cut or no JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("problems"), list):
        raise ValueError("it is no report of `rocm-sdk test --json` or ROCM_SDK_REPORT")
    if document.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {document.get('schema')!r}, and not {SCHEMA}")
    node = document.get("node")
    if not isinstance(node, dict) or not isinstance(node.get("name"), str):
        raise ValueError(
            "it does not say which node it is of: make it with `rocm-sdk test --json --node --output FILE`"
        )
    if any(not isinstance(each, dict) or not isinstance(each.get("code"), str) for each in document["problems"]):
        raise ValueError("its problems have no codes")
    return NodeReport(name, node["name"], document)

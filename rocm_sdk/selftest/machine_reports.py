"""The report for programs: JSON, and JUnit's XML as continuous integration systems read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from rocm_sdk.findings import Problem
from rocm_sdk.findings.problem import one_line

from .installation import Installation
from .recorder import Recorder

SCHEMA = 1  # of the JSON document; a change of meaning counts it up


def as_document(installation: Installation, recorders: Sequence[Recorder]) -> dict[str, Any]:
    """The document of `rocm-sdk test --json`."""
    return {
        "schema": SCHEMA,
        "version": installation.version,
        "site": installation.site,
        "distributions": {each.name: each.version for each in installation.distributions},
        "subjects": [
            {
                "subject": each.subject,
                "count": each.count,
                "unit": each.unit,
                "failed": each.failed,
                "seconds": round(each.seconds, 3),
                "not_tried": each.not_tried,
                "problems": [_fields(found) for found in each.problems],
            }
            for each in recorders
        ],
    }


def as_junit(installation: Installation, recorders: Sequence[Recorder]) -> str:
    """JUnit's XML: a suite for each subject, a case for each problem and one for all that passed."""
    root = ElementTree.Element("testsuites", name=one_line(f"rocm-sdk test {installation.version}"))
    for each in recorders:
        cases = [found for found in each.problems if found.severity == "error"]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=each.subject,
            tests=str(len(cases) + 1),
            failures=str(len(cases)),
            time=f"{each.seconds:.3f}",
        )
        ElementTree.SubElement(suite, "testcase", classname=each.subject, name=f"{each.count} {each.unit}")
        for found in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=each.subject, name=f"{found.code} {found.title}")
            failure = ElementTree.SubElement(case, "failure", type=found.code, message=found.cause)
            failure.text = found.cure
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _fields(found: Problem) -> dict[str, str | None]:
    return {name: getattr(found, name) for name in ("code", "severity", "title", "cause", "cure", "path")}

"""The report as JUnit's XML, as continuous integration systems read it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from rocm_sdk.problems.text import one_line
from rocm_sdk.selftest.installation import Installation
from rocm_sdk.selftest.recorder import Recorder


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
            failure.text = found.fix
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

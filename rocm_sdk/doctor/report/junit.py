"""The report as JUnit's XML, as continuous integration systems read it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from rocm_sdk.base.value_text import one_line
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.installation import Installed
from rocm_sdk.problems import Problem

from .text import breaks_text


def as_junit(installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem]) -> str:
    """JUnit's XML: a suite for each subject with a case for all that passed, and one with a case for each problem."""
    root = ElementTree.Element("testsuites", name=one_line(f"rocm-sdk test {installation.version}"))
    for each in recorders:
        suite = ElementTree.SubElement(
            root, "testsuite", name=each.subject, tests="1", failures="0", time=f"{each.seconds:.3f}"
        )
        ElementTree.SubElement(suite, "testcase", classname=each.subject, name=f"{each.count} {each.unit}")
    errors = [found for found in problems if found.severity == "error"]
    suite = ElementTree.SubElement(
        root, "testsuite", name="problems", tests=str(len(errors)), failures=str(len(errors)), time="0"
    )
    for found in errors:
        case = ElementTree.SubElement(suite, "testcase", classname="problems", name=f"{found.code} {found.title}")
        failure = ElementTree.SubElement(case, "failure", type=found.code, message=found.cause)
        breaks = f"\nbreaks: {breaks_text(found.breaks, verbose=True)}" if found.breaks else ""
        failure.text = f"{found.fix}{breaks}"
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

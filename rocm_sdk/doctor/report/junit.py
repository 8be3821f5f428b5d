"""The report as JUnit's XML, as continuous integration systems read it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from rocm_sdk.base.value_text import one_line
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem

from .text import breaks_text, verdict_of


def as_junit(
    installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem], *, interrupted: bool = False
) -> str:
    """Return JUnit's XML: suites for the subjects with a case for all that passed, and one with the problems.

    Each problem has a case. The case of a subject that checked nothing is skipped. A test that was interrupted is an
    error.
    """
    root = ElementTree.Element("testsuites", name=one_line(f"rocm-sdk test {installation.version}"))
    for each in recorders:
        suite = _suite(root, each.subject, 1, failures=0, seconds=each.seconds)
        case = ElementTree.SubElement(suite, "testcase", classname=each.subject, name=f"{each.count} {each.unit}")
        if not each.count:
            suite.set("skipped", "1")
            ElementTree.SubElement(case, "skipped", message=verdict_of(each)[1])
    errors = [found for found in problems if found.severity == "error"]
    suite = _suite(root, "problems", len(errors) + interrupted, failures=len(errors))
    if interrupted:
        suite.set("errors", "1")
        case = ElementTree.SubElement(suite, "testcase", classname="problems", name="the test was interrupted")
        ElementTree.SubElement(case, "error", message="later subjects were not tested")
    for found in errors:
        case = ElementTree.SubElement(suite, "testcase", classname="problems", name=f"{found.code} {found.title}")
        failure = ElementTree.SubElement(case, "failure", type=found.code, message=found.cause)
        breaks = f"\nbreaks: {breaks_text(found.breaks, verbose=True)}" if found.breaks else ""
        failure.text = f"{found.fix or ''}{breaks}"
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(
    root: ElementTree.Element, name: str, tests: int, *, failures: int, seconds: float = 0
) -> ElementTree.Element:
    attributes = {"name": name, "tests": str(tests), "failures": str(failures), "time": f"{seconds:.3f}"}
    return ElementTree.SubElement(root, "testsuite", attributes)

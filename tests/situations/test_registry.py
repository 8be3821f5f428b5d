"""The table of problems: every code that is used is in it, every entry is used, and each can be filled in."""

import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from programs import completed

from rocm_sdk import _native
from rocm_sdk.doctor.report.text import problem_text
from rocm_sdk.problems import ALIASES, ENTRIES, problem
from rocm_sdk.problems.subject_table import SUBJECTS

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"(?:\b|RSDK_)([EWN])[-_]([A-Z]+)[-_](\d{3})\b")
TABLES = {"code_table.c", "code.h", "_native.pyi"}


def test_codes_that_are_used_and_entries_are_the_same() -> None:
    sources = [*(ROOT / "rocm_sdk").rglob("*.py"), *(ROOT / "builder").rglob("*.py"), *(ROOT / "csrc").rglob("*.[ch]")]
    sources = [path for path in sources if path.name not in TABLES]
    used = {"-".join(found) for path in sources for found in CODE.findall(path.read_text(encoding="utf-8"))}
    assert used - set(ALIASES) == set(ENTRIES)


def test_a_problem_can_be_made_again_of_its_facts() -> None:
    """Also where a fact is joined to the words before it."""
    first = problem("E-FILE-009", "/a/b", detail="a link", distribution="x", more=" (and 4 more)")
    assert first.title == "/a/b is not a file (and 4 more)"
    assert problem("E-FILE-009", "/a/b", **first.facts).title == first.title


def test_a_subject_runs_for_the_codes_in_its_module() -> None:
    """`rocm-sdk test --only CODE` would pass without a look, and `explain CODE` say that all is well."""
    modules = {name: ROOT / f"rocm_sdk/doctor/subjects/{name}.py" for name in SUBJECTS}
    codes = {name: {"-".join(each) for each in CODE.findall(path.read_text())} for name, path in modules.items()}
    faults = (ROOT / "rocm_sdk/doctor/file_faults.py").read_text()
    codes["files"].update("-".join(each) for each in CODE.findall(faults))
    for code in set().union(*codes.values()):
        rows = [SUBJECTS[name] for name in SUBJECTS if code in codes[name]]
        assert any(row.may_report(code) or row.may_report(code, of_prefix=True) for row in rows), code


def test_a_note_that_asks_for_nothing_has_no_fix() -> None:
    found = problem("N-GPU-011", None, detail="none is on the PCI bus")
    assert found.fix is None
    assert found.as_document()["fix"] is None
    assert found.cause == "none is on the PCI bus; libraries load and compilers work without one"
    assert "Fix:" not in explain("N-GPU-011").stdout
    assert "fix" not in problem_text(found)


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        problem(typing.cast("_native.Code", "E-LIB-999"))


def explain(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "rocm_sdk", "explain", *words]
    return completed(command)


def test_explain() -> None:
    page = explain("e-lib-002").stdout
    assert page.startswith("E-LIB-002: a library needs another library, which is in neither the SDK nor the system\n")
    assert "**" not in page
    assert "W-GPU-010" in explain("W-GPU-001").stdout
    listed = explain().stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(ENTRIES)
    unknown = explain("E-LIB-0002")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "there is no code E-LIB-0002; did you mean " in unknown.stderr


def test_a_value_that_no_file_has() -> None:
    assert problem("E-TEST-001", subject="files", detail="a\0b\ud800").cause == r"a\x00b\ud800"
    assert problem("E-TEST-001", subject="files", detail="a\0b").cause == r"a\x00b"

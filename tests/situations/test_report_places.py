"""The places of reports: a file gets its name when it is complete; a pipe, terminal or device is written to."""

import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from programs import completed

from rocm_sdk.doctor.report.complete_file import complete_file
from rocm_sdk.problems import ALIASES, ENTRIES, problem
from rocm_sdk.problems.subject_table import SUBJECTS

CONTENT = b"a report\n"


def write(path: Path) -> None:
    with complete_file(str(path)) as file:
        file.write(CONTENT)


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    write(fifo)
    reader.join(10)
    assert read == [CONTENT]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_standard_stream(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Earlier output of the stream comes first, also if the stream is a file; pytest's is one."""
    stream = getattr(sys, name)
    (tmp_path / "link").symlink_to(f"/dev/{name}")
    stream.write("before, ")
    write(tmp_path / "link")
    stream.write("after\n")
    stream.flush()
    assert getattr(capfd.readouterr(), name[3:]) == f"before, {CONTENT.decode()}after\n"
    assert (tmp_path / "link").is_symlink()
    assert Path(f"/dev/{name}").is_symlink()


@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("target", ["of somebody else", None])
def test_a_file_is_not_written_through_a_link(tmp_path: Path, target: str | None, *, replaces: bool) -> None:
    """In a directory that others may write, somebody else may have made it."""
    precious, link = tmp_path / "target", tmp_path / "x.json"
    if target is not None:
        precious.write_text(target)
    link.symlink_to(precious)
    with complete_file(str(link), replaces=replaces) as file:
        file.write(CONTENT)
    assert (link if replaces else tmp_path / "x.1.json").read_bytes() == CONTENT
    assert link.is_symlink() != replaces
    assert (precious.read_text() if precious.exists() else None) == target


def test_what_was_planted_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("of somebody else")
    (tmp_path / "x.html.partial").symlink_to("target")
    (tmp_path / "x.html").write_text("before")
    write(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_bytes() == CONTENT
    assert (tmp_path / "target").read_text() == "of somebody else"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "x.html", "x.html.partial"]
    assert (tmp_path / "x.html").stat().st_mode & 0o777 == 0o644


def test_nothing_stays_of_one_that_fails(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("before")
    with pytest.raises(ZeroDivisionError), complete_file(str(tmp_path / "x.html")) as file:
        file.write(CONTENT)
        raise ZeroDivisionError
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


# ---- the table of problems: every code that is used is in it, every entry is used, and each can be filled in


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

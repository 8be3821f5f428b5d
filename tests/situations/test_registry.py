"""The table of problems: every code that is used is in it, every entry is used, and each can be filled in."""

import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from programs import completed

import rocm_sdk
from rocm_sdk import _native
from rocm_sdk.doctor.report.text import problem_text
from rocm_sdk.problems import ALIASES, ENTRIES, in_general, problem
from rocm_sdk.problems.code_page import page
from rocm_sdk.problems.subject_table import SUBJECTS

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"(?:\b|RSDK_)([EWN])[-_]([A-Z]+)[-_](\d{3})\b")
TABLES = {"code_table.c", "code.h", "_native.pyi"}


def test_codes_that_are_used_and_entries_are_the_same() -> None:
    sources = [*(ROOT / "rocm_sdk").rglob("*.py"), *(ROOT / "builder").rglob("*.py"), *(ROOT / "csrc").rglob("*.[ch]")]
    sources = [path for path in sources if path.name not in TABLES]
    used = {"-".join(found) for path in sources for found in CODE.findall(path.read_text(encoding="utf-8"))}
    assert used - set(ALIASES) == set(ENTRIES)


def test_the_types_know_the_codes() -> None:
    """The type checker takes the codes from the stub, the compiler from the header."""
    for name in ("rocm_sdk/_native.pyi", "csrc/include/rocm_sdk/code.h"):
        text = (ROOT / name).read_text(encoding="utf-8")
        named = re.findall(r"^    (?:RSDK_|\")([EWN])[-_]([A-Z]+)[-_](\d{3})(?:\"| = \d+),$", text, re.MULTILINE)
        assert ["-".join(each) for each in named] == list(ENTRIES)


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


def test_the_page_of_the_self_test_has_each_subject() -> None:
    page = (ROOT / "docs/selftest.md").read_text(encoding="utf-8")
    table = page.partition("| subject | what it checks |\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE) == list(SUBJECTS)


def text_of(code: str) -> list[str]:
    """Return the title of the page of a code, and its paragraphs."""
    title, paragraphs = page(code)
    return [title, *paragraphs]


@pytest.mark.parametrize("code", ENTRIES)
def test_an_entry_is_whole(code: "_native.Code") -> None:
    entry = ENTRIES[code]
    assert CODE.fullmatch(code)
    assert ("" in {fix.system for fix in entry.fixes}) or (entry.severity == "note" and entry.fixes == ())
    assert not any(fix.text.startswith("nothing") for fix in entry.fixes)
    for text in (entry.title, entry.cause, entry.about, *(fix.text for fix in entry.fixes)):
        assert text.strip() == text != ""
        assert "\n" not in text
    words = in_general(code)
    for text in (words.title, words.cause, words.fix or "", *text_of(code)):
        assert not re.search(r"\{\$?[a-z_]+\}", text)
    assert words.severity == entry.severity
    assert text_of(code)[0] == f"{code}: {in_general(code).title}"
    assert not any(sys.prefix in text for text in text_of(code)), "it is the page of every machine"


# Words that stand for a fact in a command, and make no sentence of a title or a cause.
_NOT_IN_SENTENCES = re.compile(
    r"[A-Z]{4,}==|--|\b[A-Z]\b(?!\+\+)|\b(INDEX|BYTES|GROUP|PACKAGE|DISTRIBUTION)\b|site-packages/"
    r"|\b(glibc|version|has|in|path|metadata|library|package) an? (file|newer|older|another)\b"
    r"|\ba known name\b|\banother number\b"
)


@pytest.mark.parametrize("code", ENTRIES)
def test_a_title_is_a_sentence(code: "_native.Code") -> None:
    """The title is the same on each machine, and has no words that stand for something else."""
    for text in (in_general(code).title, in_general(code).cause):
        assert not _NOT_IN_SENTENCES.search(text)
    assert "\n" not in text_of(code)[0]


def test_a_note_that_asks_for_nothing_has_no_fix() -> None:
    found = problem("N-GPU-011", None, detail="none is on the PCI bus")
    assert found.fix is None
    assert found.as_document()["fix"] is None
    assert found.cause == "none is on the PCI bus; libraries load and compilers work without one"
    assert "Fix:" not in explain("N-GPU-011").stdout
    assert "fix" not in problem_text(found)


def test_titles_that_were_none() -> None:
    titles = {code: in_general(code).title for code in ENTRIES}
    assert titles["W-PKG-010"] == "the packages were chosen for one target family, the GPU here needs another"
    assert titles["E-LIB-005"] == "a library needs glibc newer than this system has"
    assert titles["E-API-004"] == "no library has the name that was given"
    assert titles["E-PKG-001"] == "no ROCm SDK is installed in this environment"


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        problem(typing.cast("_native.Code", "E-LIB-999"))


def test_the_page_of_a_bad_variable_names_the_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_SDK_ROOT", "relative")
    with pytest.raises(rocm_sdk.RocmSdkError) as raised:
        rocm_sdk.find_libraries("amdhip64")
    assert raised.value.code == "E-ENV-008"
    assert f"Raised as {type(raised.value).__name__};" in ENTRIES["E-ENV-008"].about


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


@pytest.mark.parametrize(
    "name", ["two  blanks", "a\nline", "a tab\t", " ends ", "it's", "$HOME", "`id`", "\u202eright to left", "\udcff"]
)
def test_a_fix_names_the_very_file(tmp_path: Path, name: str) -> None:
    """The command `rm` removes the very file, or nothing; never another file."""
    wrong, right = tmp_path / " ".join(name.split()), tmp_path / name
    wrong.mkdir(exist_ok=True)
    right.mkdir(exist_ok=True)
    found = problem("W-PKG-007", str(right))
    assert "\n" not in found.fix
    assert found.fix is not None
    result = subprocess.run(["sh", "-c", found.fix], capture_output=True, check=False)
    assert wrong == right or wrong.exists()
    assert (result.returncode == 0) == (not right.exists())


def test_a_value_that_no_file_has() -> None:
    assert problem("E-TEST-001", subject="files", detail="a\0b\ud800").cause == r"a\x00b\ud800"
    assert problem("E-TEST-001", subject="files", detail="a\0b").cause == r"a\x00b"


def test_a_sentence_for_other_systems_begins_with_otherwise() -> None:
    _, paragraphs = page("E-LIB-002")
    lines = "\n".join(paragraphs).splitlines()
    assert "- Otherwise use an SDK whose package includes the library" in lines
    assert "- Debian, Ubuntu: apt-get install PACKAGE" in lines
    assert any(line.startswith("- NixOS: Add the package") for line in lines)

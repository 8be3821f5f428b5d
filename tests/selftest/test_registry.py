"""The registry: every code that is used is in it, every entry is used, and each can be filled in and explained."""

import re
import string
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_sdk.problems import ENTRIES, Entry, problem
from rocm_sdk.problems.page import markdown
from rocm_sdk.problems.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"\b[EWN]-[A-Z]+-\d{3}\b")
REGISTRY = ROOT / "rocm_sdk/problems/registry.py"


def facts_of(entry: Entry) -> set[str]:
    texts = (entry.title, entry.cause, *entry.fixes.values())
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_codes_that_are_used_and_entries_are_the_same() -> None:
    sources = [path for path in (ROOT / "rocm_sdk").rglob("*.py") if path != REGISTRY]
    sources += [path for pattern in ("*.c", "*.h") for path in (ROOT / "csrc").rglob(pattern)]
    used = {code for path in sources for code in CODE.findall(path.read_text(encoding="utf-8"))}
    assert used == set(ENTRIES)
    assert len(ENTRIES) == len(re.findall(r"^    Entry\($", REGISTRY.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("code", ENTRIES)
def test_an_entry_is_whole(code: str) -> None:
    entry = ENTRIES[code]
    assert CODE.fullmatch(code)
    assert code == entry.code
    assert "any" in entry.fixes
    assert set(entry.fixes) <= {*SYSTEMS, "any", "container"}
    for text in (entry.title, entry.cause, entry.about, *entry.fixes.values()):
        assert text.strip() == text != ""
        assert "\n" not in text
    filled = problem(code, "/some/path", **dict.fromkeys(facts_of(entry) - {"path"}, "a\nfact"))
    for text in (filled.title, filled.cause, filled.fix):
        assert "{" not in text
        assert "\n" not in text
    assert filled.severity == {"E": "error", "W": "warning", "N": "note"}[code[0]]
    assert markdown(code).startswith(f"# {code}\n\n")


def test_facts_that_are_missing_are_an_error() -> None:
    with pytest.raises(KeyError):
        problem("E-LIB-002", "/some/path", library="libx.so")


def explain(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "rocm_sdk", "explain", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_explain() -> None:
    assert explain("e-lib-002").stdout == markdown("E-LIB-002") + "\n"
    listed = explain().stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(ENTRIES)
    unknown = explain("E-LIB-0002")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "there is no code E-LIB-0002; did you mean " in unknown.stderr

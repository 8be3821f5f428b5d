"""`--json` of each command: one document, whose keys docs/json.md describes."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_site import Site

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]

PAGE = Path(__file__).resolve().parents[2] / "docs/json.md"
SECTION = re.compile(r"^## `rocm-sdk (.+) --json`\n\n\| key .*\n.*\n((?:\|.*\n)+)", re.MULTILINE)
CALLS = {
    "version": ["version"],
    "list": ["list"],
    "path": ["path", "amdhip64"],
    "path SHORTNAME SHORTNAME": ["path", "amdhip64", "hipsparse"],
    "init": ["init", "--check"],
    "targets": ["targets"],
    "targets --missing": ["targets", "--missing"],
    "targets --check": ["targets", "--check"],
    "explain": ["explain"],
    "explain CODE": ["explain", "E-LIB-002"],
    "env": ["env"],
    "tree": ["tree", "hipsparse"],
    "info": ["info"],
    "info --build-id": ["info", "--build-id"],
    "info --sizes": ["info", "--sizes"],
    "store prune": ["store", "prune"],
    "store verify": ["store", "verify"],
}


def described(section: str) -> set[str]:
    """Return the keys of the first column."""
    return {key for line in section.splitlines() for key in re.findall(r"`(\w+)`", line.split("|")[1])}


def answer(call: Call, *words: str, **environment: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(call(*words, "--json", **environment).stdout)
    return document


@pytest.mark.parametrize("name", CALLS)
def test_documents_are_as_described(call: Call, devel_tree: Path, tmp_path: Path, name: str) -> None:
    assert devel_tree
    sections = dict(SECTION.findall(PAGE.read_text(encoding="utf-8")))
    assert sections.keys() == CALLS.keys()
    store = str(tmp_path / "store")
    if name.startswith("store"):
        call("init", "--store", store)
    document = answer(call, *CALLS[name], ROCM_SDK_STORE=store)
    assert document["schema"] == 1
    keys = described(sections[name])
    optional = {"packages", "flags", "notes", "replaced_by"} if name in {"targets", "explain CODE"} else set()
    assert document.keys() <= keys
    assert keys - document.keys() <= optional


def test_values(call: Call, sdk: Site, devel_tree: Path) -> None:
    assert devel_tree
    assert answer(call, "version")["version"] == "7.10.0"
    by_name = {each["shortname"]: each for each in answer(call, "list")["libraries"]}
    path = sdk.path / "_rocm_sdk_core/lib/libamdhip64.so.7"
    assert by_name["amdhip64"] == {
        "shortname": "amdhip64",
        "package": "core",
        "optional": False,
        "path": str(path),
        "bytes": path.stat().st_size,
        "found_via": "file name",
    }
    assert by_name["rccl"]["path"] is None
    assert answer(call, "path", "amdhip64") == {
        "schema": 1,
        "path": str(path),
        "package": "core",
        "found_via": "file name",
    }
    assert answer(call, "path", "--core")["path"] == str(path.parents[1])
    assert answer(call, "path", "--bitcode", "ocml")["package"] == "devel"
    assert answer(call, "init") == {"schema": 1, "root": str(sdk.path / "_rocm_sdk_devel"), "differences": None}
    assert answer(call, "targets")["targets"] == ["gfx942", "gfx1100"]
    assert answer(call, "targets", "--cmake", "gfx90a")["targets"] == ["gfx90a"]
    assert answer(call, "explain", "E-PKG-014")["severity"] == "error"
    codes = {each["code"] for each in answer(call, "explain")["codes"]}
    assert "E-LIB-002" in codes


def test_a_tree_that_differs(call: Call, sdk: Site, devel_tree: Path) -> None:
    assert devel_tree
    call("init")
    (sdk.path / "_rocm_sdk_devel/lib/pkgconfig/hip.pc").write_text("changed")
    result = call("init", "--check", "--json")
    (difference,) = json.loads(result.stdout)["differences"]
    assert (result.returncode, result.stderr) == (1, "")
    assert difference["code"] == "E-DEVEL-002"
    assert difference["path"].endswith("lib/pkgconfig/hip.pc")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pth"], "there is no command 'pth'; did you mean path?"),
        (["lst"], "there is no command 'lst'; did you mean list?"),
        (["nonsense"], "there is no command 'nonsense'\n"),
        (["help", "pth"], "did you mean path?"),
    ],
)
def test_a_misspelt_command(call: Call, words: list[str], said: str) -> None:
    result = call(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


def test_help_is_a_command(call: Call) -> None:
    assert call("help").stdout == call("--help").stdout
    assert call("help", "tree").stdout == call("tree", "--help").stdout
    assert "rocm-sdk help COMMAND" in call("help").stdout
    assert call("-V").stdout == call("--version").stdout

"""The files that are generated from tables of C: each has the content of its table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ended import assert_failed
from programs import completed

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts/generated.py"
MANUAL, BUILD_MANUAL = "docs/man/rocm-sdk.1", "builder/man/rocm-sdk-build.1"
HEADER, TABLE = "csrc/include/rocm_sdk/code.h", "csrc/diagnosis/code_table.c"


def copy(tmp_path: Path) -> Path:
    """Copy the sources that the script reads and writes, and the script."""
    manuals = (ROOT / MANUAL, ROOT / BUILD_MANUAL)
    for path in [
        SCRIPT,
        ROOT / "rocm_sdk/_native.pyi",
        ROOT / "docs/api.md",
        *manuals,
        *(ROOT / "csrc").rglob("*.[ch]"),
    ]:
        other = tmp_path / path.relative_to(ROOT)
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(path.read_bytes())
    return tmp_path


def generate(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "scripts/generated.py"), *words]
    return completed(command)


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))


def test_the_files_are_what_the_tables_say() -> None:
    result = generate(ROOT, "--check")
    assert (result.returncode, result.stderr) == (0, "")


def test_what_differs_is_shown_and_written(tmp_path: Path) -> None:
    root = copy(tmp_path)
    text = (root / TABLE).read_text()
    change(
        root / "csrc/python/result_types.c",
        'FIELD("path",    "str", PATH(rsdk_coverage_fault',
        'FIELD("path",    "int", PATH(rsdk_coverage_fault',
    )
    count = len(re.findall(r"^    ROW\(\d", text, re.MULTILINE))
    change(root / TABLE, "    ROW(1, E, SDK, 001,", f"    ROW({count + 1}, E, NEW, 001, NULL)\n    ROW(1, E, SDK, 001,")
    change(root / MANUAL, "print the sizes, write nothing", "print nothing")
    shown = generate(root, "--check")
    assert_failed(shown, 1, "+print the sizes, write nothing")
    assert {f"+    RSDK_E_NEW_001 = {count + 1},", "+    path: int"} <= {*shown.stderr.splitlines()}
    assert '"E-NEW-001"' in shown.stderr
    assert generate(root).returncode == 0
    assert generate(root, "--check").returncode == 0


def test_a_new_code_needs_no_build(tmp_path: Path) -> None:
    """A Python without the package writes what the extension is built of."""
    root = copy(tmp_path)
    count = len(re.findall(r"^    ROW\(\d", (root / TABLE).read_text(), re.MULTILINE))
    change(root / TABLE, "    ROW(1, E, SDK, 001,", f"    ROW({count + 1}, E, NEW, 001, NULL)\n    ROW(1, E, SDK, 001,")
    command = [sys.executable, "-I", "-S", str(root / "scripts/generated.py"), "--tables"]
    assert completed(command).returncode == 0
    assert f"    RSDK_E_NEW_001 = {count + 1},\n" in (root / HEADER).read_text()
    assert '"E-NEW-001"' in (root / "rocm_sdk/_native.pyi").read_text()


@pytest.mark.parametrize(
    ("file", "before", "after", "why"),
    [
        (TABLE, "    ROW(2, E, PKG,", "    ROW(1, E, PKG,", "the values of the codes are not 1 to"),
        ("csrc/binding/host_places.c", '= "nowhere"', '= "elsewhere"', "HostNeed.place does not name {'elsewhere'}"),
        (
            "csrc/binding/host_places.c",
            "rsdk_need_place_name(",
            "rsdk_place_name(",
            "no function or table rsdk_need_place_name",
        ),
    ],
)
def test_tables_that_contradict_themselves(tmp_path: Path, file: str, before: str, after: str, why: str) -> None:
    root = copy(tmp_path)
    change(root / file, before, after)
    assert_failed(generate(root), 1, why)

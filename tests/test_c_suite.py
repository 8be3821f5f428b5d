"""Runs the C tests (tests/c) in their plain gcc build, so that `make test` covers them too, and reports each by name.

`make test-c` adds clang, `make sanitize` AddressSanitizer and UBSan; `make test-one T=test_plan` runs one program.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted(path.stem for path in (ROOT / "tests/c").glob("test_*.c"))

# Lines of cmocka's, for each test that begins and that ends.
BEGIN = re.compile(r"^\[ RUN +\] (\w+)$", re.MULTILINE)
END = re.compile(r"^\[ +OK \] (\w+)$", re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def _programs() -> None:
    run = subprocess.run(
        ["make", "-j2", "VARIANT=gcc", "c-programs"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_c(program: str, subtests: pytest.Subtests) -> None:
    command = [ROOT / "build/c/gcc/tests/c" / program]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    output = run.stdout + run.stderr
    names, passed = BEGIN.findall(output), END.findall(output)
    for name in names:
        with subtests.test(name):
            assert name in passed, output
    assert names, f"no test ran:\n{output}"
    assert run.returncode == 0, output

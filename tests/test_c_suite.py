"""The C tests (tests/c) in their plain gcc build, each reported by name, so that `make test` covers them too.

`make test-c` adds clang, `make sanitize` AddressSanitizer and UBSan; `make test-one T=test_plan` runs one program.
"""

import re
from pathlib import Path

import pytest
from programs import completed
from system_programs import need_cmocka

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted(path.stem for path in (ROOT / "tests/c").glob("test_*.c"))

# Lines of cmocka's: a test begins, passes, or skips itself, for a reason that it prints.
BEGIN = re.compile(r"^\[ RUN +\] (\w+)$", re.MULTILINE)
PASSED = re.compile(r"^\[ +OK \] (\w+)$", re.MULTILINE)
SKIPPED = re.compile(r"^\[ +SKIPPED \] (\w+)$", re.MULTILINE)
REASON = re.compile(r"^skipped: (.+)$", re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def _programs() -> None:
    need_cmocka()
    run = completed(["make", "-j2", "VARIANT=gcc", "c-programs"], cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_c(program: str, subtests: pytest.Subtests) -> None:
    command = [ROOT / "build/c/gcc/tests/c" / program]
    run = completed(command, cwd=ROOT)
    output = run.stdout + run.stderr
    names, passed, skipped = BEGIN.findall(output), PASSED.findall(output), SKIPPED.findall(output)
    for name in names:
        with subtests.test(name):
            if name in skipped:
                assert REASON.search(output), f"{name} skips itself and does not say why:\n{output}"
                pytest.skip("; ".join(REASON.findall(output)))
            assert name in passed, output
    assert names, f"no test ran:\n{output}"
    assert run.returncode == 0, output

"""The same failure has the same code, title and fix in an exception, in `rocm-sdk test` and in a C program."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from sample_report import run_test
from sample_site import Site, compile_library

CALL = "initialize_process(preload_shortnames=['hipsparse'])"


def make_foreign(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[18:20] = (21).to_bytes(2, "little")  # EM_PPC64
    path.write_bytes(data)


# Damages to libhsa-runtime64, on which hipsparse depends through HIP and rocSPARSE, with the code of each.
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: path.unlink(), "E-FILE-001"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:300]), "E-LIB-006"),
    "empty": (lambda path: path.write_bytes(b""), "E-LIB-006"),
    "pointer": (lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\n"), "E-FILE-006"),
    "foreign": (make_foreign, "E-LIB-012"),
    "no symbol": (
        lambda path: compile_library(path, path.name, "void nobody(void); void f(void) { nobody(); }"),
        "E-LIB-020",
    ),
    "text": (lambda path: path.write_text("INPUT(-lm)"), "E-LIB-006"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_dependency(
    linked_site: Site, hsa: Path, attempt: Callable[..., Any], c_program: Path, name: str
) -> None:
    damage, code = DAMAGES[name]
    damage(hsa)
    outcome = attempt(linked_site, CALL)
    assert outcome.code == code, outcome
    said = run_test(linked_site.path, "--skip", "gpus,environment,devel")
    (found,) = (each for each in said.problems if each["severity"] == "error")
    assert (found["code"], found["fix"]) == (outcome.code, outcome.fix)
    assert {"amdhip64", "hipsparse", "rocsparse"} <= set(found["breaks"])
    result = completed([c_program, linked_site.path, "hipsparse"])
    assert result.returncode == 1
    (line,) = re.findall(r"^(?:[EW]-[A-Z]+-\d+ .*)$", result.stderr, re.MULTILINE)
    assert line == f"{found['code']} {found['title']}"

"""Each fault of libraries has its problem, and the test, an exception and a C program say the same of it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from of_libraries import ROWS, Fault, chain, section
from programs import completed
from sample_report import install, run_test
from sample_site import Site

_WORST = "EWN"


@pytest.mark.parametrize("fault", ROWS, ids=lambda each: each.name)
def test_a_fault(tmp_path: Path, attempt: Callable[..., Any], c_program: Path, fault: Fault) -> None:
    site = Site(tmp_path / "a library for tests/site-packages", rpath=fault.rpath)
    fault.make(site)
    if not [*site.path.glob("*.dist-info")]:
        install(site)
    said = run_test(site.path, "--only", fault.subjects)
    assert (said.codes, len(said.problems)) == ({*fault.codes.split()}, len(fault.codes.split())), said.problems
    assert said.status == int(any(each["severity"] == "error" for each in said.problems))
    assert fault.untried in str([each["not_tried"] for each in said.document["subjects"]])
    found = min(said.problems, key=lambda each: _WORST.index(each["code"][0]), default=None)
    told = " ".join(str(found[name]) for name in ("title", "cause", "fix", "path")) if found is not None else ""
    assert [each for each in fault.says if each not in told] == [], told
    if found is not None:
        assert {each.replace("check_api:_", "check api: ") for each in fault.breaks.split()} <= {*found["breaks"]}
    if not fault.loads:
        return
    outcome = attempt(site, f"initialize_process(preload_shortnames=[{fault.loads!r}])")
    done = completed([c_program, site.path, fault.loads])
    if found is None:
        assert (outcome.code, done.returncode) == ("", 0), done.stderr
    else:
        assert (outcome.code, outcome.fix) == (found["code"], found["fix"])
        (line,) = re.findall(r"^(?:[EW]-[A-Z]+-\d+ .*)$", done.stderr, re.MULTILINE)
        assert (done.returncode, line) == (1, f"{found['code']} {found['title']}")


def test_each_length(tmp_path: Path, attempt: Callable[..., Any]) -> None:
    """A file that ends early is refused, or loads: only tables that the linker does not read were lost."""
    site = Site(tmp_path / "site", rpath="rpath")
    hsa = chain(site, "int number = 8; int hsa_init(void) { return number; }")
    data, end_of_data = hsa.read_bytes(), sum(section(hsa, ".data"))
    for size in range(0, len(data), len(data) // 12):
        hsa.write_bytes(data[:size])
        outcome = attempt(site, "initialize_process(preload_shortnames=['amdhip64'])")
        assert outcome.code == ("E-LIB-006" if size < end_of_data else ""), (size, outcome)


def test_c_names_the_command(hsa: Path, c_program: Path) -> None:
    hsa.unlink()
    said = completed([c_program, hsa.parents[2], "hipsparse"]).stderr
    index = "--index-url https://repo.amd.com/rocm/whl-multi-arch/"
    assert said.endswith(f"pip install --force-reinstall --no-deps {index} rocm-sdk-core==7.10.0\n")

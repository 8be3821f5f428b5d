"""The report of `rocm-sdk test --sdk` about a prefix with one fault."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from of_prefixes import BY_NAME, ROWS, Fault
from sample_prefix import Stage
from sample_site import clean_environment

OF_INSTALLERS = ("pip install", "rocm-sdk init", "--fix", "apt-get")


@pytest.mark.parametrize("fault", ROWS, ids=lambda each: each.name)
def test_a_fault(stage: Stage, fault: Fault) -> None:
    fault.make(stage)
    said = stage.test()
    found = [each for each in said.problems if each["severity"] != "note"]
    assert sorted(each["code"] for each in found) == sorted(fault.codes.split()), said.problems
    first = min(found, key=lambda each: each["code"])
    assert fault.says in first["title"] + first["cause"]
    assert said.status == int(any(each["severity"] == "error" for each in found))
    assert not [each for each in found if not each["fix"] or any(word in each["fix"] for word in OF_INSTALLERS)]
    if fault.is_run:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin", "/sbin"))
        words = shlex.split(first["fix"], comments=True)
        subprocess.run(words, env=clean_environment() | {"PATH": path}, check=True, capture_output=True)
        assert stage.test().status == 0


def test_the_linkers_configuration_of_the_package_counts(stage: Stage) -> None:
    BY_NAME["no search path"].make(stage)
    conf = stage.destdir / "etc/ld.so.conf.d/rocm.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("/opt/rocm-7.1/lib\n")
    said = stage.test()
    assert (said.status, "W-PREFIX-006" in said.codes) == (0, False)


def test_a_code_alone_is_asked_for(stage: Stage) -> None:
    for name in ("need", "link by SONAME", "version of ROCm"):
        BY_NAME[name].make(stage)
        code = BY_NAME[name].codes
        assert stage.test("--only", code).codes == {code}
        assert code not in stage.test("--skip", code).codes

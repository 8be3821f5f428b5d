"""The development package is installed and nothing has extracted its tree yet, so that other tools do not find it."""

import shlex
import subprocess
import sys
from pathlib import Path

from sample_devel import DevelSite
from sample_report import run_test
from sample_site import clean_environment, run_python

HOME = "import rocm_sdk; print(rocm_sdk.rocm_home())"


def test_it_is_named_and_the_fix_extracts_it(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    found = run_test(site.path, "--only", "devel").only("N-DEVEL-013")
    assert (found["severity"], found["path"]) == ("note", f"{site.path}/rocm_sdk_devel")
    program, *words = shlex.split(found["fix"])
    assert program == "rocm-sdk"
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    subprocess.run([sys.executable, "-m", "rocm_sdk", *words], env=environment, capture_output=True, check=True)
    assert "N-DEVEL-013" not in run_test(site.path, "--only", "devel").codes
    assert run_python(HOME, PYTHONPATH=str(site.path)).stdout == f"{site.path}/_rocm_sdk_devel\n"


def test_rocm_home_extracts_it(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    assert run_python(HOME, PYTHONPATH=str(site.path)).stdout == f"{site.path}/_rocm_sdk_devel\n"
    assert "N-DEVEL-013" not in run_test(site.path, "--only", "devel").codes

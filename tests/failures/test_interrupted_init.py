"""`rocm-sdk init` was killed half way."""

import subprocess
import sys
import time
from pathlib import Path

from sample_devel import DevelSite, core_files, member
from sample_report import run_test

from rocm_sdk.devel import layout


def test_it_is_reported_and_completed(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    many = [member(f"_rocm_sdk_devel/include/{i}.h", b"x" * 500) for i in range(20_000)]
    site.install_devel([member("_rocm_sdk_devel/__init__.py"), *many])
    process = subprocess.Popen(
        [sys.executable, "-m", "rocm_sdk", "init"],
        env=site.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not layout.find_leftovers(str(site.path)):
        assert process.poll() is None
        time.sleep(0.001)
    process.kill()
    process.wait()
    found = run_test(site.path, "--only", "devel").only("W-DEVEL-001")
    assert "staging" in found["cause"]
    assert found["fix"].startswith("rocm-sdk init")
    assert "updated the development tree" in run_test(site.path, "--only", "devel", "--fix").stderr
    said = run_test(site.path, "--only", "devel")
    assert (said.codes, said.subject("devel")["count"]) == (set(), 1)

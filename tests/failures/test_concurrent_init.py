"""Two builds on one environment call `rocm-sdk init` at the same time."""

import subprocess
import sys
from pathlib import Path

from sample_devel import DevelSite
from sample_report import run_test


def test_all_get_the_tree(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    command = [sys.executable, "-m", "rocm_sdk", "init"]
    calls = [
        subprocess.Popen(command, env=site.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for call in calls:
        output, errors = call.communicate()
        assert (call.returncode, output) == (0, f"{site.tree}\n"), errors
    said = run_test(site.path, "--only", "devel,files")
    assert (said.status, said.codes) == (0, set())

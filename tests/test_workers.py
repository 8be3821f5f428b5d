"""The suite runs in several processes: tests of one group must not meet each other."""

import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent


def test_a_group_stays_in_one_worker(tmp_path: Path) -> None:
    tests = [TESTS / "test_benchmarks.py", "-k", "a_budget_is_met"]
    pytest = Path(sys.executable).with_name("pytest")
    options = ["--verbose", f"--override-ini=cache_dir={tmp_path}", "--numprocesses=2", "--dist=loadgroup"]
    command = [pytest, *options, *tests]
    output = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True).stdout
    workers = re.findall(r"^\[(gw\d+)\].* PASSED ", output, re.MULTILINE)
    assert len(workers) > 2, output
    assert len({*workers}) == 1, output

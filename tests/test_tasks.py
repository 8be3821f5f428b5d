"""The scripts behind `make`: tasks that run at the same time, wrong words, the list of the README's commands."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


@pytest.mark.built_wheel
def test_two_tasks_make_one_environment(tmp_path: Path) -> None:
    """As `make -j2` does on a fresh clone."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build/wheel").symlink_to(ROOT / "build/wheel")
    command = [str(SCRIPTS / "python-environment"), sys.executable, "build/venv"]
    tasks = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]
    outputs = [task.communicate()[0] for task in tasks]
    assert [task.returncode for task in tasks] == [0, 0], outputs
    program = "import rocm_sdk, rocm_sdk_build; print(rocm_sdk.loader_version)"
    subprocess.run([tmp_path / "build/venv/bin/python", "-I", "-c", program], check=True)


def test_a_group_of_packages_that_does_not_exist() -> None:
    done = subprocess.run(
        [SCRIPTS / "install-system-packages", "build", "tests"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 2
    assert done.stderr == "install-system-packages: there is no group 'tests'\n"


def test_help_lists_the_commands_of_the_readme() -> None:
    shown = subprocess.check_output(["make", "-s", "help"], cwd=ROOT, text=True)
    tasks = {line.split()[1] for line in shown.splitlines() if line.startswith("  make ")}
    printed = {line.split()[1] for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("make ")}
    assert printed == {"demo", "test"}
    assert printed <= tasks

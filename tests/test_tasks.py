"""The scripts behind `make`: tasks at the same time, what each interpreter runs, wrong words, the README's commands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import completed

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
    done = completed([SCRIPTS / "install-system-packages", "build", "tests"], cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr == "install-system-packages: there is no group 'tests'\n"


def test_help_lists_the_commands_of_the_readme() -> None:
    shown = subprocess.check_output(["make", "-s", "help"], cwd=ROOT, text=True)
    tasks = {line.split()[1] for line in shown.splitlines() if line.startswith("  make ")}
    printed = {line.split()[1] for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("make ")}
    assert printed == {"demo", "test"}
    assert printed <= tasks


# In place of scripts/python-environment: environments whose programs say who they are and what they were given.
ENVIRONMENT = """#!/bin/sh
mkdir -p "$2/bin"
printf '#!/bin/sh\\necho "%s"\\n' "${2##*-}" >"$2/bin/python"
printf '#!/bin/sh\\necho "$@"\\nexit "${STATUS:-0}"\\n' >"$2/bin/pytest"
chmod +x "$2/bin/python" "$2/bin/pytest"
"""


def test_the_glibc_of_wheels_is_the_same_everywhere() -> None:
    """The menu of `make`, what it prints, and the names of the wheels in the documentation."""
    help_text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    contributing, start = ((ROOT / name).read_text() for name in ("CONTRIBUTING.md", "docs/quickstart.md"))
    texts = [line for text in (help_text, contributing, start) for line in text.splitlines() if "wheels" in line]
    named = re.findall(r"(?:glibc |manylinux_)2[._](\d+)", "\n".join(texts))
    assert (set(named), len(named) > 3) == ({"27"}, True)


AGAIN = "--reruns=1 --max-suite-reruns=3 --rerun-show-tracebacks"  # a test that fails by chance


def parts(directory: Path, *arguments: str, versions: str, status: int = 0, **environment: str) -> list[str]:
    """What scripts/test-all-pythons has each version run, in its order; the last line says where it failed."""
    scripts = directory / "scripts"
    scripts.mkdir(exist_ok=True)
    shutil.copy(SCRIPTS / "test-all-pythons", scripts)
    (scripts / "python-environment").write_text(ENVIRONMENT)
    (scripts / "python-environment").chmod(0o755)
    for version in ("3.10", "3.11", "3.12", "3.13"):
        (scripts / f"python{version}").write_text(f"#!/bin/sh\necho {version}\n")
        (scripts / f"python{version}").chmod(0o755)
    paths = {"PATH": f"{scripts}:/usr/bin:/bin", "PYTHON": "python3.11", "PYENV_ROOT": str(directory)}
    done = completed(
        ["scripts/test-all-pythons", versions, *arguments],
        cwd=directory,
        env=paths | environment | {"STATUS": str(status)},
    )
    disk, _, *rest = done.stdout.splitlines()
    assert re.fullmatch(rf"disk: up to \d+ GB in {directory}/build, of which \d+ GB are there; \d+ GB are free", disk)
    lines = [line.removeprefix("=== ").split(" (")[0] for line in rest]
    assert all(f" --dist=loadgroup {AGAIN} " in line for line in lines[1::2])
    given = [line.partition(AGAIN)[2].strip() for line in lines[1::2]]
    return [f"{version} {part}".strip() for version, part in zip(lines[::2], given, strict=True)] + [
        line.rpartition("/")[2] for line in done.stderr.splitlines() if not line.startswith("disk: this may not")
    ]


def test_the_oldest_and_the_newest_run_what_depends_on_the_interpreter(tmp_path: Path) -> None:
    oldest, between, newest = "3.10 --only=interpreter", "3.12 --only=smoke", "3.13 --only=interpreter"
    assert parts(tmp_path, versions="") == [oldest, between, newest, "3.11 --only=usual"], (
        "the default has the whole suite"
    )
    assert parts(tmp_path, versions="", EXCEPT="3.11") == [oldest, between, newest], "another run has it"
    assert parts(tmp_path, versions="3.12") == ["3.12 --only=usual"]
    assert parts(tmp_path, versions="3.12 3.13") == ["3.12 --only=interpreter", "3.13 --only=usual"]
    assert parts(tmp_path, "-x", versions="3.10 3.13 3.11") == [f"{oldest} -x", f"{newest} -x", "3.11 --only=usual -x"]


def test_a_part_of_which_nothing_is_chosen_has_not_failed(tmp_path: Path) -> None:
    """pytest ends with 5 where no test ran."""
    chosen = ["3.10 --only=interpreter -k plan", "3.11 --only=usual -k plan", "failed on: python3.11"]
    assert parts(tmp_path, "-k", "plan", versions="3.10 3.11", status=5) == chosen
    assert parts(tmp_path, versions="3.10 3.11", status=5)[-1] == "failed on: python3.10 python3.11"
    assert parts(tmp_path, "-x", versions="3.10 3.11", status=1)[-1] == "failed on: python3.10 python3.11"


def test_the_commands_of_a_bare_system_are_those_of_the_readme() -> None:
    said = subprocess.run([SCRIPTS / "bare-system", "commands"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split("\n")[:-1] == ["make demo", "make test"]
    assert subprocess.run([SCRIPTS / "bare-system"], cwd=ROOT, capture_output=True, check=False).returncode == 2


def test_systems_are_tried_one_after_the_other(tmp_path: Path) -> None:
    """Each command of each, also after one that has failed."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    shutil.copy(SCRIPTS / "test-systems", scripts)
    bare = scripts / "bare-system"
    bare.write_text(
        """#!/bin/sh
case $1 in
    commands) printf 'make demo\\nmake test\\n' ;;
    make) mkdir -p "$2" ;;
    run) [ "$2 $3" != "build/systems/trixie make demo" ] ;;
esac
"""
    )
    bare.chmod(0o755)
    done = completed([scripts / "test-systems", "trixie", "sid"], cwd=tmp_path)
    assert done.returncode == 1
    rows = [line.split(maxsplit=2)[2] for line in done.stdout.splitlines()[-4:]]
    assert rows == [
        "failed  trixie: make demo",
        "ok      trixie: make test",
        "ok      sid: make demo",
        "ok      sid: make test",
    ]

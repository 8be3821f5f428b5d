"""The scripts behind `make`: tasks at the same time, what each interpreter runs, wrong words, the README's commands."""

import os
import re
import runpy
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
    (module,) = tmp_path.glob("build/venv/lib/python*/site-packages/rocm_sdk/__init__.py")
    before = module.stat().st_ino
    subprocess.run(command, cwd=tmp_path, check=True)
    assert module.stat().st_ino == before, "wheels that are installed are not installed again"
    (tmp_path / "build/venv/installed").write_text("other wheels\n")
    subprocess.run(command, cwd=tmp_path, check=True)
    assert module.stat().st_ino != before


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
    contributing, releases = ((ROOT / name).read_text() for name in ("CONTRIBUTING.md", "docs/releasing.md"))
    texts = [line for text in (help_text, contributing, releases) for line in text.splitlines() if "wheels" in line]
    named = re.findall(r"(?:glibc |manylinux_)2[._](\d+)", "\n".join(texts))
    assert (set(named), len(named) > 3) == ({"27"}, True)


def parts(
    directory: Path, part: str, *arguments: str, versions: str = "", status: int = 0
) -> tuple[list[str], list[str]]:
    """Return what scripts/run-tests has each version run, in its order, and what it says to standard error."""
    scripts = directory / "scripts"
    scripts.mkdir(exist_ok=True)
    shutil.copy(SCRIPTS / "run-tests", scripts)
    (scripts / "python-environment").write_text(ENVIRONMENT)
    (scripts / "python-environment").chmod(0o755)
    for version in ("3.10", "3.11", "3.12", "3.13"):
        (scripts / f"python{version}").write_text(f"#!/bin/sh\necho {version}\n")
        (scripts / f"python{version}").chmod(0o755)
    paths = {"PATH": f"{scripts}:/usr/bin:/bin", "PYTHON": "python3.11", "PYENV_ROOT": str(directory)}
    done = completed(
        ["scripts/run-tests", part, *arguments],
        cwd=directory,
        env={**paths, "PYTHONS": versions, "STATUS": str(status)},
    )
    disk, _, made, *rest = done.stdout.splitlines()
    assert re.fullmatch(rf"disk: up to \d+ GB in {directory}/build, of which \d+ GB are there; \d+ GB are free", disk)
    assert re.fullmatch(r"environments: made in \d+ s", made)
    lines = [line.removeprefix("=== ").split(" (")[0] for line in rest]
    said = [line.rpartition("/")[2] for line in done.stderr.splitlines() if not line.startswith("disk: this may not")]
    times = [line for line in said if re.fullmatch(r"tests: \d+ s, \d+ \+ \d+ processor seconds", line)]
    ran = [f"{version} {each[each.index('--only=') :]}" for version, each in zip(lines[::2], lines[1::2], strict=False)]
    assert len(times) == len(ran)
    assert not any(Path(place).exists() for place in re.findall(r"--basetemp=(\S+)/t ", done.stdout))
    return ran, [line for line in said if line not in times]


def test_a_tier_runs_on_one_interpreter(tmp_path: Path) -> None:
    for part in ("first", "rest", "long"):
        assert parts(tmp_path, part, "-k", "plan") == ([f"3.11 --only={part} -k plan"], [])
    assert parts(tmp_path, "first", versions="3.12") == (["3.12 --only=first"], [])


def test_the_oldest_and_the_newest_run_what_depends_on_the_interpreter(tmp_path: Path) -> None:
    oldest, between, newest = "3.10 --only=interpreter", "3.12 --only=smoke", "3.13 --only=interpreter"
    assert parts(tmp_path, "usual")[0] == [oldest, between, newest, "3.11 --only=usual"], "the default has all of it"
    assert parts(tmp_path, "interpreters", "-x")[0] == [
        f"{each} -x" for each in (oldest, between, newest, "3.11 --only=smoke")
    ]
    assert parts(tmp_path, "usual", versions="3.12 3.13")[0] == ["3.12 --only=interpreter", "3.13 --only=usual"]


def test_a_part_of_which_nothing_is_chosen_has_not_failed(tmp_path: Path) -> None:
    """The program pytest ends with 5 where no test ran."""
    chosen = ["3.10 --only=interpreter -k plan", "3.11 --only=usual -k plan"]
    assert parts(tmp_path, "usual", "-k", "plan", versions="3.10 3.11", status=5) == (chosen, ["failed on: python3.11"])
    assert parts(tmp_path, "first", status=5)[1] == ["failed on: python3.11"]
    assert parts(tmp_path, "usual", "-x", versions="3.10 3.11", status=1)[1] == ["failed on: python3.10 python3.11"]


def touched(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the program that chooses the tests of a change."""
    return completed([sys.executable, SCRIPTS / "touched_tests.py", *words], cwd=ROOT)


def test_each_tracked_file_has_tests_of_its_own_or_none() -> None:
    tests_of, table = (runpy.run_path(str(SCRIPTS / "touched_tests.py"))[name] for name in ("tests_of", "read_table"))
    rows = table()
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    assert {
        each for file in files if file for each in tests_of([file], rows) if not (ROOT / "tests" / each).exists()
    } == set()
    directories = {path.name for path in (ROOT / "tests").iterdir() if [*path.glob("test_*.py")]}
    reached = {word.partition("/")[0] for words in rows.values() for word in words}
    reached |= {row.split("/")[1] for row, words in rows.items() if words == ["itself"] and row.endswith("/")}
    assert directories - reached == {"attack", "cluster", "foreign"}, "these are long"
    loader = ["cli", "closure", "field", "loader", "selftest"]
    assert tests_of(["csrc/loader/plan.c"], rows) == tests_of(["tests/sample_site.py"], rows) == loader
    changed = ["tests/loader/conftest.py", "tests/loader/test_find.py", "tests/test_layers.py", "LICENSE"]
    assert tests_of(changed, rows) == ["loader", "test_layers.py"]
    with pytest.raises(LookupError, match=r"no row for new/file\.c"):
        tests_of(["new/file.c"], rows)


def test_what_the_choice_of_tests_refuses() -> None:
    assert (touched().returncode, touched("--help").returncode) == (2, 2)
    unknown = touched("no-such-commit")
    assert unknown.returncode == 2
    assert "no-such-commit" in unknown.stderr
    assert touched("HEAD").returncode == 0


def test_the_commands_of_a_bare_system_are_those_of_the_readme() -> None:
    command = [SCRIPTS / "bare-system", "commands"]
    said = {
        section: subprocess.check_output([*command, section], cwd=ROOT, text=True).splitlines()
        for section in ("Install", "Try it")
    }
    assert said["Try it"] == ["make demo", "make test"]
    packages, environment = said["Install"]
    assert packages.startswith("apt-get update && apt-get install -y gcc ")
    assert environment == "python3 -m venv .venv && .venv/bin/pip install ."
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
    commands) [ "$2" != 'Try it' ] || printf 'make demo\\nmake test\\n' ;;
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


def test_tasks_alone(tmp_path: Path) -> None:
    """A task that needs what another one made fails in its clone, which is kept with its output."""
    source = tmp_path / "source"
    (source / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPTS / "tasks_alone.py", source / "scripts")
    rules = "help:\n\t@echo '  make first a'; echo '  make second b'; echo '  make clean c'\n"
    rules += "first:\n\t@mkdir build && touch build/made\nsecond:\n\t@ls build/made\nclean:\n\t@false\n"
    (source / "Makefile").write_text(rules)
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "tasks"]):
        subprocess.run([*git, *words], check=True)
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, source / "scripts/tasks_alone.py"]
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "tmp")}
    done = completed([*command], env=environment)
    assert done.returncode == 1
    said = re.findall(r"^make (\w+) .* (ok|FAILED)$", done.stdout, re.MULTILINE)
    assert said == [("first", "ok"), ("second", "FAILED")]
    assert "build/made" in done.stdout
    (kept,) = (tmp_path / "tmp").iterdir()
    assert sorted(each.name for each in kept.iterdir()) == ["first.log", "second", "second.log"]
    assert completed([*command, "first"], env=environment).returncode == 0
    assert completed([*command, "third"], env=environment).returncode == 2

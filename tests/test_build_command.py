"""A command that runs in a fork says and leaves what it does in a process of its own, and nothing for the next."""

import os
import sys
from pathlib import Path

import pytest
from build_command import build_command, server
from ended import assert_refused
from programs import completed
from sample_site import run_interpreter

COMMANDS = {
    "help": ["closure", "--help"],
    "wrong usage": ["prefix", "--outptu", "x"],
    "a refusal": ["artifacts", "--output", "out", "--version", "7.10.0"],
    "a file that is not there": ["version", "--release-type", "nightly"],
    "an answer": ["version", "--release-type", "release", "--override-base-version", "7.10.0"],
    "a list that is given": ["prefix", "--files", "-", "--output", "out", "--version", "7.1.2"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_as_a_process_of_its_own(tmp_path: Path, name: str) -> None:
    words, given = COMMANDS[name], "/usr/bin\n"
    real = completed([sys.executable, "-m", "rocm_sdk_build", *words], cwd=tmp_path, input=given)
    done = build_command(*words, cwd=tmp_path, given=given)
    assert (done.returncode, done.stdout, done.stderr) == (real.returncode, real.stdout, real.stderr)


def test_a_command_leaves_nothing_for_the_next(tmp_path: Path) -> None:
    """Neither a directory nor a variable nor an option nor a umask."""
    words = ["version", "--release-type", "release", "--override-base-version", "7.10.0"]
    (tmp_path / "in").mkdir()
    before = os.umask(0o077)
    try:
        build_command(*words, "--quiet", cwd=tmp_path / "in", env={**os.environ, "GITHUB_OUTPUT": "out"})
    finally:
        os.umask(before)
    assert (tmp_path / "in/out").stat().st_mode & 0o777 == 0o600
    (tmp_path / "in/out").rename(tmp_path / "kept")
    assert build_command(*words, cwd=tmp_path).stdout == (tmp_path / "kept").read_text()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in", "kept"]


def test_variables_of_the_start_start_an_interpreter(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('begun')")
    words = ["version", "--release-type", "release", "--override-base-version", "7.10.0"]
    done = build_command(*words, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.stdout.startswith("begun\n")


def test_what_commands_take_is_counted() -> None:
    before = server().seconds
    build_command("index", "--help")
    assert 0 < server().seconds - before < 60


@pytest.mark.parametrize("end", ["pass", "import os; os.kill(os.getpid(), 9)"], ids=["ends", "killed"])
def test_the_server_ends_with_its_process(end: str) -> None:
    """The server has the standard error of the process, which is read to its end here."""
    code = f"from build_command import build_command; build_command('index', '--help'); {end}"
    done = run_interpreter("-c", code, check=False, PYTHONPATH=str(Path(__file__).parent))
    assert (done.returncode, done.stderr) == (0 if end == "pass" else -9, "")


def test_help_is_a_command() -> None:
    assert build_command("help").stdout == build_command("--help").stdout
    assert build_command("help", "closure").stdout == build_command("closure", "--help").stdout
    assert build_command("-V").stdout == build_command("--version").stdout
    assert_refused(build_command("help", "clsure"), 2, "did you mean closure?")


@pytest.mark.parametrize(
    "words", ["check", "index", "dlopen-dependencies", "clear-execstack", "code --keep gfx942 --output o"]
)
def test_an_input_that_is_not_there(tmp_path: Path, words: str) -> None:
    command, *options = words.split()
    assert_refused(build_command(command, str(tmp_path / "absent.so"), *options, cwd=tmp_path), 2, "absent.so")

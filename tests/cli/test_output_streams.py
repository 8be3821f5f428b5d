"""Output that nobody takes: a pipe whose reader is gone, a full disk, closed descriptors. Exit statuses are git's."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import Site, clean_environment

COMMANDS = [
    ["version"],
    ["targets"],
    ["path", "--core"],
    ["path", "amdhip64"],
    ["list"],
    ["tree", "hipsparse"],
    ["tree", "--json"],
    ["info"],
    ["gpus", "--json"],
    ["explain"],
    ["--help"],
    ["--version"],
    ["test", "--only", "libraries"],
    ["completion", "bash"],
    ["check", "--json"],
    ["check-gpu", "--gpu", "gfx942"],
    [],
]
ids = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(script: Path, sdk: Site) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs the command in a shell, which does nothing else, with a redirection."""

    def run(words: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
        environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
        return completed(["sh", "-c", f'exec "$@" {redirection}', "sh", str(script), *words], env=environment)

    return run


@ids
def test_a_full_disk(shell: Callable[..., subprocess.CompletedProcess[str]], words: list[str]) -> None:
    result = shell(words, ">/dev/full")
    assert result.returncode == 128, result.stderr
    assert "Traceback" not in result.stderr
    assert "rocm-sdk: cannot write to standard output: No space left on device\n" in result.stderr


def test_a_full_disk_does_not_undo_the_work(devel_tree: Path, shell: Shell) -> None:
    """The finished work is named as done."""
    result = shell(["init", "--json"], ">/dev/full")
    assert result.returncode == 128
    assert result.stderr.endswith(f"rocm-sdk: but this is done: the development tree is ready: {devel_tree}\n")
    assert (devel_tree / "bin/hipcc").exists()


@ids
def test_a_closed_standard_output(shell: Callable[..., subprocess.CompletedProcess[str]], words: list[str]) -> None:
    """A closed standard output is as /dev/null, for git too."""
    closed, unread = shell(words, ">&-"), shell(words, ">/dev/null")
    assert (closed.returncode, closed.stderr) == (unread.returncode, unread.stderr)
    assert "Traceback" not in closed.stderr


@ids
def test_closed_standard_error(shell: Callable[..., subprocess.CompletedProcess[str]], words: list[str]) -> None:
    """Text for the standard error does not come between the answers."""
    plain = shell(words, "")
    closed = shell(words, "2>&-")
    assert closed.returncode == plain.returncode
    if words[:1] != ["test"]:  # whose times differ
        assert closed.stdout == plain.stdout


@ids
def test_closed_standard_input(shell: Callable[..., subprocess.CompletedProcess[str]], words: list[str]) -> None:
    assert shell(words, "<&-").returncode == shell(words, "").returncode


@ids
def test_a_pipe_whose_reader_is_gone(script: Path, sdk: Site, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [str(script), *words],
        env=clean_environment() | {"PYTHONPATH": str(sdk.path)},
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert process.returncode == -signal.SIGPIPE
    assert "Traceback" not in process.stderr
    assert "Broken" not in process.stderr


def test_an_error_of_the_system_that_names_no_file(tmp_path: Path) -> None:
    """The error is none of the output, which can be written."""
    program = """
import resource, sys
import rocm_sdk.cli, rocm_sdk.cli.code, rocm_sdk.terminal.output
resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))
sys.exit(rocm_sdk.cli.main(sys.argv[1:]))
"""
    words = ["code", "/bin/ls", "--keep", "gfx942", "--output", str(tmp_path / "new")]
    result = completed([sys.executable, "-c", program, *words], env=clean_environment())
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("rocm-sdk: ")
    assert "Too many open files" in result.stderr
    assert "standard output" not in result.stderr

"""`rocm-sdk completion`: the shells themselves say what they would complete."""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_sdk.cli.parser import COMMANDS

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


def run_shell(shell: str, *arguments: str) -> str:
    program = shutil.which(shell)
    assert program, f"{shell} is needed: make setup"
    environment = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin", "TERM": "dumb"}
    with tempfile.TemporaryDirectory() as home:  # fish writes into it
        environment["HOME"] = home
        return subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=True).stdout


def test_bash(call: Call, tmp_path: Path) -> None:
    script = tmp_path / "rocm-sdk"
    script.write_text(call("completion", "bash").stdout)
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    function=$(complete -p rocm-sdk | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    $function rocm-sdk "${@: -1}" "${@: -2:1}"
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    assert set(run_shell("bash", "-c", ask, "bash", str(script), "rocm-sdk", "").split()) >= set(COMMANDS)
    assert set(run_shell("bash", "-c", ask, "bash", str(script), "rocm-sdk", "tree", "--").split()) >= {
        "--load",
        "--svg",
    }


def test_fish(call: Call, tmp_path: Path) -> None:
    script = tmp_path / "rocm-sdk.fish"
    script.write_text(call("completion", "fish").stdout)
    offered = run_shell("fish", "--no-config", "-c", f"source {script}; complete -C 'rocm-sdk '")
    assert {line.split()[0] for line in offered.splitlines()} >= set(COMMANDS)
    offered = run_shell("fish", "--no-config", "-c", f"source {script}; complete -C 'rocm-sdk tree --'")
    assert {line.split()[0] for line in offered.splitlines()} >= {"--load", "--svg"}


def test_zsh(call: Call, tmp_path: Path) -> None:
    """zsh completes in its line editor only: here it reads the script and knows which command it is for."""
    (tmp_path / "_rocm-sdk").write_text(call("completion", "zsh").stdout)
    check = f"""
    fpath=({tmp_path} $fpath)
    autoload -Uz compinit
    compinit -D -u
    print $_comps[rocm-sdk]
    zsh -n {tmp_path}/_rocm-sdk
    """
    function = run_shell("zsh", "-f", "-c", check).strip()
    assert function == "_rocm-sdk"


@pytest.mark.parametrize("words", [["completion"], ["completion", "tcsh"]])
def test_wrong_usage(call: Call, words: list[str]) -> None:
    assert call(*words).returncode == 2


def test_without_shtab(script: Path, tmp_path: Path) -> None:
    """A directory in front of the others in which there is a module of that name that cannot be imported."""
    (tmp_path / "shtab.py").write_text("raise ModuleNotFoundError('as if it were not there')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        [str(script), "completion", "bash"], env=environment, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert 'pip install "rocm-sdk-loader[completion]"' in result.stderr

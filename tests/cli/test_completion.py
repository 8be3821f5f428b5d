"""`rocm-sdk completion`: the shells themselves say what they would complete."""

import os
import pty
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from sample_site import Site

from rocm_sdk.cli.commands import COMMANDS

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


def run_shell(shell: str, *arguments: str, **variables: str) -> str:
    program = shutil.which(shell)
    assert program, f"{shell} is needed: make setup"
    environment = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin", "TERM": "dumb"} | variables
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


# What is typed, and what a shell makes of its last word.
VALUES = {
    ("tree", "origa"): "origami",
    ("tree", "amdhip64", "origa"): "origami",
    ("path", "rocprofiler-r"): "rocprofiler-register",
    ("explain", "W-OC"): "W-OCL-001",
    ("test", "--only", "openc"): "opencl",
    ("test", "--skip", "E-GPU-00"): "E-GPU-002",
    ("targets", "gfx94X-d"): "gfx94X-dcgpu",
    ("targets", "--cmake", "machi"): "machine",
    ("check", "--gpu", "gfx115"): "gfx1150",
    ("check-gpu", "--gpu", "gfx115"): "gfx1150",
    ("check-gpu", "--gpu", "machi"): "machine",
    ("install", "--gpu", "discr"): "discrete",
    ("code", "--keep", "gfx94X-d"): "gfx94X-dcgpu",
    ("env", "--targets", "sd"): "sdk",
    ("path", "amdhip64", "origa"): "origami",
    ("init", "--store", "/us"): "/usr",
    ("completion", "zs"): "zsh",
    ("run", "rocm-sample-t"): "rocm-sample-tool",
    ("run", "truncat"): "truncate",
}
values = pytest.mark.parametrize("words", VALUES, ids=" ".join)


@pytest.fixture
def with_tool(sdk: Site) -> Site:
    """An SDK with a program in its core package."""
    tool = sdk.write("_rocm_sdk_core/bin/rocm-sample-tool", "#!/bin/sh\n")
    tool.chmod(0o755)
    return sdk


@values
def test_values_in_bash(call: Call, with_tool: Site, tmp_path: Path, words: tuple[str, ...]) -> None:
    script = tmp_path / "rocm-sdk"
    script.write_text(call("completion", "bash").stdout)
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _shtab_rocm_sdk
    printf '%s\n' "${COMPREPLY[@]}"
    """
    variables = {"PYTHONPATH": str(with_tool.path)}
    offered = run_shell("bash", "-c", ask, "bash", str(script), "rocm-sdk", *words, **variables).splitlines()
    assert VALUES[words] in offered
    assert all(each.startswith(words[-1]) for each in offered)


@values
def test_values_in_fish(call: Call, with_tool: Site, tmp_path: Path, words: tuple[str, ...]) -> None:
    script = tmp_path / "rocm-sdk.fish"
    script.write_text(call("completion", "fish").stdout)
    code = f"source {script}; complete -C 'rocm-sdk {' '.join(words)}'"
    offered = run_shell("fish", "--no-config", "-c", code, PYTHONPATH=str(with_tool.path))
    assert VALUES[words] in {line.split("\t")[0].rstrip("/") for line in offered.splitlines()}


@values
def test_values_in_zsh(call: Call, with_tool: Site, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Typed into its line editor, on a terminal; what it makes of the line is printed by a key of its own."""
    (tmp_path / "_rocm-sdk").write_text(call("completion", "zsh").stdout)
    (tmp_path / ".zshrc").write_text(
        f"fpath=({tmp_path} $fpath)\nautoload -Uz compinit\ncompinit -D -u\nunsetopt beep\nPS1='ready> '\n"
        "setopt menu_complete\n"  # the first of several
        "show() { print -r -- \"line: $BUFFER\" >$HOME/shown; exit }\nzle -N show\nbindkey '^X' show\n"
    )
    environment = {
        "PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin",
        "TERM": "dumb",
        "HOME": str(tmp_path),
        "ZDOTDIR": str(tmp_path),
        "PYTHONPATH": str(with_tool.path),
    }
    program = shutil.which("zsh")
    assert program
    process, terminal = pty.fork()
    if process == 0:
        os.execve(program, [program, "-d", "-i"], environment)
    shown = b""
    while b"ready> " not in shown:
        shown += os.read(terminal, 1024)
    os.write(terminal, f"rocm-sdk {' '.join(words)}\t\x18".encode())
    with suppress(OSError):  # it ends
        while os.read(terminal, 1024):
            pass
    os.waitpid(process, 0)
    os.close(terminal)
    line = (tmp_path / "shown").read_text().strip().removeprefix("line: rocm-sdk ").rstrip("/")
    assert line == " ".join([*words[:-1], VALUES[words]])


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
    assert "python -m pip install shtab" in result.stderr

"""`rocm-sdk completion`: the shells themselves say what they would complete."""

import os
import pty
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select

import pytest
from sample_site import Site
from system_programs import find

from rocm_sdk.cli.commands import COMMANDS

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]
SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
SCRIPTS = {"bash": "rocm-sdk", "fish": "rocm-sdk.fish", "zsh": "_rocm-sdk"}  # shell -> file


def run_shell(shell: str, *arguments: str, **variables: str) -> str:
    program = find(shell)
    environment = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin", "TERM": "dumb"} | variables
    with tempfile.TemporaryDirectory() as home:  # fish writes into it
        environment["HOME"] = home
        return subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the scripts that the command prints for each shell."""
    directory = tmp_path_factory.mktemp("scripts")
    for shell, name in SCRIPTS.items():
        printed = subprocess.run([SCRIPT, "completion", shell], capture_output=True, text=True, check=True).stdout
        (directory / name).write_text(printed)
    return directory


def test_bash(scripts: Path) -> None:
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    function=$(complete -p rocm-sdk | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    $function rocm-sdk "${@: -1}" "${@: -2:1}"
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    script = str(scripts / SCRIPTS["bash"])
    assert set(run_shell("bash", "-c", ask, "bash", script, "rocm-sdk", "").split()) >= set(COMMANDS)
    offered = run_shell("bash", "-c", ask, "bash", script, "rocm-sdk", "tree", "--").split()
    assert set(offered) >= {"--load", "--json"}


def test_fish(scripts: Path) -> None:
    source = f"source {scripts / SCRIPTS['fish']}"
    offered = run_shell("fish", "--no-config", "-c", f"{source}; complete -C 'rocm-sdk '")
    assert {line.split()[0] for line in offered.splitlines()} >= set(COMMANDS)
    offered = run_shell("fish", "--no-config", "-c", f"{source}; complete -C 'rocm-sdk tree --'")
    assert {line.split()[0] for line in offered.splitlines()} >= {"--load", "--json"}


# Typed words, and the value that a shell makes of the last word.
VALUES = {
    ("tree", "origa"): "origami",
    ("tree", "amdhip64", "origa"): "origami",
    ("tree", "/us"): "/usr",
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


@pytest.fixture(scope="module")
def with_tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SDK with a program in its core package."""
    site = Site(tmp_path_factory.mktemp("tool") / "site-packages")
    site.library("libamdhip64.so.7")
    site.write("_rocm_sdk_core/bin/rocm-sample-tool", "#!/bin/sh\n").chmod(0o755)
    return site.path


@values
def test_values_in_bash(scripts: Path, with_tool: Path, words: tuple[str, ...]) -> None:
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _rocm_sdk
    printf '%s\n' "${COMPREPLY[@]}"
    """
    script = str(scripts / SCRIPTS["bash"])
    offered = run_shell("bash", "-c", ask, "bash", script, "rocm-sdk", *words, PYTHONPATH=str(with_tool)).splitlines()
    assert VALUES[words] in offered
    assert all(each.startswith(words[-1]) for each in offered)


def test_bash_completes_a_value_behind_an_equals_sign_and_names_with_spaces(scripts: Path, tmp_path: Path) -> None:
    """The words of bash are `--gpu`, `=` and the value."""
    (tmp_path / "a file").touch()
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _rocm_sdk
    printf '%s\n' "${COMPREPLY[@]}"
    """
    for words, value in (("check --gpu = gfx115", "gfx1150"), (f"check {tmp_path}/a", f"{tmp_path}/a file")):
        offered = run_shell("bash", "-c", ask, "bash", str(scripts / SCRIPTS["bash"]), "rocm-sdk", *words.split())
        assert value in offered.splitlines()


def test_bash_runs_nothing_that_a_program_of_the_sdk_is_named_after(scripts: Path, tmp_path: Path) -> None:
    site = Site(tmp_path / "site-packages")
    site.library("libamdhip64.so.7")
    site.write("_rocm_sdk_core/bin/a$(touch made)", "#!/bin/sh\n").chmod(0o755)
    ask = f"""
    cd {tmp_path}; source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _rocm_sdk
    printf '%s\n' "${{COMPREPLY[@]}}"
    """
    script = str(scripts / SCRIPTS["bash"])
    offered = run_shell("bash", "-c", ask, "bash", script, "rocm-sdk", "run", "a$", PYTHONPATH=str(site.path))
    assert "a$(touch" in offered
    assert not (tmp_path / "made").exists()


def test_bash_completes_an_option_behind_one_whose_value_may_be_left_out(scripts: Path) -> None:
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _rocm_sdk
    printf '%s\n' "${COMPREPLY[@]}"
    """
    offered = run_shell(
        "bash", "-c", ask, "bash", str(scripts / SCRIPTS["bash"]), "rocm-sdk", "test", "--prove", "--on"
    )
    assert offered.split() == ["--only"]


def test_fish_completes_the_arguments_of_the_first_subcommand(scripts: Path) -> None:
    code = f"source {scripts / SCRIPTS['fish']}; complete -C 'rocm-sdk explain run --'"
    offered = {line.split()[0] for line in run_shell("fish", "--no-config", "-c", code).splitlines()}
    assert "--json" in offered and "--layer" not in offered


@values
def test_values_in_fish(scripts: Path, with_tool: Path, words: tuple[str, ...]) -> None:
    code = f"source {scripts / SCRIPTS['fish']}; complete -C 'rocm-sdk {' '.join(words)}'"
    offered = run_shell("fish", "--no-config", "-c", code, PYTHONPATH=str(with_tool))
    assert VALUES[words] in {line.split("\t")[0].rstrip("/") for line in offered.splitlines()}


@pytest.fixture(scope="module")
def zsh(scripts: Path, with_tool: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Yield a function that types into the line editor of a zsh, on a terminal, completes, and returns the line.

    A key of its own writes the line to a file and empties it.
    """
    home = tmp_path_factory.mktemp("zsh")
    (home / ".zshrc").write_text(
        f"fpath=({scripts} $fpath)\nautoload -Uz compinit\ncompinit -D -u\nunsetopt beep\nPS1='ready> '\n"
        "setopt menu_complete\n"  # the first of several
        "show() { print -r -- \"$BUFFER\" >>$HOME/shown; BUFFER= }\nzle -N show\nbindkey '^X' show\n"
    )
    (home / "shown").touch()
    environment = {
        "PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin",
        "TERM": "dumb",
        "HOME": str(home),
        "ZDOTDIR": str(home),
        "PYTHONPATH": str(with_tool),
    }
    program = find("zsh")
    process, terminal = pty.fork()
    if process == 0:
        os.execve(program, [program, "-d", "-i"], environment)
    shown = b""
    while b"ready> " not in shown:
        shown += os.read(terminal, 1024)

    def typed(text: str) -> str:
        before = (home / "shown").read_text()
        os.write(terminal, f"{text}\t\x18".encode())
        while (after := (home / "shown").read_text()) == before or not after.endswith("\n"):
            if select([terminal], [], [], 0.01)[0]:
                os.read(terminal, 1024)
        return after.removeprefix(before).rstrip()

    yield typed
    os.close(terminal)
    os.waitpid(process, 0)


@values
def test_values_in_zsh(zsh: Callable[[str], str], words: tuple[str, ...]) -> None:
    line = zsh(f"rocm-sdk {' '.join(words)}").rstrip("/")
    assert line == " ".join(["rocm-sdk", *words[:-1], VALUES[words]])


def test_zsh(scripts: Path) -> None:
    """The shell zsh reads the script and knows which command it is for."""
    check = f"""
    fpath=({scripts} $fpath)
    autoload -Uz compinit
    compinit -D -u
    print $_comps[rocm-sdk]
    zsh -n {scripts}/_rocm-sdk
    """
    function = run_shell("zsh", "-f", "-c", check).strip()
    assert function == "_rocm-sdk"


@pytest.mark.parametrize("words", [["completion"], ["completion", "tcsh"]])
def test_wrong_usage(call: Call, words: list[str]) -> None:
    assert call(*words).returncode == 2


BUILD_VALUES = {
    ("closu",): "closure",
    ("closure", "--gpu", "gfx94X-d"): "gfx94X-dcgpu",
    ("closure", "--library", "origa"): "origami",
    ("prefix", "--families", "gfx94X-d"): "gfx94X-dcgpu",
    ("prefix", "/us"): "/usr",
    ("completion", "zs"): "zsh",
}
build_values = pytest.mark.parametrize("words", BUILD_VALUES, ids=" ".join)


@pytest.fixture(scope="module")
def build_scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the scripts that rocm-sdk-build prints for each shell."""
    directory = tmp_path_factory.mktemp("build")
    for shell in SCRIPTS:
        command = [SCRIPT.with_name("rocm-sdk-build"), "completion", shell]
        (directory / shell).write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return directory


@build_values
def test_build_in_bash(build_scripts: Path, words: tuple[str, ...]) -> None:
    ask = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _rocm_sdk_build
    printf '%s\n' "${COMPREPLY[@]}"
    """
    offered = run_shell("bash", "-c", ask, "bash", str(build_scripts / "bash"), "rocm-sdk-build", *words).splitlines()
    assert BUILD_VALUES[words] in offered


@build_values
def test_build_in_fish(build_scripts: Path, words: tuple[str, ...]) -> None:
    code = f"source {build_scripts / 'fish'}; complete -C 'rocm-sdk-build {' '.join(words)}'"
    offered = run_shell("fish", "--no-config", "-c", code)
    assert BUILD_VALUES[words] in {line.split("\t")[0].rstrip("/") for line in offered.splitlines()}


@pytest.mark.slow
def test_build_in_zsh(build_scripts: Path) -> None:
    assert (build_scripts / "zsh").read_text().startswith("#compdef rocm-sdk-build\n")
    run_shell("zsh", "-n", str(build_scripts / "zsh"))

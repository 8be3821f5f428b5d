"""The exit status of a mistake is the same in all commands, as docs/commands.md has it in a table."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_refused
from programs import completed
from sample_site import clean_environment

Call = Callable[..., subprocess.CompletedProcess[str]]
# Each takes a file as its last word.
OF_FILES = (
    "check --gpu gfx1030",
    "code",
    "code --keep gfx1030 --output out",
    "code --extract out",
    "tree --bindings --for",
)
OF_TARGETS = (
    "check --gpu",
    "check-gpu --gpu",
    "code ./libamdhip64.so.7 --output out --keep",
    "targets --cmake",
)


@pytest.mark.parametrize("words", [*OF_FILES, "info --build-id"])
def test_a_file_that_is_not_there(call: Call, tmp_path: Path, words: str) -> None:
    assert_refused(call(*words.split(), str(tmp_path / "absent.so")), 2, "absent.so: ")


@pytest.mark.parametrize("words", [*OF_FILES, "info --build-id"])
@pytest.mark.parametrize("content", ["", "text\n"])
def test_a_file_that_cannot_be_used(call: Call, tmp_path: Path, words: str, content: str) -> None:
    (tmp_path / "file.so").write_text(content)
    said = call(*words.split(), str(tmp_path / "file.so"))
    assert said.returncode == 1
    assert "E-LIB-006" in said.stdout + said.stderr


@pytest.mark.parametrize("name", ["file.co", "file.kpack", "file.so"])
def test_a_damaged_file_is_one_problem(call: Call, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"KPAK" + bytes(9))
    said = call("check", str(tmp_path / name), "--gpu", "gfx1030")
    assert (said.returncode, said.stdout.count("E-LIB-006")) == (1, 1)


def test_an_option_with_its_value_in_one_word(call: Call, tmp_path: Path) -> None:
    for words in (["--sdk", str(tmp_path / "absent")], [f"--sdk={tmp_path / 'absent'}"]):
        assert call("check-gpu", "--gpu", "gfx1030", *words).returncode == 2


@pytest.mark.parametrize("words", OF_TARGETS)
def test_a_target_that_there_is_not(call: Call, words: str) -> None:
    assert_refused(call(*words.split(), "gfx9999"), 2, '"gfx9999" is not a known GPU target, family or product')


@pytest.mark.parametrize("words", ["path", "path --json", "info --build-id"])
def test_a_short_name_that_there_is_not(call: Call, words: str) -> None:
    assert_refused(call(*words.split(), "nothing"), 2, "unknown ROCm library name 'nothing'")


@pytest.mark.parametrize("words", ["path", "path --json", "info --build-id"])
def test_an_unknown_short_name_beside_a_known_one(call: Call, words: str) -> None:
    for names in (("amdhip64", "nothing"), ("nothing", "amdhip64")):
        done = call(*words.split(), *names)
        assert done.returncode == 2
        assert "unknown ROCm library name 'nothing'" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("info --json", "rocm-sdk-core"),
        ("info --sizes", "rocm-sdk-core"),
        ("info --build-id", "no library of a ROCm SDK is installed"),
        ("run true", "[E-PKG-001]"),
    ],
)
def test_without_an_sdk(tmp_path: Path, words: str, said: str) -> None:
    command = [sys.executable, "-m", "rocm_sdk", *words.split()]
    done = completed(command, cwd=tmp_path, env=clean_environment() | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, said in done.stdout + done.stderr) == (1, True), done
    assert done.stdout == "" or json.loads(done.stdout)["sdk"]["version"] is None


@pytest.mark.parametrize("words", ["test --target", "test --json --output", "check --sdk", "init --store"])
def test_a_name_that_is_empty(call: Call, words: str) -> None:
    """`--target "$DIR"` without such a variable."""
    assert_refused(call(*words.split(), ""), 2, f"argument {words.rsplit(maxsplit=1)[-1]}: the name is empty")


@pytest.mark.parametrize("words", ["check", "code", "info --build-id"])
def test_an_argument_that_is_empty(call: Call, words: str) -> None:
    said = call(*words.split(), "")
    assert (said.returncode, said.stdout) == (2, "")
    assert re.search(r"argument (FILE|--build-id): the name is empty", said.stderr)


@pytest.mark.parametrize("words", ["env --layer rocr", "run --layer rocr true", "run --gpu 0 --layer rocm true"])
def test_a_layer(call: Call, words: str) -> None:
    assert call(*words.split()).returncode == 2


def test_a_code_that_there_is_not(call: Call) -> None:
    assert call("explain", "E-LIB-999").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("absent-1-py3-none-any.whl", "there is no such file"),
        ("nothing", "neither a wheel nor one of sdk, torch"),
        ("pytorch", "did you mean torch?"),
        ("sdk --gpu gfx9999", '"gfx9999" is not a known GPU target, family or product'),
    ],
)
def test_install(call: Call, words: str, said: str) -> None:
    """Before a GPU is looked for, or an index asked."""
    assert_refused(call("install", *words.split()), 2, said)


@pytest.mark.parametrize("words", ["rocm_sdk store verify --store s", "rocm_sdk_build index ."])
def test_a_current_directory_that_was_removed(tmp_path: Path, words: str) -> None:
    """The error of the system for a removed directory names no file."""
    (tmp_path / "here").mkdir()
    script = 'cd "$0" && rmdir "$0" && exec "$@"'
    command = ["sh", "-c", script, str(tmp_path / "here"), sys.executable, "-m", *words.split()]
    said = completed(command, env=clean_environment())
    program = words.partition(" ")[0].replace("_", "-")
    wanted = f"{program}: the current directory was removed\n  fix: change to one that is there\n"
    assert (said.returncode, said.stdout, said.stderr) == (1, "", wanted)

"""On a terminal the text of problems goes on below where it would be too long, and commands can still be pasted."""

from pathlib import Path

import pytest
from own_terminal import terminal_output
from programs import completed
from sample_device_code import bundle, library, objects
from sample_site import CORE, Site, clean_environment, compile_library

from rocm_sdk.cli import main
from rocm_sdk.installed import installer
from rocm_sdk.terminal import style
from rocm_sdk.terminal.style import wrapped_fix

WIDTHS = (40, 60, 80)


def words_of(text: str) -> list[str]:
    """Return the words without the marks that keep the lines of a command together."""
    return [word for word in text.split() if word not in {"\\", "#"}]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", ["check", "check FILE", "check-gpu", "test"])
def test_problems(sdk: Site, script: Path, tmp_path: Path, command: str, columns: int) -> None:
    """No line is longer than the terminal, except for a long word; the text equals the output to a file."""
    code = [bundle(objects("gfx90a", "gfx942"))]
    library(sdk.path / CORE / "lib/librocm_smi64.so.1", code)
    path = library(tmp_path / "libapp.so", code)
    (sdk.path / CORE / "lib/libhsa-runtime64.so.1").write_bytes(b"\x7fELF")
    words = command.replace("FILE", str(path)).split()
    words += [] if command == "test" else ["--gpu", "gfx1151,gfx90a"]
    variables = clean_environment() | {"PYTHONPATH": str(sdk.path), "NO_COLOR": "1"}
    plain = completed([str(script), *words], env=variables)
    assert plain.returncode == 1
    shown = terminal_output([str(script), *words], variables | {"COLUMNS": str(columns)}, status=1).replace("\r", "")
    long = [line for line in shown.splitlines() if len(line) > columns]
    assert [line for line in long if len(line.split()) > 2] == []
    if command != "test":  # which names fewer of what a problem breaks
        assert words_of(shown) == words_of(plain.stdout)


def test_the_command_that_installs_an_sdk(script: Path, tmp_path: Path) -> None:
    """The command can be pasted from a narrow terminal, too."""
    (tmp_path / "elsewhere").mkdir()
    runtime = compile_library(tmp_path / "elsewhere/libamdhip64.so.7", "libamdhip64.so.7")
    path = compile_library(tmp_path / "libapp.so", None, needed=(runtime,))
    (tmp_path / "empty").mkdir()
    command = [str(script), "check", str(path), "--sdk", str(tmp_path / "empty"), "--gpu", "gfx1151"]
    variables = clean_environment() | {"NO_COLOR": "1", "COLUMNS": "60"}
    lines = terminal_output(command, variables, status=3).replace("\r", "").splitlines()
    (first,) = (place for place, line in enumerate(lines) if line.startswith("  install: "))
    assert [len(line) for line in lines if len(line) > 60 and len(line.split()) > 3] == []
    assert all(line.endswith(" \\") for line in lines[first:-1])
    assert lines[-1].strip() == "'rocm[libraries]>=7.0'"


def test_the_sentence_that_tells_how_to_install_an_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the system's package manager installs, no shell takes the words, and no line ends as a command's."""
    (tmp_path / "elsewhere").mkdir()
    runtime = compile_library(tmp_path / "elsewhere/libamdhip64.so.7", "libamdhip64.so.7")
    path = compile_library(tmp_path / "libapp.so", None, needed=(runtime,))
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(installer, "installation_facts", lambda *_: {"installer": "system", "site": "/usr/lib/python3"})
    monkeypatch.setattr(style, "width_of", lambda _: 60)
    assert main(["check", str(path), "--sdk", str(tmp_path / "empty"), "--gpu", "gfx1151"]) == 3
    lines = capsys.readouterr().out.splitlines()
    (first,) = (place for place, line in enumerate(lines) if line.startswith("  install: "))
    said = " ".join(line.strip() for line in lines[first : first + 2])
    assert said == "install: Install rocm[libraries]>=7.0 with the system's package manager"


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_command_that_is_pasted(columns: int) -> None:
    """The shell sees one command, with the blanks in its words, and a remark."""
    command = (
        "printf '%s|' --index-url https://a.example/whl/gfx1151 'a directory/with  blanks' \"rocm[libraries]\" b\\ c"
    )
    fix = f"{command}  # for each of the packages that are damaged, ; exit 1"
    lines = list(wrapped_fix("  fix: ", fix, columns, " " * 4, is_command=True))
    assert len(lines) > 2
    assert lines[0].startswith("  fix: printf")
    typed = "\n".join(lines).removeprefix("  fix: ")
    done = completed(["sh", "-c", typed])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "--index-url|https://a.example/whl/gfx1151|a directory/with  blanks|rocm[libraries]|b c|"


def test_what_is_done_by_hand() -> None:
    fix = "Look into the log of the kernel: dmesg"
    lines = list(wrapped_fix("  fix: ", fix, 30, " " * 4, is_command=False))
    assert lines == ["  fix: Look into the log of", "    the kernel: dmesg"]

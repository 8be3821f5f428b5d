"""`--help` of every command: an example that can be typed."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import Site, clean_environment

from rocm_sdk.cli.commands import COMMANDS, GROUPS, OF_OTHER_TOOLS
from rocm_sdk.cli.parser import parse
from rocm_sdk_build.commands.table import EXAMPLES, make_parser

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_parses(call: Call, name: str) -> None:
    result = call(name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    example = result.stdout.partition("example: ")[2].strip()
    assert example
    # The words between "rocm-sdk" and what ends a command in a shell.
    for words in re.findall(r"(?<![-\w\"/])rocm-sdk ([^)|>&\"\n]+)", example):
        parse(words.split())
    assert re.search(rf"rocm-sdk {name}\b|-m rocm_sdk\.adoption", example)


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        (
            "rocm-sdk",
            ["check-gpu", "gfx90a"],
            "rocm-sdk check-gpu: error: unrecognized arguments: gfx90a; did you mean --gpu gfx90a?",
        ),
        ("rocm-sdk", ["test", "--jsn"], "rocm-sdk test: error: unrecognized arguments: --jsn; did you mean --json?"),
        ("rocm-sdk", ["gpus", "extra"], "rocm-sdk gpus: error: unrecognized arguments: extra"),
        ("rocm-sdk", ["comp"], "rocm-sdk: error: there is no command 'comp'; did you mean completion?"),
        ("rocm-sdk-build", ["clos"], "rocm-sdk-build: error: there is no command 'clos'; did you mean closure?"),
        (
            "rocm-sdk-build",
            ["closure", "--libary=x"],
            "rocm-sdk-build closure: error: unrecognized arguments: --libary=x; did you mean --library?",
        ),
        (
            "rocm-sdk",
            ["gpus", "https://me:secret@host/simple"],
            "rocm-sdk gpus: error: unrecognized arguments: https://host/simple",
        ),
        (
            "rocm-sdk",
            ["install", "--format", "requirments"],
            (
                "rocm-sdk install: error: argument --format: did you mean requirements? there is no 'requirments' among"
                " command, requirements, pyproject, lock, uv.lock, environment"
            ),
        ),
        ("rocm-sdk", ["nope"], "rocm-sdk: error: there is no command 'nope'"),
        ("rocm-sdk", ["tset"], "rocm-sdk: error: there is no command 'tset'; did you mean test?"),
        ("rocm-sdk", ["doctor"], "rocm-sdk: error: there is no command 'doctor'; did you mean test?"),
        ("rocm-sdk", ["help", "status"], "rocm-sdk: error: there is no command 'status'; did you mean info?"),
        ("rocm-sdk-build", ["doctor"], "rocm-sdk-build: error: there is no command 'doctor'"),
        (
            "rocm-sdk",
            ["uninstall"],
            (
                "rocm-sdk: error: there is no command 'uninstall'; did you mean pip uninstall NAME"
                " (`pip list | grep -i rocm` prints the names)?"
            ),
        ),
        ("rocm-sdk", ["--foo"], "rocm-sdk: error: unrecognized arguments: --foo"),
        ("rocm-sdk", ["--vresion"], "rocm-sdk: error: unrecognized arguments: --vresion; did you mean --version?"),
        ("rocm-sdk", ["--foo", "test"], "rocm-sdk: error: unrecognized arguments: --foo"),
        (
            "rocm-sdk",
            ["--x=https://me:secret@host/simple"],
            "rocm-sdk: error: unrecognized arguments: --x=https://host/simple",
        ),
        ("rocm-sdk", ["--x=\x1b[2J"], "rocm-sdk: error: unrecognized arguments: --x=\\x1b[2J"),
    ],
)
def test_a_wrong_word_is_named_with_what_is_like_it(script: Path, program: str, words: list[str], said: str) -> None:
    done = completed([script.with_name(program), *words])
    see = f"  see: {said.partition(':')[0]} --help"
    assert (done.returncode, done.stdout, done.stderr.splitlines()) == (2, "", [said, see])


@pytest.mark.parametrize("words", OF_OTHER_TOOLS.values())
def test_what_stands_for_a_command_of_another_tool_can_be_typed(words: str) -> None:
    if not words.startswith(("pip ", "rocm-sdk-build")):
        parse(words.split())


@pytest.mark.parametrize(
    ("program", "words"),
    [
        *(
            ("rocm-sdk", words)
            for words in ("tree --svg", "tree --dot", "tree --timing", "test --sarif x", "test --index-digests")
        ),
        *(
            ("rocm-sdk", words)
            for words in ("check --html x", "info --provenance", "gpus --watch 1", "code x --kernels")
        ),
        *(("rocm-sdk-build", words) for words in ("closure --in-place", "closure --html x")),
    ],
)
def test_what_other_tools_do_has_no_option(script: Path, program: str, words: str) -> None:
    command, option = words.split(maxsplit=1)[0], next(word for word in words.split() if word.startswith("--"))
    done = completed([script.with_name(program), *words.split()])
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{program} {command}: error: unrecognized arguments: {option}" in done.stderr


def test_the_builder_alone_prints_its_commands(script: Path) -> None:
    alone, asked = (completed([script.with_name("rocm-sdk-build"), *words]) for words in ([], ["--help"]))
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, asked.stdout, "")


def test_both_programs_complain_alike(script: Path, sdk: Site, tmp_path: Path) -> None:
    """An error of the loader has its code in both."""
    for program, name in (("rocm-sdk", "check-gpu"), ("rocm-sdk-build", "closure")):
        command = [script.with_name(program), name, "--gpu", "gfx9999"]
        environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
        done = completed(command, cwd=tmp_path, env=environment)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(rf'{program}: "gfx9999" is .* \[E-GPU-005\]\n  fix: .*\n', done.stderr), done.stderr


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_of_the_builder_has_an_example_that_parses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = make_parser()
    with pytest.raises(SystemExit):
        parser.parse_args([name, "--help"])
    example = capsys.readouterr().out.partition("\nexample: ")[2].splitlines()
    assert example == [EXAMPLES[name]]
    assert parser.parse_args(example[0].partition(" > ")[0].split()[1:]).run


def test_what_all_commands_have_is_said_in_one_place(call: Call, script: Path) -> None:
    """A command names its own statuses."""
    for name in ("check", "run", "gpus"):
        text = call(name, "--help").stdout
        assert "--color {" not in text
        assert "\nrocm-sdk help options: -q, -v, --color, --progress, exit statuses\n" in text
    assert statuses_of(call("check", "--help").stdout) == {"3"}
    common = call("help", "options")
    assert (common.returncode, common.stderr) == (0, "")
    assert statuses_of(common.stdout) >= {"0", "1", "2"}
    for option in ("-q, --quiet", "-v, --verbose", "--progress", "--color {auto,always,never}"):
        assert f"\n  {option}" in common.stdout
    of_builder = completed([script.with_name("rocm-sdk-build"), "help", "options"])
    assert of_builder.stdout.split() == re.sub(r"rocm-sdk\b", "rocm-sdk-build", common.stdout).split()


def statuses_of(text: str) -> set[str]:
    """Return the exit statuses that a help names."""
    words = " ".join(text.partition("\nexit status: ")[2].partition("\n\n")[0].split())
    return set(re.findall(r"(?:^|; )(\d+) ", words))


def test_all_commands_are_listed(call: Call) -> None:
    listed = call("--help").stdout
    for name, summary in COMMANDS.items():
        assert re.search(rf"^ +{name}\b", listed, re.MULTILINE), name
        assert summary.split()[0] in listed
    sections = [section.split() for section in re.split(r"^\w+ \([\w ]+\):\n", listed, flags=re.MULTILINE)]
    assert [section[0] for section in sections[1:]] == [names[0] for _, names in GROUPS.values()]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_the_terminal(call: Call, name: str) -> None:
    _usage, _, rest = call(name, "--help", COLUMNS="50").stdout.partition("\n\n")  # argparse breaks no group
    *text, example = [line for line in rest.splitlines() if line]
    assert example.startswith("example: "), "one line, to be copied"
    for line in text:
        assert len(line) <= 50 or len(line.split()[-1]) > 20, "only words that cannot be broken stand out"


def test_descriptions_use_the_width(call: Call) -> None:
    wide = call("env", "--help", COLUMNS="200").stdout
    assert "as commands for a shell to evaluate. The first call extracts the development tree." in wide
    assert "                          (bitcode), if the tree has them" in call("env", "--help", COLUMNS="60").stdout

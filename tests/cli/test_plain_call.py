"""Calls that skip argparse get the options that argparse would give; what is not plain is left to it."""

import pytest
from sample_site import run_interpreter

from rocm_sdk.cli.commands import COMMANDS, module_of
from rocm_sdk.cli.parser import parse
from rocm_sdk.cli.plain_call import plain_options

PLAIN = (
    ("version",),
    ("version", "--json"),
    ("targets",),
    ("targets", "--missing", "--json"),
    ("targets", "machine", "--cmake"),
    ("gpus", "--arch", "--visible"),
    ("path", "amdhip64"),
    ("path", "amdhip64", "hiprand", "--json"),
    ("path", "--root"),
    ("path", "--json", "--cmake"),
    ("list", "--installed"),
    ("explain",),
    ("explain", "E-LIB-006"),
    ("code", "a.so", "b.so", "--json"),
    ("check-gpu", "--unofficial"),
    ("check-gpu", "--gpu", "gfx942", "--json", "--gpu=machine"),
    ("check-gpu", "--sdk", "/a", "--sdk=/b"),
    ("path", "--header", "hip"),
    ("code", "a.so", "--retarget", "gfx1030:gfx1031", "--output=b.so"),
    ("env", "--compiler", "clang-19", "--fish"),
    ("tree",),
    ("tree", "amdhip64", "hipsparse", "--json"),
    ("env", "--fish"),
    ("env",),
    ("info", "--sizes"),
    ("init", "--quiet"),
    ("adopt", "--check"),
    ("test", "-v", "--deep"),
)
LEFT_TO_ARGPARSE = (
    ("version", "--jso"),  # abbreviations
    ("version", "7"),
    ("path",),
    ("path", "--root", "--cmake"),
    ("path", "--header"),
    ("path", "--header", "--tool"),
    ("path", "--header", "hip", "--root"),
    ("path", "--header", "hip", "amdhip64"),
    ("path", "--root=x"),
    ("check-gpu", "--gp", "gfx942"),
    ("check-gpu", "--sdk="),
    ("init", "--store", "--quiet"),
    ("path", "amdhip64", "--root"),
    ("gpus", "--all", "--arch"),
    ("code",),
    ("code", "--", "-x"),
    ("explain", "E-LIB-006", "E-LIB-007"),
    ("run", "true"),
    ("store", "prune"),
    ("completion", "bash"),
    ("test", "--help"),
)


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_the_options_are_those_of_argparse(words: tuple[str, ...]) -> None:
    plain = plain_options(module_of(words[0]), list(words[1:]))
    run, parsed = parse(list(words))
    assert plain is not None
    assert {"run": run} | vars(plain) == vars(parsed)


@pytest.mark.parametrize("words", LEFT_TO_ARGPARSE, ids=" ".join)
def test_what_is_left_to_argparse(words: tuple[str, ...]) -> None:
    assert plain_options(module_of(words[0]), list(words[1:])) is None


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_no_other(command: str) -> None:
    """A command imports no other command, plain or with wrong options."""
    program = """if True:
        import sys
        from rocm_sdk.cli import main
        try:
            main([sys.argv[1], "--no-such-option"])
        finally:
            print(*(name for name in sys.modules if name.startswith("rocm_sdk.cli.")))
    """
    done = run_interpreter("-c", program, command, check=False)
    assert f"rocm_sdk.cli.{command.replace('-', '_')}" in done.stdout.split(), done.stderr
    imported = {name.split(".")[2].replace("_", "-") for name in done.stdout.split()} & COMMANDS.keys()
    expected = {command} | ({"path"} if command == "env" else set())  # which tells the same directories
    assert imported <= expected

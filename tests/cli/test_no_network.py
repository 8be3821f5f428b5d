"""The loader reads and loads: `install` alone asks a network, and no other command may."""

import sys
from pathlib import Path

import pytest
from programs import completed
from sample_site import CORE, Site, clean_environment

from rocm_sdk.cli.commands import COMMANDS

# A command that asks no network, in each form that takes another way. LIBRARY is a file.
WORDS = {
    "adopt": ["--help"],
    "check": ["LIBRARY", "--gpu", "gfx942"],
    "check-gpu": ["--gpu", "gfx942"],
    "code": ["LIBRARY"],
    "completion": ["bash"],
    "env": [],
    "explain": ["E-PKG-001"],
    "gpus": ["--health"],
    "info": ["--build-id"],
    "init": ["--quiet"],
    "list": [],
    "path": ["--cmake"],
    "run": ["true"],
    "store": ["list"],
    "targets": ["--check"],
    "test": [],
    "tree": ["--bindings"],
    "version": ["--json"],
}
ASKING = {"install"}  # through pip or uv

PROGRAM = """if True:
    import sys
    seen = []
    def note(event, words):
        if event == "os.exec":  # rocm-sdk run
            print("network:", *sorted(set(seen)), flush=True)
        if event.startswith("socket.") and event != "socket.gethostname":
            seen.append(event)
        if event == "import" and words[0].startswith("rocm_sdk.index.web"):
            seen.append(words[0])
    sys.addaudithook(note)
    from rocm_sdk.cli import main
    try:
        main(sys.argv[1:])
    except SystemExit:
        pass
    print("network:", *sorted(set(seen)))
"""


def network_of(sdk: Site, words: list[str], **variables: str) -> list[str]:
    """Return the modules of web/ that a command imports, and its operations on sockets."""
    env = clean_environment() | {"PYTHONPATH": str(sdk.path)} | variables
    result = completed([sys.executable, "-c", PROGRAM, *words], env=env)
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("network:"))
    return line.split()[1:]


def test_each_command_is_here() -> None:
    assert WORDS.keys() | ASKING == COMMANDS.keys()


@pytest.mark.parametrize("command", WORDS)
def test_no_network(sdk: Site, devel_tree: Path, command: str) -> None:
    assert devel_tree.parent.is_dir()
    library = str(sdk.path / CORE / "lib/libamdhip64.so.7")
    words = [library if word == "LIBRARY" else word for word in WORDS[command]]
    assert network_of(sdk, [command, *words]) == []


@pytest.mark.slow
def test_who_asks(sdk: Site) -> None:
    assert "rocm_sdk.index.web.server" in network_of(
        sdk, ["install", "--gpu", "gfx942"], ROCM_SDK_INDEX="http://127.0.0.1:1/"
    )

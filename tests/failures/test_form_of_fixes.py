"""Each fix of the table is a line that a shell takes, or says at its beginning that it is a deed."""

import re

import pytest
from programs import completed

from rocm_sdk.problems import ENTRIES
from rocm_sdk.problems.registry import Fix

_BY_HAND = "by hand: "
_PROGRAMS = (
    *("apt", "apt-get", "chmod", "dnf", "emerge", "ldconfig", "mount", "mv", "pacman", "patchelf", "pip", "python"),
    *(
        "cp",
        "ln",
        "mkdir",
        "readelf",
        "rmdir",
        "python3",
        "rm",
        "rocm-sdk",
        "rocm-sdk-build",
        "sudo",
        "zypper",
        "nix-store",
    ),
)
_OF_SHELLS = ("cd", "eval", "export", "ulimit", "unset")

FIXES = [(code, fix) for code, entry in ENTRIES.items() for fix in entry.fixes]


@pytest.mark.parametrize(("code", "fix"), FIXES, ids=[f"{code}-{number}" for number, (code, _) in enumerate(FIXES)])
def test_a_command_or_a_deed(code: str, fix: Fix) -> None:
    assert fix.text.count(_BY_HAND) == fix.text.startswith(_BY_HAND), code
    if not fix.text.startswith(_BY_HAND):
        for command in fix.text.partition("  # ")[0].split(" && "):
            assert re.split(r"[ ]", command, maxsplit=1)[0].rpartition("/")[2] in _PROGRAMS + _OF_SHELLS, fix.text


def test_a_shell_takes_each_command() -> None:
    lines = [fix.text for _, fix in FIXES if not fix.text.startswith(_BY_HAND)]
    for line in dict.fromkeys(lines):
        done = completed(["bash", "-n", "-c", line])
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_page_of_a_code_reads_without_facts() -> None:
    """No word of a fact stands where a name must stand."""
    for code, entry in ENTRIES.items():
        for fix in entry.fixes:
            assert not re.search(r"\b(of of|the the|the a|a a)\b|\{[a-z$]", fix.text), f"{code}: {fix.text}"

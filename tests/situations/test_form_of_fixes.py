"""Each fix of the table is a line that a shell takes, or a sentence that says what to do."""

import re

import pytest
from programs import completed

from rocm_sdk.base.value_text import is_words
from rocm_sdk.problems import ENTRIES
from rocm_sdk.problems.registry import Fix

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
# The verbs with which sentences begin; a new one is no mistake if it is an imperative.
_VERBS = re.compile(
    "(?:Add|Ask|Build|Check|Collect|Compare|Copy|Correct|Do|Find|Get|Give|Install|Keep|Let|Link|Load|Look|Make|Move|Name|"
    "Preload|Put|Raise|Reinstall|Remove|Rename|Report|Run|See|Set|Start|Switch|Take|Tell|Try|Uninstall|Update|Use|Wait)\\b"
)
_OF_SHELLS = ("cd", "eval", "export", "ulimit", "unset")

FIXES = [(code, fix) for code, entry in ENTRIES.items() for fix in entry.fixes]


@pytest.mark.parametrize(("code", "fix"), FIXES, ids=[f"{code}-{number}" for number, (code, _) in enumerate(FIXES)])
def test_a_command_or_a_sentence(code: str, fix: Fix) -> None:
    if is_words(fix.text):
        assert _VERBS.match(fix.text), f"{code}: {fix.text}"
    else:
        for command in fix.text.partition("  # ")[0].split(" && "):
            assert re.split(r"[ ]", command, maxsplit=1)[0].rpartition("/")[2] in _PROGRAMS + _OF_SHELLS, fix.text


@pytest.mark.parametrize(
    ("fix", "is_sentence"),
    [
        ("Install rocm==7 again", True),
        ("Do in turn: mv a b && put a==1 into /s", True),
        ("rm -r /Site", False),
        ("GLIBC_TUNABLES=glibc.rtld.execstack=2 python", False),
        ("'/Sites/python' -m pip", False),
        ("X", False),
        ("", False),
    ],
)
def test_a_sentence_is_told_from_a_command(fix: str, *, is_sentence: bool) -> None:
    assert is_words(fix) == is_sentence


def test_a_shell_takes_each_command() -> None:
    lines = [fix.text for _, fix in FIXES if not is_words(fix.text)]
    for line in dict.fromkeys(lines):
        done = completed(["bash", "-n", "-c", line])
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_page_of_a_code_reads_without_facts() -> None:
    """No word of a fact stands where a name must stand."""
    for code, entry in ENTRIES.items():
        for fix in entry.fixes:
            assert not re.search(r"\b(of of|the the|the a|a a)\b|\{[a-z$]", fix.text), f"{code}: {fix.text}"

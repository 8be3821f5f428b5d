"""`closure --in-place` is killed: an import finds the old SDK, the new one, or a journal, which the next run completes.

ROCM_SDK_TEST_KILLS says at how many of the system calls of a run it is killed, once with an exchange and once without.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from environment import HIPSPARSE, Environment
from programs import completed
from sample_devel import as_root
from sample_site import clean_environment

KILLS = int(os.environ.get("ROCM_SDK_TEST_KILLS", "8"))
CALLS = "rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,mkdir,mkdirat"
WORDS = (*HIPSPARSE, "--no-proof")

Restore = Callable[[], Environment]
pytestmark = as_root


def traced(command: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    assert shutil.which("strace"), "strace is needed: make setup"
    words = ["strace", "-qq", *options, *command]
    return completed(words, env=clean_environment(), timeout=120)


def points(command: list[str], record: Path) -> list[tuple[str, int]]:
    """Return the calls of an undisturbed run: the name of each, and its number among the calls of this name."""
    done = traced(command, "-o", str(record), "-e", f"trace={CALLS}")
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    numbers: dict[str, int] = {}
    found = []
    for line in record.read_text().splitlines():
        name = line.partition("(")[0]
        numbers[name] = numbers.get(name, 0) + 1
        found.append((name, numbers[name]))
    return found


def chosen(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the calls to be killed at: evenly spread over the run, and all that exchange or are about the journal."""
    step = max(1, len(found) // KILLS)
    return list(
        dict.fromkeys([*found[step // 2 :: step], found[-1], *(each for each in found if each[0] == "renameat2")])
    )


@pytest.mark.parametrize("way", ["exchange", "file by file"])
def test_killed_at_any_call(environment: Environment, tmp_path: Path, way: str, restore: Restore) -> None:
    command = environment.command(*WORDS)
    command = command if way == "exchange" else environment.file_by_file(command)
    found = points(command, tmp_path / "calls")
    expected = environment.files()
    states: dict[str, int] = {}
    for name, number in chosen(found):
        restore()
        traced(command, "-o", "/dev/null", "-e", f"inject={name}:signal=SIGKILL:when={number}")
        state, has_journal = environment.state, (environment.site / ".rocm-sdk-closure").exists()
        states[f"{state}{', journal' if has_journal else ''}"] = 1
        assert state in {"old", "new"} or (way == "file by file" and has_journal), (name, number)
        if has_journal:
            assert "E-PKG-022" in environment.codes()
        elif state == "old":
            assert environment.run("rocm_sdk", "path", "--root").returncode in {0, 1}
        environment.prune(*WORDS)
        assert environment.files() == expected, (name, number)
        assert environment.leftovers() == [], (name, number)
    print(f"{way}: {len(chosen(found))} kills of {len(found)} calls: {', '.join(states)}")
    assert "old" in states
    assert states.keys() & ({"new", "new, journal"} if way == "exchange" else {"mixed, journal"})


def test_the_fix_completes_it(environment: Environment, tmp_path: Path, restore: Restore) -> None:
    """`rocm-sdk-build closure --in-place` alone, as `rocm-sdk test` says."""
    command = environment.file_by_file(environment.command(*WORDS))
    found = points(command, tmp_path / "calls")
    expected = environment.files()
    restore()
    middle = [number for name, number in found if name == "renameat"]
    traced(command, "-o", "/dev/null", "-e", f"inject=renameat:signal=SIGKILL:when={middle[len(middle) // 2]}")
    assert environment.state == "mixed"
    assert environment.codes() >= {"E-PKG-022"}
    done = environment.prune()
    assert "completed what was interrupted" in done.stdout
    assert environment.files() == expected
    assert "E-PKG-022" not in environment.codes()
    assert environment.leftovers() == []


def test_installed_again_after_a_kill(environment: Environment, tmp_path: Path, wheels: Path, restore: Restore) -> None:
    """The journal fits no longer: nothing of the packages that pip has installed anew is taken away."""
    command = environment.file_by_file(environment.command(*WORDS))
    found = points(command, tmp_path / "calls")
    restore()
    last = [number for name, number in found if name == "renameat"][-1]
    traced(command, "-o", "/dev/null", "-e", f"inject=renameat:signal=SIGKILL:when={last}")
    names = [f"{name}==7.10.0" for name in ("rocm-sdk-core", "rocm-sdk-libraries", "rocm")]
    options = ("-q", "--no-index", "--no-deps", "--force-reinstall", "--find-links", wheels)
    environment.pip("install", *options, *names)
    before = environment.files()
    done = environment.prune(check=False)
    assert "has changed since" in done.stderr
    assert "rm -r" in done.stderr
    assert environment.files() == before


@pytest.mark.parametrize("way", ["exchange", "file by file"])
def test_data_reaches_the_disk_before_names(environment: Environment, tmp_path: Path, way: str) -> None:
    command = environment.command(*WORDS)
    command = command if way == "exchange" else environment.file_by_file(command)
    done = traced(command, "-o", str(tmp_path / "calls"), "-e", "trace=syncfs,fsync,rename,renameat,renameat2,unlinkat")
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    lines = (tmp_path / "calls").read_text().splitlines()
    site = str(environment.site)

    def last(*texts: str) -> int:
        return max(number for number, line in enumerate(lines) if all(text in line for text in texts))

    if way == "exchange":
        appears = last("renameat2(", f'"{site}"', "RENAME_EXCHANGE")
    else:
        appears = last("rename(", f'"{site}/.rocm-sdk-closure"')
        assert appears < lines.index(next(line for line in lines if line.startswith("renameat(")))
    before, after = lines[:appears], lines[appears:]
    assert before[-1].startswith("syncfs(") or any(line.startswith("syncfs(") for line in before[-3:])
    assert after[1].startswith("fsync(")
    gone = next(number for number, line in enumerate(after) if "unlinkat(" in line and '"journal.json"' in line)
    assert after[gone - 1].startswith("syncfs(")

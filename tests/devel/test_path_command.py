"""`rocm-sdk path` with the directories of the development tree and of the packages beside it."""

import shutil
import sys
from pathlib import Path

import pytest
from ended import assert_refused, succeeded
from sample_devel import DevelSite, directory, libraries_files, sample_members

import rocm_sdk

TREE = "_rocm_sdk_devel"
MORE = [directory(f"{TREE}/lib/llvm/amdgcn/bitcode"), directory(f"{TREE}/share/pkgconfig")]


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("--root", TREE),
        ("--cmake", f"{TREE}/lib/cmake"),
        ("--bin", f"{TREE}/bin"),
        ("--include", f"{TREE}/include"),
        ("--lib", f"{TREE}/lib"),
        ("--llvm", f"{TREE}/lib/llvm"),
        ("--device-libs", f"{TREE}/lib/llvm/amdgcn/bitcode"),
        ("--pkgconfig", f"{TREE}/share/pkgconfig"),
    ],
)
def test_directories_of_the_tree(devel_site: DevelSite, option: str, answer: str) -> None:
    """Extracted at first use; then the same answer, and no message."""
    devel_site.install_devel([*sample_members(), *MORE])
    first = devel_site.command("path", option)
    assert first.stdout == f"{devel_site.path / answer}\n"
    assert "Extracting" in first.stderr
    second = devel_site.command("path", option)
    assert (second.stdout, second.stderr) == (first.stdout, "")


@pytest.mark.parametrize(("option", "package"), [("--core", "core"), ("--libraries", "libraries")])
def test_packages_are_found_without_extracting(devel_site: DevelSite, option: str, package: str) -> None:
    result = devel_site.command("path", option)
    assert (result.stdout, result.stderr) == (f"{devel_site.path}/_rocm_sdk_{package}\n", "")
    assert not devel_site.tree.exists()


def test_what_is_not_there(devel_site: DevelSite) -> None:
    result = devel_site.command("path", "--pkgconfig", check=False)
    assert_refused(result, 1, "has no lib/pkgconfig nor share/pkgconfig")
    shutil.rmtree(devel_site.path / "_rocm_sdk_libraries")
    result = devel_site.command("path", "--libraries", check=False)
    assert_refused(result, 1, "not installed")
    devel_site.install("rocm-sdk-libraries", libraries_files())
    assert devel_site.command("path", "--libraries").returncode == 0


@pytest.mark.parametrize("words", [["--root", "--bin"], ["--root", "amdhip64"], ["--nonsense"], []])
def test_wrong_usage(devel_site: DevelSite, words: list[str]) -> None:
    assert_refused(devel_site.command("path", *words, check=False), 2, "see: rocm-sdk path --help")


@pytest.mark.parametrize("option", ["--core", "--root", "--cmake"])
def test_next_to_nothing_is_imported(devel_site: DevelSite, option: str) -> None:
    devel_site.command("init")
    # -S: what an environment's own .pth files import is not ours.
    code = "import os, sys; before = set(sys.modules); from rocm_sdk.cli import main; main(sys.argv[1:]); "
    code += "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    package = str(Path(rocm_sdk.__file__).parent.parent)
    result = succeeded(
        [sys.executable, "-S", "-c", code, "path", option],
        env=devel_site.environment(PYTHONPATH=f"{package}:{devel_site.path}"),
    )
    imported = set(result.stderr.split())
    assert {name for name in imported if not name.startswith("rocm_sdk")} == set()


@pytest.mark.parametrize("seconds", ["-1", "-0.1", "nan", "inf", "1e7", "soon", ""])
@pytest.mark.parametrize("words", [["init"], ["store", "prune", "--store", "/nonexistent"]], ids=lambda words: words[0])
def test_a_time_that_is_none_is_refused(devel_site: DevelSite, words: list[str], seconds: str) -> None:
    result = devel_site.command(*words, f"--timeout={seconds}", check=False)
    assert_refused(result, 2, f"argument --timeout: not a number of seconds, 0 or more: {seconds}".rstrip())
    assert not devel_site.tree.exists()

"""Directories that lie in each other deeper than any path may be: each command refuses them in words."""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from deep_directories import deep_directory, make_deep
from programs import completed
from sample_site import CORE, Site, clean_environment

from rocm_sdk.errors import LibraryAccessError
from rocm_sdk.installed.directory_walk import DEPTH_LIMIT, walk

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
REFUSAL = f"directories lie in each other more than {DEPTH_LIMIT} deep"


def call(site: Site, *words: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    return completed([SCRIPT, *words], env=environment)


def test_the_limit(tmp_path: Path) -> None:
    """The same with as many levels as the recursion of Python allows none."""
    deep = tmp_path / "deep"
    make_deep(deep, DEPTH_LIMIT)
    assert len(list(walk(deep))) == DEPTH_LIMIT + 1
    make_deep(deep / "e/e", DEPTH_LIMIT - 1)
    seen: list[OSError] = []
    with pytest.raises(LibraryAccessError, match=REFUSAL):
        list(walk(deep))
    assert len(list(walk(deep, seen.append))) == 2 * DEPTH_LIMIT + 1, "what is not too deep is there"
    assert [str(each) for each in seen] == [f"{deep}: cannot read: {REFUSAL} [E-FILE-007]\n  fix: {seen[0].fix}"]  # type: ignore[attr-defined]


def test_names_that_are_too_long_together(tmp_path: Path) -> None:
    """The path of the last is longer than any that the kernel takes."""
    name, levels = "n" * 200, 30
    (tmp_path / "deep").mkdir()
    descriptor = os.open(tmp_path / "deep", os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        descriptor = os.open(name, os.O_RDONLY, dir_fd=descriptor)
    with pytest.raises(LibraryAccessError, match=REFUSAL):
        list(walk(tmp_path / "deep"))


def test_the_same_as_the_walk_of_python(tmp_path: Path) -> None:
    for path in ("a/b/c", "a/d", "e"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "file").touch()
    (tmp_path / "a/link").symlink_to(tmp_path / "e")
    (tmp_path / "a/itself").symlink_to("itself")
    mine, its = (
        {parent: (set(names), set(files)) for parent, names, files in each(tmp_path)} for each in (walk, os.walk)
    )
    assert mine == {str(key): value for key, value in its.items()}
    kept = []
    for parent, names, _ in walk(tmp_path):
        kept.append(parent)
        names[:] = [name for name in names if name != "a"]
    assert sorted(kept) == [str(tmp_path), f"{tmp_path}/e"]


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1000, 10_000])  # removing 100,000 takes the kernel minutes
def test_commands(site: Site, tmp_path: Path, depth: int) -> None:
    site.library("libamdhip64.so.7")
    with deep_directory(tmp_path / "deep", depth) as directory:
        deep = str(directory)
        for words in (
            ("check", deep, "--gpu", "gfx1100"),
            ("check", "--sdk", deep, "--gpu", "gfx1100"),
            ("check-gpu", "--sdk", deep, "--gpu", "gfx1100"),
            ("code", deep),
            ("test", "--sdk", deep),
        ):
            done = call(site, *words)
            assert done.returncode == 1, words
            assert done.stderr.startswith(f"rocm-sdk: {deep}: "), words
            assert REFUSAL in done.stderr, words
            assert "Traceback" not in done.stderr, words


@pytest.mark.slow
def test_a_package_with_them(site: Site) -> None:
    """In the SDK itself: an installation that a test looks at."""
    site.library("libamdhip64.so.7")
    with deep_directory(site.path / CORE / "deep", 1000):
        for words in (("test", "--sdk", str(site.path)), ("test",), ("check",)):
            done = call(site, *words)
            said = done.stdout + done.stderr
            assert done.returncode == 1, words
            assert REFUSAL in said, words
            assert not re.search("Traceback|E-TEST-001", said), words

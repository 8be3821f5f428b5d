"""The making of a release: all checks, then the files in dist/.

The first check that fails ends the script, and says what to do.

The tests and the builds are tasks of make. Two clones of the last commit build all files, which must be equal. The
script names the tasks that are left out, and then dist/ stays as it is: the files are in build/release/trial, without
the text of a tag.

usage: release.py VERSION [--without TASK]...      TASK: tests, lint, twice
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import release_files as files
from release_notes import ReleaseError, Section, notes_text, section_of, tag_text

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build/release"
FIRST, SECOND = WORK / "first", WORK / "second/in-a-longer-place"
HEADER = ROOT / "csrc/include/rocm_sdk/version.h"
TASKS = ("tests", "lint", "twice")


class Step(NamedTuple):
    """A check or task of a release."""

    name: str
    run: Callable[[], object]
    task: str = ""  # the name by which the step can be left out


def steps(version: str) -> list[Step]:
    """Return all steps in their order: quick steps that are often wrong come first."""
    made = FIRST / "build/wheels"
    return [
        Step("the version", lambda: check_version(version)),
        Step("no uncommitted change", check_clean),
        Step("the section of the changelog", lambda: section(version)),
        Step("style, warnings, types, workflows", lambda: make(ROOT, "lint"), "lint"),
        Step("the tests on each Python", lambda: make(ROOT, "test-all"), "tests"),
        Step("the tests that take long", lambda: make(ROOT, "test-long"), "tests"),
        Step("all files, in a clone", lambda: build(FIRST, "UTC")),
        Step("all files, in another clone", lambda: build(SECOND, "Asia/Kathmandu"), "twice"),
        Step("the same bytes in both", lambda: files.check_equal(made, SECOND / "build/wheels"), "twice"),
        Step("no file lacks, and none is too many", lambda: files.check_names(made, version)),
        Step("metadata (twine)", lambda: files.check_metadata(made)),
        Step("the limited API (abi3audit)", lambda: files.check_stable_abi(made)),
        Step("the platform tags (auditwheel)", lambda: files.check_platforms(made)),
        Step("licences", lambda: files.check_licences(made)),
        Step("bills of materials", lambda: files.check_sboms(made)),
        Step("an installation on this machine", lambda: files.check_installation(made, WORK / "environment")),
    ]


def main(words: list[str]) -> int:
    """Take all steps and publish the files; return the exit status.

    The status is 0 if there is a release, 1 if a step fails, 2 for wrong usage, and 3 if something was left out.
    """
    parser = argparse.ArgumentParser(
        prog="make release", description="Check everything and make the files of a release."
    )
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("--without", action="append", default=[], choices=TASKS)
    options = parser.parse_args(words)
    try:
        for step in steps(options.version):
            take(step, options.without)
        place = publish(options.version, is_whole=not options.without)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    if options.without:
        print(f"left out: {', '.join(options.without)}. This is no release; its files are in {place}")
        return 3
    tag = f"v{options.version}"
    print(f"{place}/ is complete. Now:\n  git tag -a -F dist/tag.txt {tag}\n  git push origin {tag}")
    return 0


def take(step: Step, without: list[str]) -> None:
    """Run a step, and say so before and afterwards."""
    if step.task in without:
        print(f"release: {step.name}: LEFT OUT ({step.task})", flush=True)
        return
    print(f"release: {step.name} ...", flush=True)
    begin = time.monotonic()
    step.run()
    print(f"release: {step.name}: good ({time.monotonic() - begin:.0f} s)", flush=True)


def check_version(version: str) -> None:
    """Check that the version is valid, that the sources have the same version, and that no other commit has its tag.

    The version must not be lower than the highest version that has a tag.
    """
    if re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version) is None:
        raise ReleaseError(f"{version!r} is no version", "write three numbers: make release VERSION=1.2.3")
    match = re.search(r'^#define RSDK_VERSION "(.*)"$', HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None or match[1] != version:
        place = HEADER.relative_to(ROOT)
        raise ReleaseError(f"{place} has version {match and match[1]}", f"write {version} there, and commit it")
    tags = git("tag", "--list", "v*").split()
    if f"v{version}" in tags and git("rev-parse", f"v{version}^{{commit}}") != git("rev-parse", "HEAD"):
        raise ReleaseError(f"another commit has the tag v{version}", "a version is released once: take the next one")
    numbers = [tuple(map(int, tag[1:].split("."))) for tag in tags if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
    if numbers and tuple(map(int, version.split("."))) < max(numbers):
        last = ".".join(map(str, max(numbers)))
        raise ReleaseError(f"{version} is lower than {last}, which has a tag", "take a higher version")


def check_clean() -> None:
    """Check that the commit has all changes of the clone."""
    if changed := git("status", "--porcelain").splitlines():
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise ReleaseError(f"not committed: {changed[0][3:]}{more}", "commit it, or put it aside: git stash -u")


def section(version: str) -> Section:
    """Return the section of the changelog about this version."""
    return section_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)


def build(clone: Path, zone: str) -> None:
    """Clone the last commit and make all files there.

    The clone uses the downloads and the tools of this clone.
    """
    shutil.rmtree(clone, ignore_errors=True)
    clone.parent.mkdir(parents=True, exist_ok=True)
    git("clone", "--quiet", str(ROOT), str(clone))
    sources = clone / "build/portable/sources"
    sources.mkdir(parents=True)
    for archive in (ROOT / "build/portable/sources").glob("*.tar.*"):  # each use checks the SHA-256
        shutil.copy(archive, sources)
    if (ROOT / "build/venv-release").is_dir():
        (clone / "build/venv-release").symlink_to(ROOT / "build/venv-release")
    make(clone, "release-files", TZ=zone, ZIG_GLOBAL_CACHE_DIR=str(clone / "build/zig"))  # compiles all again


def publish(version: str, *, is_whole: bool) -> Path:
    """Put the files where they go, and write what belongs to them; return the place."""
    made, place = FIRST / "build/wheels", ROOT / "dist" if is_whole else WORK / "trial"
    new, old = WORK / "new", WORK / "old"
    for stale in (new, old):
        shutil.rmtree(stale, ignore_errors=True)
    packages = files.packages(made)
    for part, paths in (("index", packages), ("more", sorted(set(made.iterdir()) - set(packages)))):
        (new / part).mkdir(parents=True)
        for path in paths:
            shutil.copy(path, new / part)
    sums = "".join(f"{digest}  {name}\n" for name, digest in files.digests(made).items())
    (new / "more/SHA256SUMS").write_text(sums, encoding="utf-8")
    match = re.search(r'^REPOSITORY = "(.+)"$', (ROOT / "setup.py").read_text(encoding="utf-8"), re.MULTILINE)
    address = f"{match[1]}/blob/v{version}/" if match else ""
    (new / "notes.md").write_text(notes_text(section(version), address), encoding="utf-8")
    if is_whole:
        (new / "tag.txt").write_text(tag_text(section(version)), encoding="utf-8")
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)
    return place.relative_to(ROOT)


def git(*words: str) -> str:
    """Run git in the clone, and return its standard output."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {words[0]} fails: {done.stderr.strip()}", "run it in a clone of the repository")
    return done.stdout


def make(directory: Path, task: str, **variables: str) -> None:
    """Run a task of make, and show its output."""
    # The variables with which this make was called are not meant for the make of the task.
    inherited = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    done = subprocess.run(["make", "-C", str(directory), task], env={**inherited, **variables}, check=False)
    if done.returncode:
        raise ReleaseError(f"make {task} fails", "correct what it says above, commit it, and begin again")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

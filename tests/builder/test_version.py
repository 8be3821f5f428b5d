"""`rocm-sdk-build version`: which version each kind of build has."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from build_command import build_command
from ended import assert_failed
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.commands.version import RELEASE_TYPES
from rocm_sdk_build.packages.version import VersionFile, check_version, read_version_file, versions

SHA = "abcdef1234567890abcdef1234567890abcdef12"
Result = subprocess.CompletedProcess[str]


def run(directory: Path, *options: str, **environment: str) -> Result:
    clean = {name: value for name, value in os.environ.items() if name not in ("GITHUB_SHA", "GITHUB_OUTPUT")}
    return build_command("version", *options, cwd=directory, env={**clean, **environment})


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write(tmp_path, {"rocm-version": "8.1.0", "release-metadata": {"base-date": "20260811"}})
    return tmp_path


def write(directory: Path, document: object) -> Path:
    path = directory / "version.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


DAY = r"\d{8}"
TABLE = [
    (("--release-type", "release"), "8.1.0", "8.1.0", "8.1.0"),
    (("--release-type", "prerelease", "--prerelease-version", "5"), "8.1.0rc5", "8.1.0~pre5", "8.1.0~rc5"),
    (("--release-type", "nightly"), f"8.1.0a{DAY}", f"8.1.0~{DAY}", f"8.1.0~{DAY}"),
    (
        ("--release-type", "nightly-bkc"),
        rf"8.1.0a20260811\+bkc.{DAY}",
        f"8.1.0~20260811.bkc.{DAY}",
        f"8.1.0~20260811.bkc.{DAY}",
    ),
    *(
        (
            ("--release-type", kind, "--override-git-sha", SHA),
            rf"8.1.0.dev0\+{SHA}",
            f"8.1.0~dev{DAY}",
            f"8.1.0~{DAY}gabcdef12",
        )
        for kind in ("ci", "dev", "dev-bkc")
    ),
    (("--custom-version-suffix", ".custom1"), "8.1.0.custom1", "8.1.0.custom1", "8.1.0.custom1"),
]
"""Options; patterns for wheel, deb and rpm."""


@pytest.mark.parametrize(("options", "wheel", "deb", "rpm"), TABLE[:-1])
def test_the_table(directory: Path, options: tuple[str, ...], wheel: str, deb: str, rpm: str) -> None:
    output = directory / "github"
    output.write_text("before=1\n")
    done = run(directory, *options, GITHUB_OUTPUT=str(output))
    assert done.returncode == 0, done.stderr
    expected = f"rocm_package_version={wheel}\nrocm_deb_package_version={deb}\nrocm_rpm_package_version={rpm}\n"
    assert re.fullmatch(expected, done.stdout)
    assert output.read_text() == f"before=1\n{done.stdout}"


def test_a_suffix_of_ones_own(directory: Path) -> None:
    done = run(directory, "--custom-version-suffix", ".dev7")
    assert done.stdout.split() == [f"rocm{each}_package_version=8.1.0.dev7" for each in ("", "_deb", "_rpm")]


def test_another_base(directory: Path) -> None:
    words = ("--override-base-version", "7.99.0")
    done = run(directory, "--release-type", "prerelease", "--prerelease-version", "2", *words)
    assert [line.partition("=")[2] for line in done.stdout.split()] == ["7.99.0rc2", "7.99.0~pre2", "7.99.0~rc2"]
    (directory / "version.json").unlink()
    assert "=7.99.0\n" in run(directory, "--release-type", "release", *words).stdout
    assert "base-date" in run(directory, "--release-type", "nightly-bkc", *words).stderr


def test_which_commit(directory: Path) -> None:
    other = "f" * 40
    given_sha = run(directory, "--release-type", "dev", "--override-git-sha", SHA, GITHUB_SHA=other)
    assert f".dev0+{SHA}\n" in given_sha.stdout
    assert f".dev0+{other}\n" in run(directory, "--release-type", "dev", GITHUB_SHA=other).stdout
    subprocess.run(["git", "init", "-q"], cwd=directory, check=True)
    assert_failed(run(directory, "--release-type", "dev"), 1, "fix: --override-git-sha SHA")
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]
    subprocess.run(words, cwd=directory, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=directory, text=True).strip()
    assert f".dev0+{head}\n" in run(directory, "--release-type", "dev").stdout


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"rocm-version": "7.0.0"}' + " " * (1 << 24), "cannot be read: it has more than 16777216 bytes"),
        ("[]", 'no text "rocm-version"'),
        ({}, 'no text "rocm-version"'),
        ({"rocm-version": ""}, 'no text "rocm-version"'),
        ({"rocm-version": 7}, 'no text "rocm-version"'),
        ({"rocm-version": "7.0.0", "release-metadata": "x"}, "release-metadata is not an object"),
        ({"rocm-version": "7.0.0", "release-metadata": None}, "release-metadata is not an object"),
        *(
            ({"rocm-version": "7.0.0", "release-metadata": {"base-date": date}}, "valid date in YYYYMMDD format")
            for date in ("2026081", "20261301", "20260230", 20260811, "20260811\n")
        ),
    ],
)
def test_bad_files(tmp_path: Path, document: object, told: str) -> None:
    path = write(tmp_path, document)
    with pytest.raises(PackagingError, match=re.escape(told)) as raised:
        read_version_file(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    said = run(tmp_path, "--release-type", "nightly")
    assert_failed(said, 2, "version.json: there is no such file")
    assert "fix: name it: --version-file FILE" in said.stderr


def test_files_without_a_date(tmp_path: Path) -> None:
    for metadata in ({}, {"base-date": ""}):
        path = write(tmp_path, {"rocm-version": "7.0.0", "release-metadata": metadata})
        assert read_version_file(path) == VersionFile("7.0.0", "")
    for kind in ("dev-bkc", "nightly-bkc"):
        assert_failed(run(tmp_path, "--release-type", kind, "--override-git-sha", SHA), 1, "release-metadata.base-date")


def test_what_is_refused(directory: Path) -> None:
    assert "--prerelease-version N" in run(directory, "--release-type", "prerelease").stderr
    assert run(directory).returncode == 2
    assert run(directory, "--release-type", "release", "--custom-version-suffix", "x").returncode == 2
    for suffix in ("abc def", "\nrocm_package_version=1", "_x_"):
        output = directory / "github"
        done = run(directory, "--custom-version-suffix", suffix, GITHUB_OUTPUT=str(output))
        assert (done.returncode, done.stdout) == (1, "")
        assert not output.exists()


BASES = st.tuples(*[st.integers(0, 99)] * 3).map(lambda parts: ".".join(map(str, parts)))


@given(base=BASES, prerelease=st.integers(1, 99), sha=st.integers(0, 16**39 - 1).map("f{:039x}".format))
def test_canonical_and_in_order(base: str, prerelease: int, sha: str) -> None:
    """The order is release > prerelease > nightly > nightly-bkc > dev, where the base date is before today."""
    file = VersionFile(base, "20260811")
    found = {kind: versions(kind, file, "20260813", lambda: sha, str(prerelease)).wheel for kind in RELEASE_TYPES}
    for version in found.values():
        check_version(version)
    order = ["release", "prerelease", "nightly", "nightly-bkc", "dev"]
    numbers = [Version(found[kind]) for kind in order]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == len(numbers)
    assert found["dev"] == found["dev-bkc"] == found["ci"]
    base_nightly = versions("nightly", file, "20260811", lambda: sha, None).wheel
    next_nightly = versions("nightly", file, "20260812", lambda: sha, None).wheel
    assert Version(base_nightly) < Version(found["nightly-bkc"]) < Version(next_nightly)

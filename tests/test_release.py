"""`make release`: its checks, each with a release that it refuses, and the whole of it on a small clone.

In the small clone the tasks of make that are slow are stand-ins: `test-all`, `test-long` and `lint` do nothing, and
`release-files` makes small packages. The real tasks have tests of their own (test_reproducible.py, `make test-wheels`).
Judges are the real ones: git, twine, pip.
"""

import hashlib
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from programs import completed

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


@pytest.fixture(scope="module")
def script() -> Callable[[str], ModuleType]:
    """Return a function that returns a module of scripts/ by its name."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        modules = {name: importlib.import_module(name) for name in ("release_notes", "release_files", "sbom")}
    finally:
        sys.path.remove(str(SCRIPTS))
    return modules.__getitem__


# --- the changelog ---

SECTION = "## [1.2.3] - 2026-11-23\n\n### Added\n\n- `x`, see [here](docs/x.md) and [there](https://example.org).\n"
OLDER = "\n## [1.2.2] - 2026-01-01\n\n### Fixed\n\n- `y`.\n"


def test_notes_and_tag(script: Callable[[str], ModuleType]) -> None:
    notes = script("release_notes")
    for begin in ("# Changelog\n\n", "# Changelog\n\n## [Unreleased]\n\n"):
        found = notes.section_of(begin + SECTION + OLDER, "1.2.3")
        assert (found.version, found.date) == ("1.2.3", "2026-11-23")
        assert "`y`" not in found.body
    assert "[here](https://host/v1/docs/x.md) and [there](https://example.org)" in notes.notes_text(
        found, "https://host/v1/"
    )
    text = notes.tag_text(found)
    assert text.startswith("rocm_sdk 1.2.3\n\nAdded:\n\n- `x`")
    assert not [line for line in text.splitlines() if line.startswith("#")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Changelog\n", "CHANGELOG.md has no sections"),
        ("## [Unreleased]\n\n### Added\n\n- x\n" + SECTION, "begins with `## [Unreleased]`"),
        (SECTION.replace("1.2.3", "1.2.4"), "begins with `## [1.2.4] - 2026-11-23`"),
        (SECTION.replace("1.2.3", "1x2.3"), "begins with"),
        (SECTION.replace(" - 2026-11-23", ""), "begins with `## [1.2.3]`"),
        (SECTION.replace("2026-11-23", "2026-13-23"), "2026-13-23 is no date"),
        ("## [1.2.3] - 2026-11-23\n\n### Added\n" + OLDER, "has no lines"),
        (SECTION.replace("Added", "New things"), "'New things' is no title"),
    ],
)
def test_a_section_that_is_not_ready(script: Callable[[str], ModuleType], text: str, said: str) -> None:
    notes = script("release_notes")
    with pytest.raises(notes.ReleaseError) as caught:
        notes.section_of(text, "1.2.3")
    assert said in str(caught.value)
    assert "\n  fix: " in str(caught.value)


# --- the files ---

DESCRIPTION = "Summary: s\nDescription-Content-Type: text/markdown\nRequires-Python: >=3.10\n"


class Made(NamedTuple):
    """The files of a release, small ones."""

    directory: Path
    loader: Path  # for this machine


def write_wheel(path: Path, members: dict[str, bytes]) -> None:
    info = next(name for name in members if name.endswith("/METADATA")).rpartition("/")[0]
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in members.items():
            wheel.writestr(zipfile.ZipInfo(name), content)
        names = [*members, f"{info}/RECORD"]
        wheel.writestr(zipfile.ZipInfo(names[-1]), "".join(f"{name},,\n" for name in names))


def metadata(name: str, licences: tuple[str, ...] = ("LICENSE",)) -> bytes:
    files = "".join(f"License-File: {each}\n" for each in licences)
    text = (
        f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.2.3\nLicense-Expression: MIT\n{files}{DESCRIPTION}\nText.\n"
    )
    return text.encode()


def write_package(directory: Path, name: str, tag: str, members: dict[str, bytes], licences: tuple[str, ...]) -> Path:
    info = f"{name}-1.2.3.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: {tag}\n".encode()
    own = {f"{info}/METADATA": metadata(name.replace("_", "-"), licences), f"{info}/WHEEL": wheel}
    own |= {f"{info}/licenses/{each}": b"text" for each in licences} | {f"{info}/{n}": c for n, c in members.items()}
    path = directory / f"{name}-1.2.3-{tag}.whl"
    write_wheel(path, own)
    return path


def write_source_distribution(directory: Path, name: str) -> None:
    with tarfile.open(directory / f"{name}-1.2.3.tar.gz", "w:gz") as archive:
        for member, content in (("PKG-INFO", metadata(name.replace("_", "-"))), ("LICENSE", b"text")):
            info = tarfile.TarInfo(f"{name}-1.2.3/{member}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def write_release(directory: Path, sbom: str, own: Callable[..., str]) -> Made:
    """Write all files of release 1.2.3.

    The wheels of the loader have a command, and no compiled code.
    """
    directory.mkdir(parents=True)
    command = b"[console_scripts]\nrocm-sdk = rocm_sdk_loader_stand_in:main\n"
    for architecture in ("x86_64", "aarch64"):
        tag = f"cp310-abi3-manylinux_2_27_{architecture}"
        licences = ("LICENSE", "zlib/LICENSE", "elfutils/COPYING")
        members = {"sboms/rocm_sdk_loader.cdx.json": sbom.encode(), "entry_points.txt": command}
        wheel = write_package(directory, "rocm_sdk_loader", tag, members, licences)
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("rocm_sdk_loader_stand_in.py", "def main():\n    print('rocm-sdk-loader 1.2.3')\n")
        (directory / f"rocm_sdk_loader-1.2.3-{architecture}-objects.tar.gz").write_bytes(b"objects")
    for name in ("rocm_sdk_build", "rocm_sdk_variant_provider"):
        write_source_distribution(directory, name)
        text = own(name.replace("_", "-"), "1.2.3", "MIT", (), DATE, [directory / f"{name}-1.2.3.tar.gz"])
        write_package(directory, name, "py3-none-any", {f"sboms/{name}.cdx.json": text.encode()}, ("LICENSE",))
    write_source_distribution(directory, "rocm_sdk_loader")
    return Made(directory, directory / f"rocm_sdk_loader-1.2.3-cp310-abi3-manylinux_2_27_{os.uname().machine}.whl")


DATE = 1_700_000_000


class Source(NamedTuple):
    name: str
    version: str
    addresses: tuple[str, ...]
    sha256: str
    spdx: str


SOURCES = (
    Source("zlib", "1.3.1", ("https://host/zlib.tar.gz",), "a" * 64, "Zlib"),
    Source("elfutils", "0.192", ("https://host/elfutils.tar.bz2", "https://other/"), "b" * 64, "LGPL-3.0-or-later"),
)


@pytest.fixture
def bill(script: Callable[[str], ModuleType]) -> str:
    return str(script("sbom").sbom_text("rocm-sdk-loader", "1.2.3", "MIT", SOURCES, DATE))


@pytest.fixture
def made(script: Callable[[str], ModuleType], bill: str, tmp_path: Path) -> Made:
    return write_release(tmp_path / "made", bill, script("sbom").sbom_text)


def test_a_bill_of_materials(bill: str) -> None:
    document = json.loads(bill)
    assert (document["bomFormat"], document["specVersion"], document["version"]) == ("CycloneDX", "1.6", 1)
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/rocm-sdk-loader@1.2.3"
    zlib, elfutils = document["components"]
    assert zlib["purl"] == (
        f"pkg:generic/zlib@1.3.1?checksum=sha256:{'a' * 64}&download_url=https%3A%2F%2Fhost%2Fzlib.tar.gz"
    )
    assert elfutils["licenses"] == [{"expression": "LGPL-3.0-or-later"}]
    references = {each["bom-ref"] for each in document["components"]}
    assert {each for row in document["dependencies"] for each in row["dependsOn"]} == references


def test_a_bill_of_materials_is_valid(script: Callable[[str], ModuleType], bill: str, tmp_path: Path) -> None:
    archive = tmp_path / "rocm_sdk_build-1.2.3.tar.gz"
    archive.write_bytes(b"sources")
    own = script("sbom").sbom_text("rocm-sdk-build", "1.2.3", "MIT", (), DATE, [archive])
    for text in (bill, own):
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
        document = json.loads(text)
        assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
        assert uuid.UUID(document["serialNumber"].removeprefix("urn:uuid:")).version == 5
    (part,) = json.loads(own)["components"]
    assert part["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"sources").hexdigest()}]
    archive.write_bytes(b"other sources")
    other = json.loads(script("sbom").sbom_text("rocm-sdk-build", "1.2.3", "MIT", (), DATE, [archive]))
    assert other["serialNumber"] != json.loads(own)["serialNumber"]


@pytest.mark.slow
def test_good_files(script: Callable[[str], ModuleType], made: Made, tmp_path: Path) -> None:
    files = script("release_files")
    files.check_names(made.directory, "1.2.3")
    files.check_metadata(made.directory)
    files.check_licences(made.directory)
    files.check_sboms(made.directory)
    files.check_equal(made.directory, Path(shutil.copytree(made.directory, tmp_path / "other")))
    files.check_installation(made.directory, tmp_path / "environment")


# --- the whole ---

MAKEFILE = """
%: ; @echo "task $@"; test "$(FAILS)" != $@
release-files: ; @echo "task $@"; mkdir -p build; cp -r {files} build/wheels; \\
    test -z "$(DIFFERS)" || echo "$$TZ" >build/wheels/rocm_sdk_loader-1.2.3-x86_64-objects.tar.gz
"""


class Clone(NamedTuple):
    """A repository with the scripts of a release, and stand-ins for the tasks of make."""

    path: Path

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *words], cwd=self.path, check=True, capture_output=True)

    def release(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `make release` without the judges of compiled code, which the small packages do not have."""
        command = [sys.executable, "-c", PROGRAM, *words]
        environment = {**os.environ, **variables}
        return completed(command, cwd=self.path, env=environment)


PROGRAM = """
import sys
sys.path.insert(0, "scripts")
import release, release_files
release_files.check_stable_abi = release_files.check_platforms = lambda directory: None
sys.exit(release.main(sys.argv[1:]))
"""


@pytest.fixture
def clone(made: Made, tmp_path: Path) -> Clone:
    path = tmp_path / "clone"
    (path / "scripts").mkdir(parents=True)
    for name in ("release.py", "release_files.py", "release_notes.py"):
        shutil.copy(SCRIPTS / name, path / "scripts")
    (path / "csrc/include/rocm_sdk").mkdir(parents=True)
    (path / "csrc/include/rocm_sdk/version.h").write_text('#define RSDK_VERSION "1.2.3"\n')
    (path / "setup.py").write_text('REPOSITORY = "https://github.com/someone/rocm_sdk"\n')
    (path / "CHANGELOG.md").write_text("# Changelog\n\n" + SECTION + OLDER)
    (path / "Makefile").write_text(MAKEFILE.format(files=made.directory))
    (path / ".gitignore").write_text("/build/\n/dist/\n__pycache__/\n")
    here = Clone(path)
    here.git("init", "--quiet")
    here.git("add", ".")
    here.git("commit", "--quiet", "--message", "All.")
    return here


@pytest.mark.slow
def test_a_release(clone: Clone) -> None:
    done = clone.release("1.2.3")
    assert done.returncode == 0, done.stdout + done.stderr
    tasks = [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith("task ")]
    assert tasks == ["lint", "test-all", "test-long", "release-files", "release-files"]
    assert "LEFT OUT" not in done.stdout
    assert done.stdout.endswith(
        "dist/ is complete. Now:\n  git tag -a -F dist/tag.txt v1.2.3\n  git push origin v1.2.3\n"
    )
    dist = clone.path / "dist"
    assert sorted(path.name for path in dist.iterdir()) == ["index", "more", "notes.md", "tag.txt"]
    assert len(list((dist / "index").iterdir())) == 7
    assert "(https://github.com/someone/rocm_sdk/blob/v1.2.3/docs/x.md)" in (dist / "notes.md").read_text()
    for line in (dist / "more/SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        (path,) = dist.glob(f"*/{name}")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    clone.git("tag", "-a", "-F", "dist/tag.txt", "v1.2.3")
    assert clone.release("1.2.3").returncode == 0, "the same commit again, as where the tag starts it"
    clone.git("commit", "--quiet", "--allow-empty", "--message", "More.")
    again = clone.release("1.2.3")
    assert (again.returncode, "another commit has the tag v1.2.3" in again.stderr) == (1, True)
    assert (dist / "tag.txt").exists(), "a release that is refused leaves the one before"


@pytest.mark.slow
def test_what_is_left_out_is_said(clone: Clone) -> None:
    done = clone.release("1.2.3", "--without", "tests", "--without", "twice", DIFFERS="yes")
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout.count("LEFT OUT (twice)") == 2
    assert "release: the tests on each Python: LEFT OUT (tests)\n" in done.stdout
    assert done.stdout.endswith("left out: tests, twice. This is no release; its files are in build/release/trial\n")
    assert not (clone.path / "dist").exists()
    assert not (clone.path / "build/release/trial/tag.txt").exists()


@pytest.mark.parametrize(
    ("version", "variables", "said"),
    [
        ("1.2", {}, "'1.2' is no version"),
        ("1.02.3", {}, "is no version"),
        ("1.2.3; ls", {}, "is no version"),
        ("1.2.4", {}, "csrc/include/rocm_sdk/version.h has version 1.2.3"),
        ("1.2.3", {"FAILS": "test-all"}, "make test-all fails"),
        ("1.2.3", {"DIFFERS": "yes"}, "built twice, rocm_sdk_loader-1.2.3-x86_64-objects.tar.gz differs"),
    ],
)
def test_a_release_that_is_refused(clone: Clone, version: str, variables: dict[str, str], said: str) -> None:
    done = clone.release(version, **variables)
    assert (done.returncode, said in done.stderr) == (1, True), done.stdout + done.stderr
    assert "\n  fix: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (clone.path / "dist").exists()


def test_a_tree_that_is_not_committed(clone: Clone) -> None:
    (clone.path / "new.txt").write_text("")
    done = clone.release("1.2.3")
    assert (done.returncode, "not committed: new.txt\n" in done.stderr) == (1, True)


def test_a_version_below_a_tag(clone: Clone) -> None:
    clone.git("tag", "v1.10.0")
    done = clone.release("1.2.3")
    assert (done.returncode, "1.2.3 is lower than 1.10.0, which has a tag" in done.stderr) == (1, True)


def test_the_task_needs_a_version() -> None:
    done = completed(["make", "release"], cwd=ROOT)
    assert done.returncode == 2
    assert "make release VERSION=1.2.3" in done.stderr

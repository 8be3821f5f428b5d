"""The bill of materials in each package: valid by CycloneDX's schema, the same bytes again, true, and checked."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from artifact_tree import ArtifactTree, usual_tree
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from hostile_input import TEXTS
from programs import completed

from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.promotion import promote
from rocm_sdk_build.packages.sbom import read_sbom, sbom_text
from rocm_sdk_build.packages.wish import Wish

VERSION = "7.10.0"
DIGEST = "ab" * 32


def made(artifacts: Path, output: Path, **changes: Any) -> dict[str, Path]:
    """Build the wheels, and return them by the names of their distributions."""
    wish = Wish([artifacts], output, VERSION, is_checked=False)._replace(**changes)
    wheels = [path for path in build(wish, read_rules()) if path.suffix == ".whl"]
    return {path.name.partition("-")[0].replace("_", "-"): path for path in wheels}


def text_of(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if "/sboms/" in each)
        directory, _, base = name.partition(".dist-info/sboms/")
        assert base == f"{directory.rpartition('-')[0].replace('_', '-')}.cdx.json"
        data = archive.read(name)
        (record,) = (each for each in archive.namelist() if each.endswith("/RECORD"))
        rows = {row[0]: row for row in csv.reader(io.StringIO(archive.read(record).decode()))}
        assert rows[name][2] == str(len(data))
    return data


def digest_by_sha256sum(directory: Path) -> str:
    """Return the digest of an artifact with one root, from the output of sha256sum."""
    (line,) = filter(None, (directory / "artifact_manifest.txt").read_text().split("\n"))
    root = directory / line
    lines = []
    for path in sorted(root.rglob("*"), key=lambda each: each.relative_to(root).as_posix()):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            lines.append(f"{name} -> {os.readlink(path)}\n")  # noqa: PTH115  the text as it is
        elif path.is_file():
            command = ["sha256sum", name]
            lines.append(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> ArtifactTree:
    return usual_tree(tmp_path_factory.mktemp("sbom") / "artifacts")


@pytest.fixture(scope="module")
def wheels(tree: ArtifactTree) -> dict[str, Path]:
    return made(tree.root, tree.root.parent / "out")


def test_valid_and_without_a_date(wheels: dict[str, Path]) -> None:
    assert len(wheels) == 6
    serials = set()
    for name, wheel in wheels.items():
        data = text_of(wheel)
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(data.decode()) is None
        document = json.loads(data)
        assert "timestamp" not in document["metadata"]
        whole = document["metadata"]["component"]
        assert (whole["name"], whole["purl"]) == (name, f"pkg:pypi/{name}@{VERSION}")
        serials.add(document["serialNumber"])
    assert len(serials) == len(wheels)


def test_the_validator_refuses() -> None:
    document = json.loads(sbom_text("rocm-sdk-core", VERSION, "0.1.0", {"a_lib_generic": DIGEST}))
    document["components"][0]["hashes"][0]["content"] = "no digest"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(document)) is not None


def test_the_artifacts_of_each_package(tree: ArtifactTree, wheels: dict[str, Path]) -> None:
    found = {name: read_sbom(text_of(wheel)).digests for name, wheel in wheels.items()}
    assert set(found["rocm-sdk-device-gfx942"]) == {"blas_lib_gfx942"}
    assert "blas_lib_generic" in found["rocm-sdk-libraries"]
    assert {"core-hip_lib_generic", "base_lib_generic"} <= set(found["rocm-sdk-core"])
    assert "prim_dev_generic" in found["rocm-sdk-devel"]
    all_digests = {(name, digest) for each in found.values() for name, digest in each.items()}
    assert len(all_digests) == len({name for name, _ in all_digests}), "one digest for each artifact"
    for name, digest in all_digests:
        assert digest == digest_by_sha256sum(tree.root / name), name


def test_the_same_bytes_of_archives(tree: ArtifactTree, wheels: dict[str, Path], tmp_path: Path) -> None:
    archives = tmp_path / "archives"
    archives.mkdir()
    for directory in tree.root.iterdir():
        with tarfile.open(archives / f"{directory.name}.tar.xz", "w:xz", preset=0) as archive:
            archive.add(directory / "artifact_manifest.txt", "artifact_manifest.txt")
            for path in sorted(directory.rglob("*")):
                if path.name != "artifact_manifest.txt" and (path.is_symlink() or path.is_file()):
                    archive.add(path, str(path.relative_to(directory)))
    again = made(archives, tmp_path / "out")
    assert {name: text_of(wheel) for name, wheel in again.items()} == {
        name: text_of(wheel) for name, wheel in wheels.items()
    }


def test_the_date_is_that_of_the_sources(tree: ArtifactTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    texts = [text_of(made(tree.root, tmp_path / name)["rocm-sdk-core"]) for name in "ab"]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_a_file_that_no_package_has_changes_the_digest(tmp_path: Path) -> None:
    """Also where an earlier run has made the wheel: the digest is of the whole artifact."""
    tree = usual_tree(tmp_path / "artifacts")
    first = text_of(made(tree.root, tmp_path / "out")["rocm-sdk-libraries"])
    tree.file("blas_lib_generic", "lib/notes.unused", "1")
    second = text_of(made(tree.root, tmp_path / "out")["rocm-sdk-libraries"])
    digests = read_sbom(first).digests, read_sbom(second).digests
    assert digests[0]["blas_lib_generic"] != digests[1]["blas_lib_generic"]
    assert json.loads(first)["serialNumber"] != json.loads(second)["serialNumber"]


def problems(dist: Path) -> list[dict[str, str]]:
    command = [sys.executable, "-m", "rocm_sdk_build", "check", str(dist), "--json"]
    done = completed(command)
    assert "Traceback" not in done.stderr
    return list(json.loads(done.stdout)["problems"])


@pytest.mark.slow
def test_packages_of_different_artifacts(wheels: dict[str, Path], tmp_path: Path) -> None:
    """A header of one machine differs: only the bill of materials of its package shows the difference."""
    dist = Path(shutil.copytree(wheels["rocm-sdk-core"].parent, tmp_path / "dist"))
    assert problems(dist) == []
    other = usual_tree(tmp_path / "artifacts")
    other.file("core-hip_dev_generic", "include/hip/hip_runtime.h", "#pragma twice\n")
    devel = made(other.root, tmp_path / "out")["rocm-sdk-devel"]
    shutil.copy(devel, dist)
    (found,) = problems(dist)
    assert "was made from another artifact core-hip_dev_generic than the others" in found["what"]
    assert re.search("the same artifacts", found["fix"])


@pytest.mark.slow
def test_promoted_packages_have_the_new_version(tree: ArtifactTree, tmp_path: Path) -> None:
    old = made(tree.root, tmp_path / "old", version="7.10.0rc1")
    new = made(tree.root, tmp_path / "new")
    promoted = promote(next(iter(old.values())).parent, tmp_path / "promoted", VERSION)
    for path in promoted:
        if path.suffix == ".whl":
            name = path.name.partition("-")[0].replace("_", "-")
            assert text_of(path) == text_of(new[name])


GOOD = json.loads(sbom_text("rocm-sdk-core", VERSION, "0.1.0", {"a_lib_generic": DIGEST}))


def edited(*path: str | int, value: object) -> bytes:
    document = json.loads(json.dumps(GOOD))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document).encode()


HOSTILE = {
    **TEXTS,
    "another format": edited("specVersion", value="1.5"),
    "no component": edited("metadata", value={}),
    "metadata as a list": edited("metadata", value=[]),
    "components as a text": edited("components", value="ab"),
    "a component as a number": edited("components", value=[1]),
    "hashes as null": edited("components", 0, "hashes", value=None),
    "no hashes": edited("components", 0, "hashes", value=[]),
    "a digest as a path": edited("components", 0, "hashes", 0, "content", value="../../x"),
    "a digest as a list": edited("components", 0, "hashes", 0, "content", value=[DIGEST]),
    "tools as a list": edited("metadata", "tools", value=[1]),
    "a tool as null": edited("metadata", "tools", "components", value=[None]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_bill_of_materials(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_sbom(HOSTILE[name])


def test_other_components_are_ignored() -> None:
    assert read_sbom(edited("components", value=[{"bom-ref": "pkg:pypi/x", "name": "x"}])).digests == {}
    assert read_sbom(edited("components", 0, "name", value="x")).digests == {"x": DIGEST}


# ---- the selector, a source distribution


def unpack_selector(archive: Path, directory: Path) -> None:
    """Unpack the selector without tarfile.

    From Python 3.12 on tarfile wants a filter, which Debian 12's does not know.
    """
    subprocess.run(["tar", "-xzf", archive, "-C", directory], check=True)


@pytest.mark.slow
def test_the_selector_names_its_files(tree: ArtifactTree, tmp_path: Path) -> None:
    archives = []
    for name in "ab":
        build(Wish([tree.root], tmp_path / name, VERSION, is_checked=False), read_rules())
        archives.append(tmp_path / name / f"dist/rocm-{VERSION}.tar.gz")
    assert archives[0].read_bytes() == archives[1].read_bytes()
    unpack_selector(archives[0], tmp_path)
    base = tmp_path / f"rocm-{VERSION}"
    text = (base / "rocm.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = {each["name"]: each["hashes"][0]["content"] for each in json.loads(text)["components"]}
    files = {path.relative_to(base).as_posix(): path for path in base.rglob("*") if path.is_file()}
    assert found.keys() == files.keys() - {"rocm.cdx.json"}
    assert found == {name: hashlib.sha256(files[name].read_bytes()).hexdigest() for name in found}
    assert read_sbom(text.encode()).digests == {}


@pytest.mark.slow
def test_the_wheel_of_the_selector_has_it(tree: ArtifactTree, tmp_path: Path) -> None:
    build(Wish([tree.root], tmp_path / "out", VERSION, is_checked=False), read_rules())
    unpack_selector(tmp_path / f"out/dist/rocm-{VERSION}.tar.gz", tmp_path)
    base = tmp_path / f"rocm-{VERSION}"
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(tmp_path / "wheel"), str(base)], check=True, capture_output=True)
    (wheel,) = (tmp_path / "wheel").iterdir()
    assert text_of(wheel) == (base / "rocm.cdx.json").read_bytes()


def test_a_promoted_selector_has_its_own(tree: ArtifactTree, tmp_path: Path) -> None:
    build(Wish([tree.root], tmp_path / "out", "7.10.0rc1", is_checked=False), read_rules())
    promote(tmp_path / "out/dist", tmp_path / "final", "7.10.0")
    with tarfile.open(tmp_path / "final/rocm-7.10.0.tar.gz") as archive:
        file = archive.extractfile("rocm-7.10.0/rocm.cdx.json")
        assert file is not None
        assert json.loads(file.read())["metadata"]["component"]["version"] == "7.10.0"

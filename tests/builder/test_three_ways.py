"""Debian's ROCm as packages, as artifacts and as a prefix: the same wheels, and those that Debian's own road made."""

import hashlib
import io
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from artifact_tree import ArtifactTree
from debian_sdk import BUILD, RELEASES, SOURCE, debian_site, rocm
from programs import completed

from rocm_sdk import _native, device_code
from rocm_sdk_build.building.debian import apt_of, resolve_packages
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.inputs.debian_packages import choose, release_of
from rocm_sdk_build.inputs.prefix.tree import has_rewrites, is_skipped, place_of, rewritten
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.dist_info import FACTS, FACTS_OF_LIBRARIES

pytestmark = pytest.mark.long

GOLDEN = Path(__file__).with_name("debian_road.golden")
CHUNK = 1 << 20
RUNTIME = ("core", "libraries")
# The names of Debian's packages, of each release -> the artifact in which a ROCm build has their files.
ARTIFACTS = {
    "hipcc": "core-hip_run",
    "hipify-perl": "core-hip_run",
    "libamd-comgr-dev": "amd-llvm_dev",
    "libamd-comgr2": "amd-llvm_lib",
    "libamdhip64-5": "core-hip_lib",
    "libamdhip64-dev": "core-hip_dev",
    "libhalf-dev": "prim_dev",
    "libhipcub-dev": "prim_dev",
    "libhiprand-dev": "rand_dev",
    "libhiprand1": "rand_lib",
    "libhiprtc-builtins5": "core-hip_lib",
    "libhipsparse-dev": "blas_dev",
    "libhipsparse0": "blas_lib",
    "libhsa-runtime-dev": "core-runtime_dev",
    "libhsa-runtime64-1": "core-runtime_lib",
    "libhsakmt-dev": "core-runtime_dev",
    "libhsakmt1": "core-runtime_lib",
    "liboam-dev": "core-amdsmi_dev",
    "liboam1": "core-amdsmi_lib",
    "librocm-smi-dev": "core-amdsmi_dev",
    "librocm-smi64-1": "core-amdsmi_lib",
    "librocprim-dev": "prim_dev",
    "librocrand-dev": "rand_dev",
    "librocrand1": "rand_lib",
    "librocsparse-dev": "blas_dev",
    "librocsparse0": "blas_lib",
    "librocthrust-dev": "prim_dev",
    "rocm-cmake": "base_dev",
    "rocm-device-libs": "amd-llvm_run",
    "rocm-device-libs-17": "amd-llvm_run",
    "rocm-smi": "core-amdsmi_run",
    "rocminfo": "base_run",
}


# Files that an artifact has of the build that made it, and no installed ROCm has.
MADE_BY_A_BUILD = {"_rocm_sdk_core/share/therock/therock_manifest.json"}


class Library(NamedTuple):
    sections: dict[str, str | int]
    rpath: str | None
    runpath: str | None


class Made(NamedTuple):
    """The content of wheels, without the wheels, which take as much of the disk as the SDK does."""

    members: dict[str, tuple[int, int]]  # path in site-packages -> external attributes and CRC
    libraries: dict[str, Library]
    development: dict[str, bytes | str]
    facts: dict[str, str]


class ThreeWays(NamedTuple):
    debian: Path  # a directory like site-packages
    artifacts: Made
    prefix: Made


def build(*words: str) -> None:
    command = [
        sys.executable,
        "-m",
        "rocm_sdk_build",
        *words,
        "--version",
        rocm().version,
        "--no-wheel-compression",
        "--no-loader",
    ]
    done = completed(command)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def unpacked() -> dict[str, Path]:
    """Return the directories of Debian's packages, each with `usr`, by the packages' names."""
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no Debian packages to make an SDK from")
    apt = apt_of(SOURCE)
    return {package.name: path for package, path in apt.unpack(resolve_packages(apt, SOURCE).found).items()}


@pytest.fixture(scope="module")
def ways(unpacked: dict[str, Path]) -> ThreeWays:
    debian = debian_site(Shape.NONE)
    with tempfile.TemporaryDirectory(prefix="three-ways-", dir=BUILD) as scratch:
        tree = artifacts_of(unpacked, debian, Path(scratch, "artifacts"))
        # The content of these two packages loads, as the tests of the SDK show, and as the prefix's own check does.
        of_artifacts = made(Path(scratch), "artifacts", str(tree.root), "--no-check", "--allow-no-profiler")
        return ThreeWays(debian, of_artifacts, made(Path(scratch), "prefix", *map(str, unpacked.values())))


def made(scratch: Path, *words: str) -> Made:
    """Make wheels, and return their content; the wheels are removed once they are read."""
    dist = scratch / "dist"
    build(*words, "--output", str(dist))
    members: dict[str, tuple[int, int]] = {}
    libraries: dict[str, Library] = {}
    for archive in (opened(dist, name) for name in RUNTIME):
        for member in runtime_files(archive):
            members[member] = (archive.getinfo(member).external_attr, archive.getinfo(member).CRC)
            if ".so" in member:
                path = Path(archive.extract(member, scratch))
                facts = _native.inspect_library(path)
                libraries[member] = Library(sections(path), facts.rpath, facts.runpath)
                path.unlink()
    core = opened(dist, "core")
    development = development_tree(opened(dist, "devel"), small_files([core, opened(dist, "libraries")]))
    facts = json.loads(core.read(f"_rocm_sdk_core/{FACTS}"))
    shutil.rmtree(dist)
    return Made(members, libraries, development, facts)


def artifacts_of(unpacked: Mapping[str, Path], debian: Path, root: Path) -> ArtifactTree:
    """Make the tree that a ROCm build would have left of the same files, in its layout; big files are hard links."""
    tree = ArtifactTree(root)
    tree.overlay(kpack=True)
    facts = (debian / "_rocm_sdk_core" / FACTS).read_bytes()
    for path in tree.root.rglob("dist_info.json"):
        path.write_bytes(facts)
    rules = read_rules().prefix
    for package, artifact in ((name, each) for name, each in ARTIFACTS.items() if name in unpacked):
        for path in sorted((unpacked[package] / "usr").rglob("*")):
            name = path.relative_to(unpacked[package] / "usr").as_posix()
            place = place_of(rules, name)
            if is_skipped(rules, place) or (path.is_dir() and not path.is_symlink()):
                continue
            component = f"{artifact}_generic"
            if kind := re.match(r"share/(doc)/|.*(?:^|/)cmake/", place):
                component = f"{artifact.partition('_')[0]}_{kind[1] or 'dev'}_generic"
            target = tree.place(component, place)
            if path.is_symlink():
                target.symlink_to(path.readlink())
            elif has_rewrites(rules, place):
                content = path.read_bytes()
                target.write_bytes(rewritten(rules, place, place != name, content) or content)
                shutil.copymode(path, target)
            else:
                os.link(path, target)
    for path in (debian / "_rocm_sdk_core/lib/rocm_sysdeps/lib").iterdir():
        os.link(path, tree.place("sysdeps_lib_generic", f"lib/rocm_sysdeps/lib/{path.name}"))
    return tree


def opened(dist: Path, name: str) -> zipfile.ZipFile:
    (path,) = dist.glob(f"rocm_sdk_{name}-{rocm().version}-py3-none-*.whl")
    return zipfile.ZipFile(path)


def runtime_files(archive: zipfile.ZipFile) -> set[str]:
    return {name for name in archive.namelist() if name.startswith("_rocm_sdk_")}


def sections(path: Path) -> dict[str, str | int]:
    """Return digests of the sections, or sizes.

    The sizes are of sections without content, with numbers of sections, or with the RPATH.
    """
    found: dict[str, str | int] = {}
    with path.open("rb") as file:
        for each in _native.inspect_library(path).sections:
            file.seek(each.offset)
            digest, left = hashlib.sha256(), each.size
            while left > 0 and (chunk := file.read(min(left, CHUNK))):
                digest.update(chunk)
                left -= len(chunk)
            has_numbers = each.name in (".dynsym", ".dynamic", ".bss", ".tbss")
            found[each.name] = each.size if has_numbers else digest.hexdigest()
    del found[".dynstr"]
    return found


@pytest.mark.slow
def test_the_runtime_wheels_of_artifacts_and_prefix(ways: ThreeWays) -> None:
    one, other = ways.artifacts.members, ways.prefix.members
    assert one.keys() - MADE_BY_A_BUILD == other.keys()
    for member, (mode, digest) in other.items():
        assert one[member][0] == mode, member
        assert ".so" in member or one[member][1] == digest, member


@pytest.mark.slow
@pytest.mark.parametrize("way", ["artifacts", "prefix"])
def test_libraries_are_debians(ways: ThreeWays, way: str) -> None:
    """The same libraries under the same names, which differ from Debian's in nothing but the RPATH."""
    originals = {
        path.relative_to(ways.debian).as_posix(): sections(path) for path in ways.debian.glob("_rocm_sdk_*/**/*.so*")
    }
    libraries = getattr(ways, way).libraries
    assert {member: library.sections for member, library in libraries.items()} == originals


def test_search_paths(ways: ThreeWays) -> None:
    """Both look in the own directory, too."""
    assert ways.artifacts.libraries.keys() == ways.prefix.libraries.keys()
    for member, library in ways.prefix.libraries.items():
        one = ways.artifacts.libraries[member]
        own = os.path.relpath("lib", Path(*Path(member).parts[1:]).parent)
        entry = "$ORIGIN" if own == "." else f"$ORIGIN/{own}"
        assert (one.rpath, one.runpath) == (library.rpath, library.runpath), member
        assert entry in (library.rpath or "").split(":"), member


# ---- what developers see ----


def development_tree(archive: zipfile.ZipFile, site: Mapping[str, bytes]) -> dict[str, bytes | str]:
    """Return the content of each path in the tree, or the target of a link inside of the tree.

    Links out of the tree are as their targets.
    """
    with archive.open(next(name for name in archive.namelist() if "_devel.tar" in name)) as stream:
        return tree_of(stream.read(), site)


def tree_of(data: bytes, site: Mapping[str, bytes] | None) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as members:
        for each in members:
            path = each.name.partition("/")[2]
            if each.issym() and site is not None and "_rocm_sdk_" in each.linkname:
                target = os.path.normpath(Path(each.name).parent / each.linkname)
                found[path] = site[target]
            elif each.issym():
                found[path] = each.linkname
            elif each.isreg():
                file = members.extractfile(each)
                assert file is not None
                found[path] = file.read()
    return found


def small_files(archives: list[zipfile.ZipFile]) -> dict[str, bytes]:
    """Return the content of the files in site-packages, and the name of a library."""
    return {
        name: name.encode() if ".so" in name else archive.read(name)
        for archive in archives
        for name in runtime_files(archive)
    }


def test_development_trees(ways: ThreeWays) -> None:
    of_artifacts, of_prefix = dict(ways.artifacts.development), dict(ways.prefix.development)
    for name in MADE_BY_A_BUILD:
        del of_artifacts[name.partition("/")[2]]
    for name in [name for name in of_prefix if name.startswith("share/doc/") and name.split("/")[2] not in ARTIFACTS]:
        assert name.endswith("/copyright")  # of the libraries that are not ROCm's, which the artifacts here do not have
        del of_prefix[name]
    assert of_artifacts == of_prefix


# ---- what Debian had a road of its own for ----


def golden(kind: str) -> dict[str, str]:
    """Return the text of the file of golden rows for each path."""
    if rocm() is not RELEASES["bookworm"]:
        pytest.skip("the packages that were made before are those of Debian 12")
    rows = (line.split(" ", 2) for line in GOLDEN.read_text().splitlines() if line.startswith(f"{kind} "))
    return {path: text for _, path, text in rows}


@pytest.mark.slow
def test_the_libraries_that_debians_own_road_made(ways: ThreeWays) -> None:
    libraries = {path.relative_to(ways.debian).as_posix(): path for path in ways.debian.rglob("*.so*")}
    expected = golden("library")
    assert libraries.keys() - expected.keys() == {"_rocm_sdk_core/lib/liboam.so.1"}
    made = {name: digest for name, digest in expected.items() if digest != "-"}
    assert len(made) == 10
    assert {name: digest_of_sections(libraries[name]) for name in made} == made


def digest_of_sections(path: Path) -> str:
    found: dict[str, str] = {}
    data = path.read_bytes()
    for each in _native.inspect_library(path).sections:
        content = hashlib.sha256(data[each.offset : each.offset + each.size]).hexdigest()
        found.setdefault(each.name, f"{each.size}:{content[:16]}")
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


def test_the_development_tree_that_debians_own_road_made(ways: ThreeWays) -> None:
    """Files of runtime packages are links to these packages in the tree now.

    CMake's files name libraries with the full version, as Debian's do, and the tree has these names.
    """
    (archive,) = (ways.debian / "rocm_sdk_devel").glob("_devel.tar*")
    tree = tree_of(archive.read_bytes(), None)
    expected = golden("tree")
    names = {path: target for path, target in tree.items() if isinstance(target, str)}
    full = {path.rpartition("/")[2]: target for path, target in names.items() if re.search(r"\.so\.\d+\.", path)}
    assert expected.keys() <= tree.keys(), "other packages have added more"
    for path, before in expected.items():
        found = tree[path]
        if isinstance(found, str) and not before.startswith("-> "):
            source = ways.debian / "_rocm_sdk_devel" / Path(path).parent / found
            found = Path(os.path.normpath(source)).read_bytes()
        if isinstance(found, bytes) and path.endswith(".cmake"):
            for name, soname in full.items():
                found = re.sub(rf"{re.escape(name)}(?![\w.])".encode(), soname.encode(), found)
        digest = f"-> {found}" if isinstance(found, str) else hashlib.sha256(found).hexdigest()[:16]
        assert digest == before.removeprefix("644 ").removeprefix("755 "), path


def test_what_they_say_of_themselves(ways: ThreeWays) -> None:
    facts = json.loads((ways.debian / "_rocm_sdk_core" / FACTS).read_text())
    assert ways.artifacts.facts == facts
    assert ways.prefix.facts == facts


def test_every_package_of_debian_is_in_an_artifact() -> None:
    found: set[str] = set()
    for suite, row in RELEASES.items():
        choice = choose(release_of(suite), row.packages, ARTIFACTS)
        found.update(choice.libraries, choice.tools, choice.development)
    assert found == ARTIFACTS.keys()


# ---- Debian's /usr ----


def installed(unpacked: Mapping[str, Path], system: Path) -> str:
    """Install packages by hard links in a system that has others too; return the text that `dpkg -L` prints of them."""
    listed = dict.fromkeys(["/.", str(system), f"{system}/usr"])
    for package in unpacked.values():
        for path in sorted(package.rglob("*")):
            place = system / "usr" / path.relative_to(package).as_posix().removeprefix("usr/").removeprefix("usr")
            listed[str(place)] = None
            if path.is_dir() and not path.is_symlink():
                place.mkdir(parents=True, exist_ok=True)
            elif not place.is_symlink():
                os.link(path, place, follow_symlinks=False)
    for name, text in (("lib/os-release", "ID=debian\n"), ("bin/other", "x\n"), ("share/other/data", "x\n")):
        path = system / "usr" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return "".join(f"{path}\n" for path in listed)


@pytest.mark.slow
def test_a_family_of_debians_usr(unpacked: dict[str, Path]) -> None:
    """The libraries of packages that are installed, with the code of one family."""
    own = {name: path for name, path in unpacked.items() if "sparse" not in name}
    with tempfile.TemporaryDirectory(prefix="usr-", dir=BUILD) as scratch:
        system, listed, dist = Path(scratch, "system"), Path(scratch, "list"), Path(scratch, "dist")
        listed.write_text(installed(own, system))
        build("prefix", f"{system}/usr", "--files", str(listed), "--output", str(dist), "--families", "gfx90a")
        archive = opened(dist, "libraries_gfx90a")
        assert runtime_files(archive) == {
            f"_rocm_sdk_libraries_gfx90a/{name}"
            for name in ("__init__.py", "lib/libhiprand.so.1", "lib/librocrand.so.1", FACTS_OF_LIBRARIES)
        }
        path = archive.extract("_rocm_sdk_libraries_gfx90a/lib/librocrand.so.1", scratch)
        assert {each.target for each in device_code(path).targets} == {*rocm().targets_of("gfx90a")}
        core = {name for name in runtime_files(opened(dist, "core")) if ".so" in name}
        assert {"_rocm_sdk_core/lib/libamdhip64.so.5", "_rocm_sdk_core/lib/rocm_sysdeps/lib/libnuma.so.1"} <= core
        with opened(dist, "devel") as devel:
            tree = tree_of(devel.read("rocm_sdk_devel/_devel.tar"), None)
        assert not {"bin/other", "share/other/data"} & tree.keys()

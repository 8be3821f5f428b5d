"""The checks of a release's files, which must be complete, installable, licensed, and equal when built twice.

Each check raises ReleaseError.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path

from release_notes import ReleaseError

LOADER, BUILDER, PROVIDER = "rocm_sdk_loader", "rocm_sdk_build", "rocm_sdk_variant_provider"
ARCHITECTURES = ("x86_64", "aarch64")


def check_names(directory: Path, version: str) -> None:
    """Check that the directory has exactly the files of a release."""
    patterns = [rf"{name}-{re.escape(version)}\.tar\.gz" for name in (LOADER, BUILDER, PROVIDER)]
    patterns += [rf"{name}-{re.escape(version)}-py3-none-any\.whl" for name in (BUILDER, PROVIDER)]
    for architecture in ARCHITECTURES:
        patterns.append(rf"{LOADER}-{re.escape(version)}-cp310-abi3-[\w.]*manylinux_2_\d+_{architecture}\.whl")
        patterns.append(rf"{LOADER}-{re.escape(version)}-{architecture}-objects\.tar\.gz")
    names = sorted(path.name for path in directory.iterdir())
    lacking = [pattern for pattern in patterns if not any(re.fullmatch(pattern, name) for name in names)]
    more = [name for name in names if not any(re.fullmatch(pattern, name) for pattern in patterns)]
    if lacking or more or len(names) != len(patterns):
        said = "; ".join(
            [f"nothing like {each}" for each in lacking] + [f"{each} does not belong there" for each in more]
        )
        raise ReleaseError(
            f"{directory}: {said or 'a file is there twice'}", "correct what builds it: make release-files"
        )


def check_equal(first: Path, second: Path) -> None:
    """Check that two builds have the same files with the same bytes."""
    one, other = digests(first), digests(second)
    if different := sorted(name for name in {*one, *other} if one.get(name) != other.get(name)):
        places = f"{first} and {second}"
        raise ReleaseError(f"built twice, {different[0]} differs ({places})", "compare them with diffoscope")


def digests(directory: Path) -> dict[str, str]:
    """Return the SHA-256 of each file by the name of the file."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(directory.iterdir())}


def packages(directory: Path) -> list[Path]:
    """Return the files that an index takes: all files except the objects."""
    return [path for path in sorted(directory.iterdir()) if not path.name.endswith("-objects.tar.gz")]


def loader_wheels(directory: Path) -> list[Path]:
    """Return the wheels with compiled code."""
    return sorted(directory.glob(f"{LOADER}-*.whl"))


def check_metadata(directory: Path) -> None:
    """Check with `twine check` that an index accepts metadata and description."""
    run_module("twine", ["check", "--strict", *map(str, packages(directory))])


def check_stable_abi(directory: Path) -> None:
    """Check with `abi3audit` that the extensions use the limited API alone."""
    run_module("abi3audit", ["--strict", "--summary", *map(str, loader_wheels(directory))])


def check_platforms(directory: Path) -> None:
    """Check with `auditwheel show` that each wheel has a tag whose policy the wheel keeps."""
    for wheel in loader_wheels(directory):
        said = run_module("auditwheel", ["show", str(wheel)])
        found = re.search(r'the following platform tag:\s+"(\w+)"', said)
        if found is None or found[1] not in wheel.stem:
            kept = found[1] if found else "none"
            raise ReleaseError(f"{wheel.name}: the policy that it keeps is {kept}", "see scripts/portable_wheels.py")


def check_licences(directory: Path) -> None:
    """Check that each package states its licence, and has each file that its metadata name as a licence file."""
    for path in packages(directory):
        names, metadata, place = read_metadata(path)
        fields = Parser().parsestr(metadata)
        files = fields.get_all("License-File") or []
        lacking = [name for name in files if f"{place}{name}" not in names]
        if not fields["License-Expression"] or not files or lacking:
            what = f"no {lacking[0]}" if lacking else "no License-Expression or License-File"
            raise ReleaseError(f"{path.name}: {what}", "name the licence and its files in its pyproject.toml")


def check_sboms(directory: Path) -> None:
    """Check that each wheel's bill of materials names the sources of the wheel.

    A wheel with compiled code names what is compiled in, and has the licences of these libraries. Every other wheel
    names the source distribution of the release from which the wheel was built.
    """
    for path in sorted(directory.glob("*.whl")):
        names, metadata, place = read_metadata(path)
        project = path.name.partition("-")[0]
        script = "scripts/portable_wheels.py" if project == LOADER else "scripts/source_distributions.py"
        name = place.replace("licenses/", f"sboms/{project}.cdx.json")
        if name not in names:
            raise ReleaseError(f"{path.name}: no {name}", f"see {script}")
        with zipfile.ZipFile(path) as wheel:
            inside = json.loads(wheel.read(name))["components"]
        if project == LOADER:
            absent = [each["name"] for each in inside if f"License-File: {each['name']}/" not in metadata]
            if absent or not inside:
                raise ReleaseError(f"{path.name}: no licence of {absent or 'anything'}", f"see {script}")
        else:
            archive = directory / f"{'-'.join(path.name.split('-')[:2])}.tar.gz"
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            told = [(each["name"], each["hashes"][0]["content"]) for each in inside]
            if told != [(archive.name, digest)]:
                raise ReleaseError(f"{path.name}: its {name} is not about {archive.name}", f"see {script}")


def read_metadata(path: Path) -> tuple[set[str], str, str]:
    """Return the names in a package, its METADATA or PKG-INFO, and the directory that has its licences."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            (name,) = (name for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
            return set(wheel.namelist()), wheel.read(name).decode(), name.replace("METADATA", "licenses/")
    with tarfile.open(path) as archive:
        tree = path.name.removesuffix(".tar.gz")
        member = archive.extractfile(f"{tree}/PKG-INFO")
        assert member is not None
        return set(archive.getnames()), member.read().decode(), f"{tree}/"


def check_installation(directory: Path, scratch: Path) -> None:
    """Check that the packages install on this machine without an index, and that the command answers.

    Dependencies are not needed.
    """
    python = scratch / "bin/python"
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(scratch)])
    no_index = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--find-links", str(directory)]
    names = [name.replace("_", "-") for name in (LOADER, BUILDER, PROVIDER)]
    run_module("pip", ["--python", str(python), "install", *no_index, *names])
    said = run([str(scratch / "bin/rocm-sdk"), "--version"])
    if not any(f"-{said.split()[-1]}-" in path.name for path in loader_wheels(directory)):
        raise ReleaseError(f"the installed command says {said.strip()}", "see csrc/include/rocm_sdk/version.h")


def run_module(module: str, words: Sequence[str]) -> str:
    """Run a tool of this environment, which pins its version; return the output of the tool."""
    return run([sys.executable, "-m", module, *words])


def run(command: Sequence[str]) -> str:
    """Run a command and return its standard output.

    Raise ReleaseError with all output of the command if the command fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        name = " ".join(each.rpartition("/")[2] if each.startswith("/") else each for each in command)
        raise ReleaseError(f"{name} fails:\n{done.stdout}{done.stderr}".rstrip(), "correct what it names")
    return done.stdout

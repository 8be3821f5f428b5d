"""Versions, requirements, reports and fixes of closures."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from environment import Environment
from environments import UV, installer_command
from packaging.version import Version
from programs import completed
from sample_closure import PROVED, VERSION, closure, names_in, report, write_application
from sample_site import CORE, clean_environment, run_interpreter, run_python

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.closure.writing.metadata import ClosureVersion

VERSIONS = {
    ("7.10.0", "gfx942"): "7.10.0+closure.gfx942",
    ("7.10.0", "gfx90a:xnack-,gfx1030"): "7.10.0+closure.gfx1030.gfx90a",
    ("7.10.0.dev0+abc", "gfx942"): "7.10.0.dev0+abc.closure.gfx942",
    ("7.10.0", "gfx11-generic"): "7.10.0+closure.gfx11generic",
    ("7.10.0", ""): "7.10.0+closure",
}


@pytest.mark.parametrize(("version", "gpus"), VERSIONS)
def test_version_of_a_closure(version: str, gpus: str) -> None:
    made = ClosureVersion(tuple(filter(None, gpus.split(","))), is_kept=False).of(version)
    assert made == VERSIONS[version, gpus]
    assert Version(made).public == Version(version).public
    assert str(Version(made)) == made


def test_many_gpus_have_a_digest() -> None:
    many = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030")
    made = ClosureVersion(many, is_kept=False).of("7.10.0")
    assert re.fullmatch(r"7\.10\.0\+closure\.[0-9a-f]{8}", made)
    assert ClosureVersion(tuple(reversed(many)), is_kept=False).of("7.10.0") == made
    assert ClosureVersion(many, is_kept=True).of("7.10.0") == "7.10.0"


def test_a_version_that_is_none() -> None:
    with pytest.raises(PackagingError, match="seven: is no version of a package"):
        ClosureVersion((), is_kept=False).of("seven")


def test_the_self_test_ignores_the_closure(sdk: Path, tmp_path: Path) -> None:
    """A closure of one package beside the whole other one is of one release."""
    closure(sdk, "--library", "hipsparse", "--output", tmp_path / "out")
    old = tmp_path / f"out/rocm_sdk_core-{VERSION}+closure.dist-info"
    new = tmp_path / f"out/rocm_sdk_core-{VERSION}.dist-info"
    old.rename(new)
    for name in ("METADATA", "RECORD"):
        (new / name).write_text((new / name).read_text().replace(f"{VERSION}+closure", VERSION))
    found = self_test(tmp_path / "out", "--only", "packages")
    assert not [each for each in found["problems"] if each["severity"] == "error"]


def self_test(site: Path, *words: str) -> dict[str, Any]:
    done = run_interpreter("-m", "rocm_sdk", "test", "--target", str(site), "--json", *words, check=False)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.slow
def test_a_fix_names_the_original_and_the_command(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, "--library", "hipsparse", "--gpu", "gfx1030", "--output", tmp_path / "out")
    (tmp_path / f"out/{CORE}/lib/libamdhip64.so.7").unlink()
    problems = self_test(tmp_path / "out", "--only", "files")["problems"]
    found = next(each for each in problems if each["code"] == "E-FILE-001")
    assert f"rocm-sdk-core=={VERSION}" in found["fix"]
    assert "+closure" not in found["fix"]
    command = "rocm-sdk-build closure --library hipsparse --gpu gfx1030"
    assert found["fix"].endswith(f" && {command}")
    (tmp_path / "elsewhere").mkdir()
    words = [sys.executable, "-m", "rocm_sdk_build", *command.split()[1:]]
    environment = clean_environment() | {"PYTHONPATH": str(sdk)}
    done = subprocess.run(words, cwd=tmp_path / "elsewhere", env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"elsewhere/closure/{CORE}/lib/libamdhip64.so.7").exists()


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_fix_of_wheels_makes_and_installs_them_again(
    wheels: Path, environment: Environment, tmp_path: Path, installer: str
) -> None:
    """As it is printed, in a shell; the whole packages come from another place than the closure's wheels did."""
    site = environment.site
    words = ("--library", "hipsparse", "--gpu", "gfx1030", "--form", "wheels", "--no-proof")
    done = environment.run("rocm_sdk_build", "closure", *words, "--output", tmp_path / "small")
    assert done.returncode == 0, done.stderr
    environment.pip("uninstall", "-y", "-q", "rocm", "rocm-sdk-core", "rocm-sdk-libraries", "framework")
    if installer == "pip":
        environment.install(tmp_path / "small", "rocm[libraries]")
    else:
        uv = installer_command("uv", environment.python, "install")
        words = [*uv, "-q", "--cache-dir", tmp_path / "cache", "--no-index", "--find-links", tmp_path / "small"]
        subprocess.run([*words, "rocm[libraries]"], check=True)
    before = {path: data for path, data in environment.files().items() if f"/{CORE}/" in path}
    (site / CORE / "lib/libamdhip64.so.7").unlink()
    index = write_index(wheels, tmp_path / "index")
    variables = {"PATH": f"{environment.scripts}:{Path(UV).parent}:{os.environ['PATH']}", "UV_DEFAULT_INDEX": index}
    told = json.loads(environment.run("rocm_sdk", "test", "--json", "--only", "files", **variables).stdout)["problems"]
    (fix,) = {each["fix"] for each in told if each["code"] == "E-FILE-001"}
    assert " --form wheels --output closure && " in fix
    assert (" uv " if installer == "uv" else " pip ") in f" {fix}"
    (environment.scripts / "rocm-sdk-build").write_text(
        f'#!/bin/sh\nexec "{environment.python}" -m rocm_sdk_build "$@"\n'
    )
    (environment.scripts / "rocm-sdk-build").chmod(0o755)
    places = clean_environment() | variables | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    places["UV_CACHE_DIR"] = str(tmp_path / "cache")
    again = completed(["sh", "-c", fix], cwd=tmp_path, env=places, timeout=300)
    assert again.returncode == 0, again.stdout + again.stderr
    after = environment.files()
    assert {path: after.get(path) for path in before} == before
    assert "E-FILE-001" not in environment.codes()


def write_index(wheels: Path, directory: Path) -> str:
    """Write an index of packages into a directory, and return its address."""
    for wheel in wheels.glob("*.whl"):
        project = directory / wheel.name.partition("-")[0].replace("_", "-")
        project.mkdir(parents=True, exist_ok=True)
        (project / "index.html").write_text(f'<a href="{wheel.as_uri()}">{wheel.name}</a>\n')
    return directory.as_uri()


@pytest.mark.slow
def test_a_fix_of_an_image_makes_it_again(sdk: Path, tmp_path: Path) -> None:
    """Nothing is installed into an image."""
    closure(sdk, "--library", "hipsparse", "--form", "oci", "--output", tmp_path / "out.tar")
    subprocess.run(["tar", "-xf", "out.tar"], cwd=tmp_path, check=True)
    site = tmp_path / "opt/rocm-sdk"
    (site / CORE / "lib/libamdhip64.so.7").unlink()
    problems = self_test(site, "--only", "files")["problems"]
    found = next(each for each in problems if each["code"] == "E-FILE-001")
    command = "rocm-sdk-build closure --library hipsparse --form oci --output closure"
    assert found["fix"] == command
    words = [sys.executable, "-m", "rocm_sdk_build", *command.split()[1:]]
    environment = clean_environment() | {"PYTHONPATH": str(sdk)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "closure").read_bytes() == (tmp_path / "out.tar").read_bytes()


def test_a_fix_that_installs_something_else(sdk: Path, tmp_path: Path) -> None:
    """Libraries that the system lacks are no part of the closure, which need not be made again."""
    closure(sdk, "--library", "hipsparse", "--output", tmp_path / "out")
    program = (
        "from rocm_sdk.problems import problem\n"
        f"path = {str(tmp_path / 'out' / CORE / 'lib/libamdhip64.so.7')!r}\n"
        "print(problem('E-LIB-002', path, name='libnuma.so.1', debian='libnuma1', fedora='numactl-libs').fix)"
    )
    fix = run_python(program).stdout
    assert fix.strip() not in {"", "None"}
    assert "rocm-sdk-build" not in fix


HOSTILE_NOTES = (
    '{"command": "rm -rf /"}',
    "[1]",
    '{"command": "rocm-sdk-build closure \\u001b[2J"}',
    "[" * 10_000,
    "{",
)


@pytest.mark.parametrize("note", HOSTILE_NOTES)
def test_a_note_that_is_not_ours(sdk: Path, tmp_path: Path, note: str) -> None:
    site = Path(shutil.copytree(sdk, tmp_path / "site", symlinks=True))
    (site / f"rocm_sdk_core-{VERSION}.dist-info/closure.json").write_text(note)
    (site / CORE / "lib/libamdhip64.so.7").unlink()
    problems = self_test(site, "--only", "files")["problems"]
    found = next(each for each in problems if each["code"] in {"E-FILE-001", "E-FILE-008"})
    assert all(word not in found["fix"] for word in ("rm -rf", "rocm-sdk-build", "\x1b"))


@pytest.mark.slow
def test_the_report_for_programs(sdk: Path, tmp_path: Path) -> None:
    found: dict[str, Any] = report(sdk, PROVED, "--library", "rocblas", "--gpu", "gfx942", "--output", tmp_path / "out")
    files = {each["path"]: each for each in found["files"]}
    assert sum(each["size"] for each in files.values()) == found["size"]
    assert set(files) == {
        str(path.relative_to(tmp_path / "out"))
        for path in (tmp_path / "out").rglob("*")
        if not path.is_dir() and ".dist-info/" not in str(path)
    }
    solver = files["_rocm_sdk_libraries/lib/librocsolver.so.0"]
    assert not solver["has_code"]
    assert "gfx942" in solver["remark"]
    assert files["_rocm_sdk_libraries/lib/librocblas.so.5"]["dropped_targets"] == ["gfx90a", "gfx1030"]
    assert sum(each["size"] for each in found["left_out"]) > 60_000
    assert found["proof"]["libraries"]
    assert {each["version"] for each in found["packages"]} == {f"{VERSION}+closure.gfx942"}


@pytest.mark.slow
def test_a_wheel_as_application(sdk: Path, tmp_path: Path) -> None:
    """The wheel's package is imported in the proof, where the wheel's files are not installed."""
    (tmp_path / "app").mkdir()
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    wheel = tmp_path / "app-1.0-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: app\nVersion: 1.0\nRequires-Dist: rocm-sdk-core=={VERSION}\n"
    files = {
        "app/__init__.py": "import rocm_sdk\nrocm_sdk.preload_libraries('hipsparse')\nfrom . import app\n",
        "app-1.0.dist-info/METADATA": metadata,
        "app-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
        "app-1.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(extension, f"app/{extension.name}")
        for name, text in files.items():
            archive.writestr(name, text)
    done = closure(sdk, PROVED, "--for", wheel, "--gpu", "gfx942", "--output", tmp_path / "out")
    assert "libhipsparse.so.4" in names_in(tmp_path / "out")
    assert "1 file of applications loaded, app imported" in done.stdout
    assert f"app{extension.suffix}" not in names_in(tmp_path / "out")


@pytest.mark.slow
def test_an_application_whose_code_is_for_another_python(sdk: Path, tmp_path: Path) -> None:
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    other = extension.with_name("other.cpython-399-x86_64-linux-gnu.so")
    shutil.copy(extension, other)
    done = closure(sdk, PROVED, "--for", tmp_path / "app", "--output", tmp_path / "out")
    assert f"not tried: {other}: not imported, it is for another Python" in done.stdout


def test_what_is_needed_and_nowhere(sdk: Path, tmp_path: Path) -> None:
    extension = write_application(tmp_path / "app", sdk, "libhipsparse.so.4")
    data = extension.read_bytes()
    assert data.count(b"libhipsparse.so.4\0") == 1
    extension.write_bytes(data.replace(b"libhipsparse.so.4\0", b"libhipsparze.so.4\0"))
    done = closure(sdk, "--for", extension, "--library", "rocsparse", "--output", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert "libhipsparze.so.4" in done.stderr
    assert not (tmp_path / "out").exists()

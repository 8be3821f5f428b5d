"""`rocm-sdk-build init-module`: the module of a framework brings up what its files need."""

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from programs import completed
from sample_site import clean_environment, compile_library

from rocm_sdk._dist_info import ALL_LIBRARIES
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import write_sample_site
from rocm_sdk_build.output.init_module import ESTABLISHED, make

Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("sample") / "site-packages"
    write_sample_site(Shape("none"), site)
    return site


def run(sample: Path, *words: object) -> Result:
    command = [sys.executable, "-m", "rocm_sdk_build", "init-module", *map(str, words)]
    environment = clean_environment() | {"PYTHONPATH": str(sample)}
    return completed(command, env=environment)


def test_what_files_need(sample: Path, tmp_path: Path) -> None:
    hip = sample / "_rocm_sdk_core/lib/libamdhip64.so.5"
    (sparse,) = sample.glob("_rocm_sdk_libraries/lib/libhipsparse.so.*")
    one, two, out = tmp_path / "libone.so", tmp_path / "libtwo.so", tmp_path / "_rocm_init.py"
    compile_library(one, None, needed=(hip,))
    compile_library(two, None, needed=(sparse, hip))
    done = run(sample, "--for", one, "--output", out)
    assert (done.returncode, done.stdout) == (0, "requires: rocm==5.2.*\n"), done.stderr
    assert "preload_shortnames=['amdhip64']," in out.read_text()
    done = run(sample, "--for", one, two, "--output", out)
    assert done.stdout == "requires: rocm[libraries]==5.2.*\n"
    program = "import _rocm_init, ctypes, sys; _rocm_init.initialize(); [ctypes.CDLL(each) for each in sys.argv[1:]]"
    environment = clean_environment() | {"PYTHONPATH": f"{sample}:{tmp_path}"}
    subprocess.run([sys.executable, "-W", "error", "-c", program, one, two], env=environment, check=True)


def test_the_established_list(sample: Path) -> None:
    assert len(ESTABLISHED) == 22
    assert set(ESTABLISHED) <= set(ALL_LIBRARIES)
    done = run(sample, "--shortnames")
    assert done.stdout.startswith("\ndef initialize():\n    import rocm_sdk\n")
    assert f"preload_shortnames={list(ESTABLISHED)!r}," in done.stdout
    assert done.stderr == "requires: rocm[libraries]==5.2.*\n"


@pytest.mark.parametrize(("version", "is_there"), [("10.0.1", True), ("10.1.0a20261120", False), ("10.2.0", False)])
def test_the_established_list_of_later_releases(sample: Path, version: str, is_there: bool) -> None:
    """A library that leaves the SDK is in the list of releases that have it."""
    done = run(sample, "--shortnames", "--version", version)
    assert ("'rocm_smi64'" in done.stdout) is is_there
    names = [name for name in ESTABLISHED if is_there or name != "rocm_smi64"]
    assert f"preload_shortnames={names!r}," in done.stdout


@pytest.mark.parametrize(
    ("version", "wanted", "fits", "not_fits"),
    [
        ("7.10.0", "7.10.*", ("7.10.0", "7.10.3", "7.10.0.post1"), ("7.9.0", "7.11.0", "7.1.0")),
        ("7.10.0rc2", "7.10.*", ("7.10.0rc2", "7.10.0", "7.10.0a20260811"), ("7.11.0", "7.9.9")),
    ],
)
def test_versions(version: str, wanted: str, fits: tuple[str, ...], not_fits: tuple[str, ...]) -> None:
    module = make(("amdhip64",), version)
    assert f"check_version='{wanted}'" in module.text
    requirement = Requirement(module.requirement)
    assert all(each in requirement.specifier for each in fits)
    assert not any(each in requirement.specifier for each in not_fits)


@pytest.mark.slow
def test_what_is_refused(sample: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    compile_library(tmp_path / "plain.so", None)
    for words, told, status in (
        (("--for", text), f"rocm-sdk-build: {text}: ", 1),
        (("--for", tmp_path / "missing.so"), "missing.so", 2),
        (("--for", tmp_path), f"fix: Name a file: {tmp_path} is a directory", 1),
        (("--for", tmp_path / "plain.so"), "none of the files needs a library of the SDK", 1),
        (("--shortnames", "hipsparze"), "fix: did you mean hipsparse or hipsparselt?", 2),
        (("--shortnames", "amdhip64", "--version", "x'"), "is not a version", 1),
    ):
        done = run(sample, *words, "--output", tmp_path / "out.py")
        assert done.returncode == status, words
        assert told in done.stderr
        assert "Traceback" not in done.stderr
        assert "fix: " in done.stderr, words
    assert not (tmp_path / "out.py").exists()
    assert "--version VERSION" in run(tmp_path, "--shortnames", "amdhip64").stderr
    (tmp_path / "loop").symlink_to("loop")
    said = run(sample, "--shortnames", "amdhip64", "--output", tmp_path / "loop").stderr
    assert "is not replaced; name another file: it leads to itself" in said

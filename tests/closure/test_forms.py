"""Closures as directories and wheels: what installers make of them, their commands, links and metadata."""

import os
import stat
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from environments import installer_command
from programs import completed
from sample_closure import VERSION, closure, errors_of, names_in
from sample_site import CORE, LIBRARIES, clean_environment

from rocm_sdk.installed.record import read_record
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.wheels import writing
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.closure.writing.forms.wheel_form import as_wheels
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.wish import Wish

OURS = f"{VERSION}+closure.gfx90a"
WORDS = ("--library", "rocblas", "--tool", "hipcc", "--gpu", "gfx90a")
INSTALLERS = ("pip", "uv")
Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def wheels(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("wheels") / "wheels"
    closure(sdk, *WORDS, "--form", "wheels", "--output", output)
    return output


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment that is used again: a test removes the packages that it installs."""
    directory = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(directory)
    return directory / "bin/python"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["site", "wheels", "squashfs"])
def test_two_at_once_to_one_output(sdk: Path, tmp_path: Path, form: str) -> None:
    """The one that comes last says whose name was taken."""
    output = tmp_path / "place/out"
    words = ["--library", "hipsparse", "--no-proof", "--form", form, "--output", str(output)]
    command = [sys.executable, "-m", "rocm_sdk_build", "closure", *words]
    environment = clean_environment() | {"PYTHONPATH": str(sdk)}
    runs = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    told = [run.communicate(timeout=120)[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1, 1]
    for text in (text for run, text in zip(runs, told, strict=True) if run.returncode):
        assert text.startswith(f"rocm-sdk-build: {output}: ")
        assert "is not written over" in text
        assert ".rocm-sdk-build-" not in text
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def installer(name: str, python: Path, action: str, *words: str | Path) -> Result:
    command = [*installer_command(name, python, action), *map(str, words)]
    environment = {**clean_environment(), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    return completed(command, env=environment, timeout=120)


def write_application_wheel(directory: Path, requirement: str) -> Path:
    directory.mkdir()
    files = {
        "METADATA": f"Metadata-Version: 2.4\nName: application\nVersion: 1.0\nRequires-Dist: {requirement}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    path = directory / "application-1.0-py3-none-any.whl"
    with writing(path, "application-1.0.dist-info") as wheel:
        for name, text in files.items():
            with wheel.adding(f"application-1.0.dist-info/{name}", len(text)) as member:
                member.write(text.encode())
    return path


def site_of(python: Path) -> Path:
    (site,) = python.parents[1].glob("lib/python3*/site-packages")
    return site


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLERS)
def test_installers_take_the_wheels(wheels: Path, python: Path, tmp_path: Path, name: str) -> None:
    application = write_application_wheel(tmp_path / "application", f"rocm[libraries]=={VERSION}")
    done = installer(name, python, "install", "--no-index", "--find-links", wheels, application)
    assert done.returncode == 0, done.stdout + done.stderr
    try:
        site = site_of(python)
        assert installer(name, python, "check").returncode == 0
        assert errors_of(site) == []
        assert (site / f"rocm_sdk_core-{OURS}.dist-info/closure.json").is_file()
        program = site / CORE / "bin/hipcc"
        assert program.stat().st_mode & stat.S_IXUSR
        assert (python.parent / "hipcc").is_file()
        assert not (python.parent / "rocminfo").exists()
    finally:
        removed = ["application", "rocm", "rocm-sdk-core", "rocm-sdk-libraries"]
        installer(name, python, "uninstall", *(["-y"] if name == "pip" else []), *removed)
    assert not [path for path in site.iterdir() if "rocm" in path.name]


@pytest.mark.parametrize("name", INSTALLERS)
def test_an_exact_version_is_another_one(wheels: Path, python: Path, tmp_path: Path, name: str) -> None:
    application = write_application_wheel(tmp_path / "application", f"rocm-sdk-core==={VERSION}")
    done = installer(name, python, "install", "--dry-run", "--no-index", "--find-links", wheels, application)
    assert done.returncode != 0
    assert "rocm-sdk-core" in done.stderr, "the reason"


@pytest.mark.slow
def test_what_others_say_of_the_wheels(wheels: Path) -> None:
    """Of the empty package `rocm`, too (W007: it has no library)."""
    names = sorted(path.name.partition("-")[0] for path in wheels.iterdir())
    assert names == ["rocm", "rocm_sdk_core", "rocm_sdk_libraries"]
    paths = sorted(map(str, wheels.iterdir()))
    judge = str(Path(sys.executable).with_name("check-wheel-contents"))
    for path in paths:
        ignored = "W007,W008" if Path(path).name.startswith("rocm-") else "W002"
        done = completed([judge, "--ignore", ignored, path])
        assert done.stdout == f"{path}: OK\n"
    done = completed([sys.executable, "-m", "twine", "check", *paths])
    assert (done.returncode, done.stdout.count("PASSED")) == (0, len(paths)), done.stdout


def test_wheels_have_no_links(sdk: Path, tmp_path: Path) -> None:
    """Other names of a library go; a name by which libraries need it, and links to data, become files."""
    closure(sdk, *WORDS, "--no-proof", "--output", tmp_path / "site")
    site = tmp_path / "site"
    lib = site / LIBRARIES / "lib"
    assert (lib / "librocblas.so").is_symlink()
    (lib / "librocblas.so.5").rename(lib / "librocblas.so.5.1")
    (lib / "librocblas.so.5").symlink_to("librocblas.so.5.1")
    (lib / "tuning.link").symlink_to("tuning.table")
    record = next(site.glob("rocm_sdk_libraries-*.dist-info")) / "RECORD"
    more = "".join(f"{LIBRARIES}/lib/{name},,\n" for name in ("librocblas.so.5.1", "tuning.link"))
    record.write_text(record.read_text() + more)
    (tmp_path / "scratch").mkdir()
    as_wheels(site, tmp_path / "wheels", tmp_path / "scratch", Wait("writing"))
    with zipfile.ZipFile(next((tmp_path / "wheels").glob("rocm_sdk_libraries-*"))) as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist()}
        assert archive.read(f"{LIBRARIES}/lib/tuning.link") == (lib / "tuning.table").read_bytes()
        assert all(stat.S_ISREG(each.external_attr >> 16) for each in archive.infolist())
    assert {"librocblas.so.5", "librocblas.so.5.1", "tuning.link"} <= names
    assert "librocblas.so" not in names


def test_tags_of_the_wheel_that_was_installed(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, "--library", "amd_comgr", "--no-proof", "--output", tmp_path / "site")
    (tmp_path / "scratch").mkdir()
    (info,) = (tmp_path / "site").glob("rocm_sdk_core-*.dist-info")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: py2-none-linux_x86_64\nTag: py3-none-linux_x86_64\n")
    as_wheels(tmp_path / "site", tmp_path / "wheels", tmp_path / "scratch", Wait("writing"))
    assert f"rocm_sdk_core-{VERSION}+closure-py2.py3-none-linux_x86_64.whl" in names_in(tmp_path / "wheels")


# ---- commands that are programs


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site-packages directory of an environment with an SDK of packages that rocm-sdk-build made."""
    directory = tmp_path_factory.mktemp("installed")
    tree = usual_tree(directory / "artifacts", kpack=False)
    build(Wish([tree.root], directory, VERSION, is_checked=False), read_rules())
    venv.create(directory / "venv")
    packages = [next((directory / "dist").glob(f"{name}-*.whl")) for name in ("rocm_sdk_core", "rocm_profiler")]
    done = installer("uv", directory / "venv/bin/python", "install", "--no-deps", *packages)
    assert done.returncode == 0, done.stderr
    return site_of(directory / "venv/bin/python")


@pytest.mark.slow
def test_commands_that_are_programs(installed: Path, python: Path, tmp_path: Path) -> None:
    """The programs look for the dist-info directory of the closure.

    The directory has them as `pip install --target` does.
    """
    words = ("--tool", "rocminfo", "--library", "amdhip64")
    closure(installed, *words, "--output", tmp_path / "site")
    assert names_in(tmp_path / "site/bin") == {"rocminfo"}
    record = next((tmp_path / "site").glob("rocm_sdk_core-*.dist-info")) / "RECORD"
    assert "bin/rocminfo" in {row.path for row in read_record(str(record)).rows}
    starts(tmp_path / "site/bin/rocminfo", tmp_path / "site")
    assert errors_of(tmp_path / "site") == []
    closure(installed, *words, "--form", "wheels", "--no-proof", "--output", tmp_path / "wheels")
    (core,) = (tmp_path / "wheels").glob("rocm_sdk_core-*.whl")
    done = installer("uv", python, "install", "--no-deps", core)
    assert done.returncode == 0, done.stderr
    program = python.parent / "rocminfo"
    starts(program, site_of(python))
    assert f"rocm_sdk_core-{VERSION}+closure.dist-info".encode() in program.read_bytes()
    installer("uv", python, "uninstall", "rocm-sdk-core")


def test_a_closure_has_no_bill_of_materials(installed: Path, tmp_path: Path) -> None:
    """The package's bill of materials names another version, and more files."""
    assert len(list(installed.glob("rocm_sdk_core-*.dist-info/sboms/rocm-sdk-core.cdx.json"))) == 1
    closure(installed, "--library", "amdhip64", "--no-proof", "--output", tmp_path / "site")
    (info,) = (tmp_path / "site").glob("rocm_sdk_core-*.dist-info")
    assert not (info / "sboms").exists()
    assert "sboms" not in (info / "RECORD").read_text()


def test_commands_of_a_profiler(installed: Path, tmp_path: Path) -> None:
    closure(installed, "--tool", "rocprof-sys-avail", "--no-proof", "--output", tmp_path / "site")
    assert names_in(tmp_path / "site/bin") == {"rocprof-sys-avail"}
    starts(tmp_path / "site/bin/rocprof-sys-avail", tmp_path / "site", "_rocm_profiler")


def test_commands_without_a_compiler_are_entry_points(installed: Path, python: Path, tmp_path: Path) -> None:
    words = ("--tool", "rocminfo", "--form", "wheels", "--no-proof", "--output", tmp_path / "wheels")
    done = closure(installed, *words, CC="/nonexistent/cc")
    assert "commands are Python scripts: /nonexistent/cc: not found" in done.stderr
    (core,) = (tmp_path / "wheels").glob("rocm_sdk_core-*.whl")
    assert installer("uv", python, "install", "--no-deps", core).returncode == 0
    starts(python.parent / "rocminfo", site_of(python))
    installer("uv", python, "uninstall", "rocm-sdk-core")


def starts(command: Path, site: Path, package: str = CORE) -> None:
    """Check that the command is the program of this directory, and gets its arguments."""
    done = completed([command, "a b"], env=clean_environment())
    assert (done.returncode, done.stdout) == (0, f"{site}/{package}/bin/{command.name} 2\n"), done.stderr

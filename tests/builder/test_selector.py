"""The selector `rocm`: what its wheel requires, which family it takes, and what installers do with it."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from ended import succeeded
from environments import empty_environment, installer_command
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from programs import completed
from sample_machine import GIB, TOPOLOGY, Machine

from rocm_sdk import _native, targets
from rocm_sdk_build.output.rocm_selector import backend
from rocm_sdk_build.output.selector import write_selector
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.parts import Families

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "libraries", "device", "devel", "profiler")
OFFERED = ("gfx1100", "gfx942")
CHOSEN = {"family": "gfx1100", "why": "a GPU of this machine: gfx1100"}
WITHOUT_LOADER = "rocm-sdk-loader, which finds the GPUs of this machine, cannot be used: No module named 'rocm_sdk'"
DEFAULT = {"family": "gfx942", "why": f"{WITHOUT_LOADER}; the default of the SDK"}
NAMED = {"family": "gfx942", "why": "ROCM_SDK_TARGET_FAMILY"}
OTHER_SYSTEM = "import sys; sys.platform = 'freebsd14'; "


def write(directory: Path, offered: tuple[str, ...] = OFFERED, default: str | None = "gfx942") -> Path:
    """Write the selector of an SDK with these families, and return its path."""
    families = Families(None, None, set(offered))
    return write_selector(directory, SdkFacts("7.10.0", offered, default), families, "", PACKAGES)


def called(directory: Path, call: str, *options: str, before: str = "", **variables: str) -> str:
    """Return the printed result of a function in the backend of the unpacked selector.

    The option "-S" leaves the standard library alone.
    """
    program = f"{before}import sys; sys.path.insert(0, '.'); from rocm_selector import backend; print(backend.{call})"
    done = succeeded(
        [sys.executable, "-I", *options, "-c", program],
        cwd=directory / "rocm-7.10.0",
        env={"PATH": os.environ["PATH"], **variables},
    )
    return done.stdout


def built(
    directory: Path,
    *options: str,
    offered: tuple[str, ...] = OFFERED,
    default: str | None = "gfx942",
    before: str = "",
    **variables: str,
) -> zipfile.ZipFile:
    subprocess.run(["tar", "-xzf", str(write(directory, offered, default)), "-C", str(directory)], check=True)
    called(directory, "build_wheel('..')", *options, before=before, **variables)
    return zipfile.ZipFile(directory / "rocm-7.10.0-py3-none-any.whl")


def family_in(archive: zipfile.ZipFile) -> object:
    return json.loads(archive.read("rocm-7.10.0.dist-info/family.json"))


# ---- which family


def test_what_was_chosen_and_why(tmp_path: Path, machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    archive = built(tmp_path, ROCM_SDK_ROOTFS=str(machine.root))
    assert family_in(archive) == CHOSEN
    lines = archive.read("rocm-7.10.0.dist-info/METADATA").decode().splitlines()
    assert "Requires-Dist: rocm-sdk-device-gfx1100==7.10.0; extra == 'device'" in lines
    assert not any(name.startswith("rocm_sdk/") for name in archive.namelist())


def test_the_gpu_that_decides_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))
    assert targets.choose_family(["gfx110X-all", "gfx94X-dcgpu"]) is None
    machine.gpu(1, "gfx1201", memory=256 * GIB)
    machine.gpu(2, "gfx1101")
    machine.gpu(3, "gfx942", memory=192 * GIB)
    assert targets.choose_family(["gfx110X-all", "gfx94X-dcgpu"]) == ("gfx94X-dcgpu", "gfx942")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    assert targets.choose_family(["gfx110X-all", "gfx94X-dcgpu"]) == ("gfx110X-all", "gfx1101")


def test_no_gpu_that_a_family_fits(tmp_path: Path, machine: Machine) -> None:
    machine.gpu(1, "gfx1030")
    archive = built(tmp_path, ROCM_SDK_ROOTFS=str(machine.root))
    assert family_in(archive) == {
        "family": "gfx942",
        "why": "no GPU of this machine has a family; the default of the SDK",
    }


def test_gpus_that_cannot_be_told(tmp_path: Path, machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    path = machine.write(f"{TOPOLOGY}/nodes/1/properties", "simd_count many\n")
    found = family_in(built(tmp_path, ROCM_SDK_ROOTFS=str(machine.root)))
    assert isinstance(found, dict)
    assert found["family"] == "gfx942"
    assert found["why"].startswith(f"the GPUs of this machine cannot be found out: {path}")
    assert found["why"].endswith("; the default of the SDK")


def test_without_the_loader(tmp_path: Path, machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    assert family_in(built(tmp_path, "-S", ROCM_SDK_ROOTFS=str(machine.root))) == DEFAULT


@pytest.mark.parametrize("text", ["", "raise ImportError('no extension\\n  fix: none')\n"], ids=["another", "broken"])
def test_a_loader_that_cannot_be_used(tmp_path: Path, machine: Machine, text: str) -> None:
    """`rocm_sdk` of another distribution, or an older one; its reason is one line."""
    (tmp_path / "other/rocm_sdk").mkdir(parents=True)
    (tmp_path / "other/rocm_sdk/__init__.py").write_text(text)
    before = f"import sys; sys.path.append({str(tmp_path / 'other')!r}); "
    found = family_in(built(tmp_path, "-S", before=before, ROCM_SDK_ROOTFS=str(machine.root)))
    assert isinstance(found, dict)
    assert found["family"] == "gfx942"
    assert ("no extension; the default" if text else "cannot import name") in found["why"]
    assert "\n" not in found["why"]


def test_another_system(tmp_path: Path, machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    found = family_in(built(tmp_path, before=OTHER_SYSTEM, ROCM_SDK_ROOTFS=str(machine.root)))
    assert found == {
        "family": "gfx942",
        "why": "only Linux tells which GPUs there are; the default of the SDK",
    }


def test_no_family_and_no_default(tmp_path: Path) -> None:
    archive = built(tmp_path, offered=(), default=None, ROCM_SDK_ROOTFS=str(tmp_path / "nothing"))
    lines = archive.read("rocm-7.10.0.dist-info/METADATA").decode().splitlines()
    assert "Provides-Extra: device" not in lines
    assert "Provides-Extra: libraries" in lines


def test_a_family_that_the_sdk_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        built(tmp_path, offered=("gfx942",), ROCM_SDK_TARGET_FAMILY="gfx906")
    assert "ROCM_SDK_TARGET_FAMILY=gfx906 is none of the families of this SDK: gfx942" in raised.value.stderr


# ---- what it requires


def test_the_wheel_is_built_with_the_loader_that_it_requires(tmp_path: Path) -> None:
    archive = built(tmp_path)
    asked = called(tmp_path, "get_requires_for_build_wheel()", "-S")
    assert asked == f"['rocm-sdk-loader>={_native.loader_version}']\n"
    lines = archive.read("rocm-7.10.0.dist-info/METADATA").decode().splitlines()
    assert f"Requires-Dist: rocm-sdk-loader>={_native.loader_version}" in lines
    assert Requirement(f"rocm-sdk-loader>={_native.loader_version}").specifier.contains("99")


@pytest.mark.parametrize(
    ("before", "variables"),
    [(OTHER_SYSTEM, {}), ("", {"ROCM_SDK_TARGET_FAMILY": "gfx942"})],
    ids=["another system", "variable"],
)
def test_nothing_is_required_where_no_gpu_decides(tmp_path: Path, before: str, variables: dict[str, str]) -> None:
    built(tmp_path)
    assert called(tmp_path, "get_requires_for_build_wheel()", "-S", before=before, **variables) == "[]\n"


# ---- installers


class Installation:
    """An empty environment, a directory of packages, and an installer that knows no others."""

    def __init__(self, directory: Path, installer: str, machine: Machine) -> None:
        self.installer = installer
        self.packages = directory / "packages"
        self.packages.mkdir()
        write(self.packages)
        self.python = empty_environment(directory / "venv")
        inherited = ("PYTHON", "ROCM_", "PIP_", "UV_")
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith(inherited)}
        self.environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "UV_NO_CONFIG": "1"}
        self.environment |= {"UV_CACHE_DIR": str(directory / "uv"), "ROCM_SDK_ROOTFS": str(machine.root)}

    def add_loader(self) -> None:
        (wheel,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
        (self.packages / wheel.name).symlink_to(wheel)

    def install(self, name: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = installer_command(self.installer, self.python, "install")
        source = ["--no-index", "--no-deps", "--find-links", str(self.packages)]
        return completed([*command, *source, *options, name], env=self.environment | variables)

    def family(self, *options: str, **variables: str) -> object:
        """Install the selector, and return the family that it has chosen."""
        done = self.install("rocm", *options, **variables)
        assert done.returncode == 0, done.stderr
        (found,) = self.python.parents[1].glob("lib/python*/site-packages/rocm-*.dist-info/family.json")
        return json.loads(found.read_text())


@pytest.fixture(params=["pip", "uv"])
def installation(request: pytest.FixtureRequest, tmp_path: Path, machine: Machine) -> Installation:
    machine.gpu(1, "gfx1100")
    return Installation(tmp_path, request.param, machine)


@pytest.mark.slow
@pytest.mark.built_wheel
def test_under_build_isolation(installation: Installation) -> None:
    installation.add_loader()
    assert installation.family() == CHOSEN


@pytest.mark.slow
@pytest.mark.built_wheel
def test_without_build_isolation(installation: Installation) -> None:
    installation.add_loader()
    assert installation.install("rocm-sdk-loader").returncode == 0
    assert installation.family("--no-build-isolation") == CHOSEN


@pytest.mark.slow
def test_without_build_isolation_and_without_the_loader(installation: Installation) -> None:
    assert installation.family("--no-build-isolation") == DEFAULT


@pytest.mark.slow
def test_isolation_without_a_loader_is_the_error_of_the_installer(installation: Installation) -> None:
    refused = installation.install("rocm")
    assert refused.returncode != 0
    assert "rocm-sdk-loader" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert installation.family(ROCM_SDK_TARGET_FAMILY="gfx942") == NAMED


# ---- the source distribution


def test_its_modules_import_the_standard_library_alone() -> None:
    """All but the function that chooses, where the loader may be missing."""
    for path in Path(backend.__file__).parent.glob("*.py"):
        lines = [
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(("import ", "from "))
        ]
        names = {line.split()[1].partition(".")[0] for line in lines} - {""}
        assert names <= sys.stdlib_module_names, path
        assert not names & {"socket", "urllib", "http", "ssl", "subprocess"}, path


def test_what_the_source_distribution_leaves_open(tmp_path: Path) -> None:
    """Installers take the fields of PKG-INFO for the wheel's, except the fields that PKG-INFO calls dynamic."""
    path = write(tmp_path)
    with tarfile.open(path) as archive:
        stream = archive.extractfile("rocm-7.10.0/PKG-INFO")
        assert stream is not None
        found = Metadata.from_email(stream.read(), validate=True)
    assert (found.metadata_version, found.dynamic) == ("2.4", ["requires-dist", "provides-extra"])

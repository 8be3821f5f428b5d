"""`rocm-sdk targets` with its questions: what is installed, what is missing, and flags for builds."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from programs import completed
from sample_machine import Machine
from sample_report import installs
from sample_site import CORE, DIST_INFO, LIBRARIES, Site, clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
CMAKE_VARIABLES = ("AMDGPU_TARGETS", "GPU_TARGETS", "CMAKE_HIP_ARCHITECTURES")
Result = subprocess.CompletedProcess[str]


@pytest.fixture
def kpack_sdk(site: Site) -> Site:
    """Return an SDK whose device code comes in device packages, for three targets.

    The package for gfx942 is installed.
    """
    families = [f"AVAILABLE_TARGET_FAMILIES.append({name!r})\n" for name in ("gfx942", "gfx1100", "gfx1250")]
    text = DIST_INFO.replace("AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')\n", "".join(families))
    site.write("rocm_sdk_core/_dist_info.py", text)
    site.write(f"{CORE}/share/therock/dist_info.json", json.dumps({"dist_amdgpu_targets": "gfx942;gfx1100;gfx1250"}))
    device_package(site, "gfx942")
    return site


@pytest.fixture
def family_sdk(site: Site) -> Site:
    """Return an SDK with one libraries package per family; the package for gfx110X-all is installed."""
    lines = [line for line in DIST_INFO.splitlines() if "dist_package_template" not in line]
    lines += [f"AVAILABLE_TARGET_FAMILIES.append({name!r})" for name in ("gfx110X-all", "dgpu-all")]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines) + "\n")
    site.write("_rocm_sdk_libraries_gfx110X_all/__init__.py")
    return site


def device_package(site: Site, target: str, version: str = "7.10.0") -> None:
    name = f"{LIBRARIES}/.kpack/blas_{target}.kpack"
    site.write(name, "kernels")
    info = f"rocm_sdk_device_{target}-{version}.dist-info"
    site.write(f"{info}/METADATA", f"Metadata-Version: 2.4\nName: rocm-sdk-device-{target}\nVersion: {version}\n\ntext")
    site.write(f"{info}/RECORD", f"{name},,\n{info}/METADATA,,\n{info}/RECORD,,\n")


def call(site: Site, machine: Machine, *words: str, **variables: str) -> Result:
    return completed(
        [str(SCRIPT), "targets", *words],
        env=clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_ROOTFS": str(machine.root)} | variables,
        timeout=60,
    )


def test_installed_device_packages(kpack_sdk: Site, machine: Machine) -> None:
    device_package(kpack_sdk, "gfx1100", "7.10.0.post2")
    result = call(kpack_sdk, machine, "--installed")
    assert (result.returncode, result.stdout, result.stderr) == (0, "gfx942;gfx1100\n", "")


def test_a_device_package_supports_only_what_exists(kpack_sdk: Site, machine: Machine) -> None:
    device_package(kpack_sdk, "gfx1100", "7.9.0")
    (kpack_sdk.path / LIBRARIES / ".kpack/blas_gfx942.kpack").unlink()
    result = call(kpack_sdk, machine, "--installed")
    assert (result.returncode, result.stdout) == (1, "")
    assert (
        "rocm-sdk-device-gfx1100 supports no target: its version is 7.9.0, the version of the SDK 7.10.0"
        in result.stderr
    )
    assert "rocm-sdk-device-gfx942 supports no target: its file _rocm_sdk_libraries/.kpack/blas_gfx942" in result.stderr


@pytest.mark.parametrize("text", ["\udcff", '"', ""])
def test_a_device_package_with_a_damaged_record(kpack_sdk: Site, machine: Machine, text: str) -> None:
    path = kpack_sdk.path / "rocm_sdk_device_gfx942-7.10.0.dist-info/RECORD"
    path.write_text(text, errors="surrogateescape")
    result = call(kpack_sdk, machine, "--installed")
    assert (result.returncode, result.stdout) == (1, "")
    assert "rocm-sdk-device-gfx942 supports no target: RECORD " in result.stderr


def test_installed_families(family_sdk: Site, machine: Machine) -> None:
    result = call(family_sdk, machine, "--installed")
    assert (result.returncode, result.stdout) == (0, "gfx1100;gfx1101;gfx1102;gfx1103\n")


def test_missing_names_the_fix(kpack_sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx942")
    assert call(kpack_sdk, machine, "--missing").returncode == 0
    machine.gpu(2, "gfx1100")
    machine.gpu(3, "gfx1030")
    result = call(kpack_sdk, machine, "--missing")
    assert result.returncode == 1
    packaged, other = result.stdout.splitlines()
    assert packaged.startswith("gfx1100: ")
    assert installs(packaged, "rocm-sdk-device-gfx1100==7.10.0")
    assert other == "gfx1030: this SDK has no code for it"


def test_a_target_that_is_newer_than_the_table(kpack_sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1999")
    assert call(kpack_sdk, machine, "--missing").returncode == 1
    device_package(kpack_sdk, "gfx1999")
    assert call(kpack_sdk, machine, "--missing").returncode == 0
    assert call(kpack_sdk, machine, "--installed").stdout == "gfx942;gfx1999\n"


def test_missing_families(family_sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1201")
    result = call(family_sdk, machine, "--missing")
    # No Python installer has installed this SDK, as in an image that it was copied into.
    assert result.stdout.startswith("gfx1201: Install rocm-sdk-libraries-dgpu-all==7.10.0 in the way in which the SDK")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--cmake"],
            " ".join(f"-D{name}=gfx942;gfx1100;gfx1250" for name in CMAKE_VARIABLES),
        ),
        (["--offload-arch", "gfx942:xnack-"], "--offload-arch=gfx942:xnack-"),
        (["--offload-arch", "gfx94X-dcgpu,gfx942"], "--offload-arch=gfx942"),
        (["--torch", "machine"], "PYTORCH_ROCM_ARCH=gfx942"),
        (["--torch", "sdk"], "PYTORCH_ROCM_ARCH=gfx942;gfx1100;gfx1250"),
        (["--use-flags", "gfx942:xnack+,gfx942:xnack-"], "amdgpu_targets_gfx942"),
        (["--required-use"], "|| ( amdgpu_targets_gfx942 amdgpu_targets_gfx1100 amdgpu_targets_gfx1250 )"),
        (["--nix", "machine"], '[ "gfx942" ]'),
        (["--nix"], '[ "gfx942" "gfx1100" "gfx1250" ]'),
    ],
)
def test_flags(kpack_sdk: Site, machine: Machine, words: list[str], line: str) -> None:
    machine.gpu(1, "gfx942")
    result = call(kpack_sdk, machine, *words)
    assert (result.returncode, result.stdout, result.stderr) == (0, line + "\n", "")


@pytest.mark.parametrize(
    ("selection", "status", "said"),
    [
        ("gfx943", 2, "did you mean gfx940, gfx941 or gfx942"),
        ("gfx803", 2, "ROCm is not built for gfx803"),
        ("gfx1100:xnack+", 2, "Leave it out"),
        (",", 1, "contains no target"),
        ("gfx942,gfx1100", 1, " rocm-sdk-device-gfx1100==7.10.0"),
        ("gfx1030", 1, "this SDK has no code for it"),
        ("machine", 1, "no GPU of this machine is known"),
    ],
)
def test_what_is_refused_prints_no_list(
    kpack_sdk: Site, machine: Machine, selection: str, status: int, said: str
) -> None:
    for flag in ("--cmake", "--offload-arch", "--torch"):
        result = call(kpack_sdk, machine, flag, selection)
        assert (result.returncode, result.stdout) == (status, "")
        assert said in result.stderr
        assert "Traceback" not in result.stderr


def test_an_unsupported_gpu_of_the_machine_is_skipped(kpack_sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx942")
    machine.gpu(2, "gfx1013")
    result = call(kpack_sdk, machine, "--torch", "machine")
    assert (result.returncode, result.stdout) == (0, "PYTORCH_ROCM_ARCH=gfx942\n")
    assert "gfx1013 of this machine is skipped" in result.stderr


def test_an_sdk_that_does_not_say_its_targets(site: Site, machine: Machine) -> None:
    result = call(site, machine, "--cmake")
    assert (result.returncode, result.stdout) == (1, "")
    assert "dist_info.json" in result.stderr


def test_without_libraries_there_is_nothing_to_refuse(site: Site, machine: Machine) -> None:
    (site.path / LIBRARIES / "__init__.py").unlink()
    (site.path / LIBRARIES).rmdir()
    assert call(site, machine, "--torch", "gfx1030").stdout == "PYTORCH_ROCM_ARCH=gfx1030\n"


def test_consistent_packages(kpack_sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx942")
    result = call(kpack_sdk, machine, "--check")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "rocm-sdk-core: gfx942;gfx1100;gfx1250\ndevice packages: gfx942\n"


def test_packages_that_do_not_support_a_gpu_that_others_support(kpack_sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    result = call(kpack_sdk, machine, "--check")
    assert result.returncode == 1
    assert "gfx1100 is supported by rocm-sdk-core, not by device packages" in result.stderr
    device_package(kpack_sdk, "gfx1030")
    result = call(kpack_sdk, machine, "--check")
    assert "gfx1030 is supported by device packages, not by rocm-sdk-core" in result.stderr


@pytest.mark.parametrize(
    ("arch_flags", "status", "said"),
    [
        ("'gfx942 gfx1100'", 0, ""),
        ("'gfx1030'", 1, "gfx942 is supported by rocm-sdk-core, not by torch"),
        ("1 / 0", 1, "torch: ZeroDivisionError"),
    ],
)
def test_a_torch_with_targets(kpack_sdk: Site, machine: Machine, arch_flags: str, status: int, said: str) -> None:
    """A stand-in for a torch that is built for ROCm: the parts that are used."""
    kpack_sdk.write("torch/__init__.py", f"class _C:\n    _cuda_getArchFlags = staticmethod(lambda: {arch_flags})\n")
    kpack_sdk.write("torch/_rocm_init.py")
    machine.gpu(1, "gfx942")
    result = call(kpack_sdk, machine, "--check")
    assert result.returncode == status
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_wrong_usage(kpack_sdk: Site, machine: Machine) -> None:
    for words in (["gfx942"], ["--installed", "gfx942"], ["--cmake", "--torch"]):
        result = call(kpack_sdk, machine, *words)
        assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.parametrize("selection", ["machine", "gfx1100"])
def test_without_an_sdk_the_flags_are_for_another_rocm(tmp_path: Path, machine: Machine, selection: str) -> None:
    """On a distribution with a ROCm of its own nothing is installed that could lack the code for a GPU."""
    machine.gpu(1, "gfx1100")
    (tmp_path / "empty").mkdir()
    done = completed(
        [str(SCRIPT), "targets", "--offload-arch", selection],
        env=clean_environment() | {"PYTHONPATH": str(tmp_path / "empty"), "ROCM_SDK_ROOTFS": str(machine.root)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "--offload-arch=gfx1100\n", "")

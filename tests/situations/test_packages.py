"""Packages of an SDK: of other versions, empty, without the metadata of an installer, for another GPU, for CUDA."""

import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_fixtures import Call
from environments import empty_environment, installer_command
from programs import completed
from sample_devel import DevelSite, core_files, device_files, libraries_files, make_wheel
from sample_machine import Machine
from sample_report import install, reinstalls, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library

from rocm_sdk.base.processes import PACKAGE_PARENT
from rocm_sdk.doctor.file_faults import put_aside

AMD_INDEX = "--index-url https://stable.repo.amd.com/rocm/whl-next/"


@pytest.fixture
def packages(tmp_path: Path) -> DevelSite:
    """Return an empty site-packages directory."""
    return DevelSite(tmp_path / "packages")


# ---- versions and metadata


@pytest.mark.parametrize(
    ("version", "facts", "codes"),
    [("7.9.1", "7.10.1", {"E-FILE-003", "E-PKG-002"}), ("7.10.0.post2", "7.10.0", set())],
    ids=["damaged facts hide no other version", "a post release fits"],
)
def test_versions(linked_site: Site, version: str, facts: str, codes: set[str]) -> None:
    install(linked_site)
    shutil.rmtree(linked_site.path / "rocm_sdk_libraries-7.10.0.dist-info")
    DevelSite(linked_site.path).install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""}, version)
    path = linked_site.path / "rocm_sdk_core/_dist_info.py"
    path.write_text(path.read_text().replace("7.10.0", facts))
    assert run_test(linked_site.path, "--only", "packages,files").codes == codes


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("METADATA", "Name: other\nVersion: 7.10.0\n\n", "METADATA does not say rocm-sdk-core 7.10.0"),
        ("METADATA", "Name: rocm-sdk-core\nVersion: 7.1.0\n\n", "METADATA does not say rocm-sdk-core 7.10.0"),
        ("RECORD", "", "RECORD does not list itself"),
        ("RECORD", "\udcff", "RECORD is not valid text"),
    ],
    ids=["another name", "another version", "empty", "no text"],
)
def test_damaged_metadata(sdk: Site, name: str, text: str, words: str) -> None:
    path = sdk.path / "rocm_sdk_core-7.10.0.dist-info" / name
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    found = run_test(sdk.path, "--only", "packages").only("E-PKG-013")
    assert words in found["cause"]
    assert "rocm-sdk-core==7.10.0" in found["fix"]


def test_what_is_in_the_way_goes_to_a_free_name(tmp_path: Path) -> None:
    """A file that an earlier fix has put aside stays."""
    path, taken = tmp_path / "lib.so", tmp_path / "lib.so.rocm-sdk-old"
    taken.symlink_to("/nowhere")
    assert put_aside(str(path)) == {"aside": f"mv {path} {taken}2", "removal": f"rm {taken}2"}


def test_our_own_extension_is_no_library_of_an_sdk(packages: DevelSite, tmp_path: Path) -> None:
    packages.install("rocm-sdk-loader", {"rocm_sdk/_native.abi3.so": b"of the loader"})
    assert "E-TEST-002" not in run_test(tmp_path, "--target", str(packages.path)).codes


# ---- the empty packages that the public index has under the names of the SDK


def test_placeholders(packages: DevelSite) -> None:
    packages.install("rocm-sdk-core", {"rocm_sdk_core/__init__.py": b""}, "0.1.0")
    found = run_test(packages.path, "--only", "packages").only("E-PKG-017")
    assert found["title"] == "rocm-sdk-core 0.1.0 is an empty placeholder"
    assert AMD_INDEX in found["fix"]
    packages.install("rocm-sdk-libraries-gfx110x-dgpu", {"dummy_pkg/_init_.py": b""}, "0.0.1.dev0")
    packages.install("rocm", {"dummy_pkg/_init_.py": b""}, "0.1.0")
    title = run_test(packages.path, "--only", "packages").only("E-PKG-017")["title"]
    others = ("rocm-sdk-core 0.1.0", "rocm-sdk-libraries-gfx110x-dgpu 0.0.1.dev0")
    assert title.startswith("rocm 0.1.0 is an empty placeholder; so ") and all(each in title for each in others)
    packages.install("rocm-sdk-core", core_files(), "0.1.0")
    assert "rocm-sdk-core" not in run_test(packages.path, "--only", "packages").only("E-PKG-017")["title"]


def test_without_an_sdk_the_index_is_named(packages: DevelSite, attempt: Callable[..., Any], machine: Machine) -> None:
    """`pip install "rocm[libraries]"` alone would install the placeholders; the GPUs here say which more."""
    outcome = attempt(packages, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.code, AMD_INDEX in outcome.fix) == ("E-PKG-001", True)
    for node, target in enumerate(("gfx942", "gfx1100", "gfx942")):
        machine.gpu(node + 1, target)
    words = ("--target", str(packages.path), "--only", "packages")
    fix = run_test(packages.path, *words, ROCM_SDK_ROOTFS=str(machine.root)).only("E-PKG-001")["fix"]
    assert fix.endswith('"rocm[libraries,device-gfx942,device-gfx1100]"')


# ---- an SDK that no installer of Python made


def make_rocm(prefix: Path, library_directory: str = "lib") -> Path:
    directory = prefix / library_directory
    directory.mkdir(parents=True)
    hsa = compile_library(directory / "libhsakmt.so.1", "libhsakmt.so.1")
    compile_library(directory / "libamdhip64.so.6", "libamdhip64.so.6", "int hipGetDeviceCount;", (hsa,))
    (prefix / ".info").mkdir()
    (prefix / ".info/version").write_text("6.2.0-66\n")
    return directory


def test_a_prefix_without_metadata_is_an_sdk(linked_site: Site) -> None:
    """Nix, Gentoo and Spack write no dist-info; its version is the one that `rocm-sdk version` prints."""
    linked_site.library("libamdhip64.so.7")
    said = run_test(linked_site.path, "--only", "packages,libraries")
    assert (said.document["version"], said.codes, said.document["distributions"]) == ("7.10.0", {"N-PKG-018"}, {})
    assert said.subject("libraries")["count"] > 0


@pytest.mark.parametrize("library_directory", ["lib", "lib64", f"lib/{platform.machine()}-linux-gnu"])
def test_a_prefix_is_tested(packages: DevelSite, tmp_path: Path, library_directory: str) -> None:
    make_rocm(tmp_path / "rocm", library_directory)
    said = run_test(packages.path, "--skip", "opencl,gpus", ROCM_SDK_FALLBACK=f"prefix:{tmp_path}/rocm")
    assert not {code for code in said.codes if code.startswith("E-")}, said.problems
    assert (said.document["version"], said.only("N-PKG-018")["path"]) == ("6.2.0", f"{tmp_path}/rocm")
    assert (said.subject("libraries")["count"], said.subject("api")["count"]) == (1, 1)


def test_what_is_wrong_with_a_prefix_is_not_mended_by_pip(packages: DevelSite, tmp_path: Path) -> None:
    directory = make_rocm(tmp_path / "rocm")
    (directory / "libhsakmt.so.1").unlink()
    words, place = ("--only", "packages,libraries,api"), {"ROCM_SDK_FALLBACK": f"prefix:{tmp_path}/rocm"}
    found = run_test(packages.path, *words, **place).only("E-LIB-023")
    assert found["title"] == "libamdhip64.so.6 needs libhsakmt.so.1, which is not there"
    assert found["fix"] == f"Install the ROCm in {tmp_path}/rocm again the way it was installed"
    (directory / "libamdhip64.so.6").write_text("damaged")
    assert run_test(packages.path, *words, **place).only("E-LIB-006")["fix"] == found["fix"]


def test_places_that_have_none_are_named(packages: DevelSite, tmp_path: Path, attempt: Callable[..., Any]) -> None:
    place = f"prefix:{tmp_path}/none,conda"
    found = run_test(packages.path, "--only", "packages", ROCM_SDK_FALLBACK=place).only("E-PKG-001")
    outcome = attempt(packages, "preload_libraries('amdhip64')", ROCM_SDK_FALLBACK=place)
    for text, fix in ((found["cause"], found["fix"]), (outcome.message, outcome.fix)):
        assert f"ROCM_SDK_FALLBACK={place}: no such place has a ROCm" in text
        assert fix.startswith("Correct ROCM_SDK_FALLBACK, or install an SDK: ")


@pytest.mark.parametrize("code", ["E-LIB-023", "E-LIB-006"])
def test_no_fix_installs_into_a_copy(linked_site: Site, code: str) -> None:
    """A directory that no installer of Python has filled is nothing that pip may add to."""
    needed = linked_site.library("libhsakmt.so.1")
    hip = linked_site.library("libamdhip64.so.7", needed=(needed,))
    if code == "E-LIB-023":
        needed.unlink()
    else:
        hip.write_text("damaged")
    said = run_test(linked_site.path, "--only", "packages,libraries,api")
    (found,) = (each for each in said.problems if each["severity"] == "error")
    assert found["code"] == code
    assert not re.search(r"\bpip\b|apt-get", found["fix"])
    assert str(linked_site.path) in found["fix"]


# ---- packages that were chosen for another GPU


@pytest.mark.parametrize(
    ("choice", "devices", "is_stale"),
    [
        ({"family": "gfx942", "why": "a GPU of this machine: gfx942"}, ("gfx942",), True),
        ({"family": "gfx942", "why": "ROCM_SDK_TARGET_FAMILY"}, ("gfx942",), False),
        ({"family": "gfx942", "why": "the default"}, ("gfx942", "gfx1100"), False),
        ({"family": "gfx942", "why": "the default"}, (), False),
        ({"family": "gfx1100", "why": "a GPU of this machine: gfx1100"}, ("gfx1100",), False),
        ({"family": ["gfx942"], "why": None}, ("gfx942",), False),
        ("x", ("gfx942",), False),
    ],
    ids=["stale", "a wish", "both", "none", "this one", "no choice", "a text"],
)
def test_a_choice_of_another_machine(
    tmp_path: Path, machine: Machine, choice: object, devices: tuple[str, ...], is_stale: bool
) -> None:
    machine.gpu(1, "gfx1100")
    site = Site(tmp_path / "site-packages")
    lines = ["__version__ = '7.10.0'", 'ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"']
    lines += [f"AVAILABLE_TARGET_FAMILIES.append({each!r})" for each in ("gfx942", "gfx1100")]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines) + "\n")
    install(site)
    packages = DevelSite(site.path)
    for target in devices:
        packages.install(f"rocm-sdk-device-{target}", {f"{LIBRARIES}/.kpack/blas_{target}.kpack": b""})
    packages.install("rocm", {"rocm-7.10.0.dist-info/family.json": json.dumps(choice).encode()})
    said = run_test(site.path, "--only", "packages", ROCM_SDK_ROOTFS=str(machine.root))
    assert ("W-PKG-010" in said.codes) == is_stale
    if is_stale:
        found = said.only("W-PKG-010")
        assert found["title"] == "the packages were chosen for gfx942, the GPU here needs gfx1100"
        assert "rocm[libraries,device]==7.10.0" in found["fix"]


def test_both_families_are_named(tmp_path: Path, machine: Machine) -> None:
    """The selector of another machine was in pip's cache."""
    machine.gpu(1, "gfx1100")
    site = Site(tmp_path / "site-packages")
    (site.path / LIBRARIES).rename(site.path / f"{LIBRARIES}_gfx94X_dcgpu")
    families = "".join(f"AVAILABLE_TARGET_FAMILIES.append({each!r})\n" for each in ("gfx110X-all", "gfx94X-dcgpu"))
    text = f"__version__ = '7.10.0'\nDEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'\n{families}"
    site.write("rocm_sdk_core/_dist_info.py", text)
    packages = DevelSite(site.path)
    packages.install("rocm-sdk-core", {f"{CORE}/__init__.py": b"", "rocm_sdk_core/__init__.py": b""})
    packages.install("rocm-sdk-libraries-gfx94X-dcgpu", {f"{LIBRARIES}_gfx94X_dcgpu/__init__.py": b""})
    found = run_test(site.path, "--only", "packages,gpus", ROCM_SDK_ROOTFS=str(machine.root)).only("W-PKG-010")
    assert found["title"] == "the packages were chosen for gfx94x-dcgpu, the GPU here needs gfx110X-all"
    assert "--no-cache-dir" in found["fix"]
    assert "rocm[libraries]==7.10.0" in found["fix"]


# ---- traces of installers


@pytest.mark.slow
def test_an_uninstalled_device_package_took_a_shared_file(tmp_path: Path) -> None:
    """A device package of the old scheme: real wheels, installed and uninstalled by pip."""
    python = empty_environment(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    wheels, init = tmp_path / "wheels", {f"{LIBRARIES}/__init__.py": b""}
    make_wheel(wheels, "rocm-sdk-core", core_files())
    make_wheel(wheels, "rocm-sdk-libraries", libraries_files())
    make_wheel(wheels, "rocm-sdk-device-gfx942", device_files("gfx942") | init)
    add, remove = (installer_command("pip", python, action) for action in ("install", "uninstall"))
    subprocess.run([*add, "-q", "--no-index", *map(str, wheels.iterdir())], check=True, capture_output=True)
    assert "E-PKG-003" not in run_test(site, "--only", "packages").codes
    subprocess.run([*remove, "-q", "-y", "rocm-sdk-device-gfx942"], check=True, capture_output=True)
    found = run_test(site, "--only", "packages,files").only("E-PKG-003")
    assert (found["path"], found["fix"]) == (str(site / LIBRARIES), "rocm-sdk test --fix")
    assert "took the file with it" in found["cause"]
    fixed = run_test(site, "--only", "packages,files", "--fix")
    assert f"created {site / LIBRARIES}/__init__.py" in fixed.stderr
    assert fixed.codes.isdisjoint({"E-PKG-003", "E-FILE-001"}), fixed.problems
    # The wheels of this test keep no modes.
    assert run_test(site, "--only", "packages,files", "--deep", "--skip", "E-FILE-005").codes == set()


def pip_install(target: Path, *options: Path | str) -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", str(target), *map(str, options)], check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("upgrade", [False, True])
def test_what_a_second_target_installation_lost_is_named(tmp_path: Path, upgrade: bool) -> None:
    """`pip install --target` passed over the directories that packages share, or replaced them."""
    script = {"rocm_sdk_core-7.10.0.dist-info/entry_points.txt": b"[console_scripts]\nrocm-smi = rocm_sdk_core:main\n"}
    core = make_wheel(tmp_path / "wheels", "rocm-sdk-core", core_files() | script)
    libraries = make_wheel(tmp_path / "wheels", "rocm-sdk-libraries", libraries_files())
    device = make_wheel(tmp_path / "wheels", "rocm-sdk-device-gfx942", device_files("gfx942"))
    target = tmp_path / "target"
    pip_install(target, core, libraries)
    assert (target / "bin/rocm-smi").exists(), "pip moves the scripts, and leaves RECORD as it was"
    assert "E-FILE-001" not in run_test(target, "--only", "files").codes
    pip_install(target, device, *(["--upgrade"] if upgrade else []))
    owner = "rocm-sdk-libraries" if upgrade else "rocm-sdk-device-gfx942"
    said = run_test(target, "--only", "files")
    missing = [each for each in said.problems if each["code"] in {"E-FILE-001", "E-FILE-008"}]
    assert any(f" of {owner} " in each["title"] for each in missing)
    (fix,) = {each["fix"] for each in missing}
    assert reinstalls(fix, f"{owner}==7.10.0"), "the others stay, in the directories that they share"
    subprocess.run(fix, shell=True, check=True, capture_output=True)
    assert run_test(target, "--only", "files", "--skip", "E-FILE-005").codes == set()


def test_a_fix_for_the_site_of_the_user(tmp_path: Path) -> None:
    """Without --user, pip installs into the interpreter's own directory wherever that can be written."""
    interpreter = Path(sys._base_executable)  # type: ignore[attr-defined]  # an environment has no site of the user
    site = Site(tmp_path / f"base/lib/python3.{sys.version_info.minor}/site-packages")
    library = site.library("libamdhip64.so.7")
    install(site)
    for path in site.path.glob("*.dist-info"):
        (path / "INSTALLER").write_text("pip\n")
    library.unlink()
    (site.path / "pip").mkdir()  # which the interpreter of a system may lack
    environment = clean_environment() | {"PYTHONUSERBASE": str(tmp_path / "base"), "PYTHONPATH": PACKAGE_PARENT}
    done = completed([interpreter, "-m", "rocm_sdk", "test", "--only", "files"], env=environment, cwd="/")
    assert "-m pip install --user --force-reinstall --no-deps " in done.stdout, done.stdout + done.stderr
    assert Path("/", done.stdout.partition("fix ")[2].split()[0]).resolve() == interpreter.resolve()


# ---- reports about torch and others for CUDA, which the public index has under their plain names, beside an SDK


FOR_CUDA = b"__version__ = '2.14.1'\ndebug = False\ncuda: str | None = '13.0'\nhip: str | None = None\n"
FOR_HIP = FOR_CUDA.replace(b"'13.0'", b"None").replace(b"hip: str | None = None", b"hip: str | None = '7.10'")
FOR_CPU = FOR_CUDA.replace(b"'13.0'", b"None")
NEEDS = 'Requires-Dist: nvidia-cudnn-cu13==9.15; platform_system == "Linux"\n'


def put(site: Site, name: str, version: str, text: bytes = b"", requires: str = "") -> None:
    """Install a package without compiled files."""
    packages = DevelSite(site.path)
    packages.install(name, {f"{name}/version.py": text, f"{name}/__init__.py": b""}, version)
    metadata = packages.record(name, version).with_name("METADATA")
    metadata.write_text(metadata.read_text().replace("\nVersion:", f"\n{requires}Version:", 1))


# Version, version.py, further lines of METADATA -> what tells that it is for CUDA; None: it is not.
SIGNS = [
    ("2.14.1", FOR_CUDA, "", "its version.py says CUDA 13.0"),
    ("2.14.1+cu130", b"", "", "its version says it: 2.14.1+cu130"),
    ("2.14.1", b"", NEEDS, "it requires nvidia-cudnn-cu13"),
    ("2.14.1", FOR_CPU, NEEDS, None),
    ("2.14.1", FOR_HIP, NEEDS, None),
    ("2.14.1+rocm7.10.0", b"", NEEDS, None),
    ("2.14.1", b"", NEEDS.replace('platform_system == "Linux"', 'platform_machine == "other"'), None),
    ("2.14.1", b"", "Requires-Dist: nvidia-ml-py\n", None),
]


@pytest.mark.parametrize("row", SIGNS)
def test_torch(sdk: Site, call: Call, row: tuple[str, bytes, str, str | None]) -> None:
    version, text, requires, sign = row
    install(sdk)
    put(sdk, "torch", version, text, requires)
    checked = call("check", "torch")
    found = [each for each in run_test(sdk.path, "--only", "packages").problems if each["code"] == "E-PKG-026"]
    if sign is None:
        assert "E-PKG-026" not in checked.stdout
        assert found == []
        return
    assert checked.returncode == 1
    assert checked.stdout.startswith(f"torch: torch {version} is built for CUDA\n")
    assert "nothing to check" not in checked.stdout
    assert "E-PKG-026: it is built for CUDA: " in checked.stdout
    assert "rocm-sdk install torch" in checked.stdout
    (problem,) = found
    assert problem["title"] == f"torch {version} is built for CUDA"
    assert problem["cause"].startswith(sign)
    assert problem["fix"].startswith("rocm-sdk install torch ")


def test_another_package_by_its_libraries(sdk: Site, call: Call, tmp_path: Path) -> None:
    """An installed one, and a wheel: that libraries of CUDA are missing follows, and is no problem of its own."""
    names = ("libcudart.so.13", "libcudnn_of_nobody.so.9")  # the first may be on this system
    needed = tuple(compile_library(tmp_path / name, name) for name in names)
    library = compile_library(tmp_path / "_C.so", None, "int c;", needed)
    files = {"vllm/_C.abi3.so": library.read_bytes(), "vllm/__init__.py": b""}
    DevelSite(sdk.path).install("vllm", files, "0.20")
    wheel = make_wheel(tmp_path, "vllm", files, "0.20")
    for word in ("vllm", str(wheel)):
        checked = call("check", "--json", word)
        (verdict,) = json.loads(checked.stdout)["verdicts"]
        assert [each["code"] for each in verdict["problems"] if each["severity"] == "error"] == ["E-PKG-026"]
        assert verdict["verdict"] == "vllm 0.20 is built for CUDA"
        assert "Install a build of vllm for ROCm" in verdict["problems"][0]["fix"]
        assert verdict["works"] is False


def test_what_requires_it(sdk: Site, call: Call) -> None:
    put(sdk, "torch", "2.14.1", FOR_CUDA)
    put(sdk, "vllm", "0.20", b"", "Requires-Dist: torch==2.14.1\n")
    checked = call("check", "vllm")
    assert checked.returncode == 1
    assert "torch 2.14.1 is built for CUDA" in checked.stdout

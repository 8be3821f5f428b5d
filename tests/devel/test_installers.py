"""Real pip and uv: what they install, remove and upgrade around a tree, in every order."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import empty_environment, installer_command
from programs import completed
from sample_devel import (
    DevelSite,
    core_files,
    devel_files,
    device_files,
    libraries_files,
    link,
    make_archive,
    make_wheel,
    member,
    sample_members,
)
from sample_site import compile_library

pytestmark = pytest.mark.slow

NEWER = "7.11.0"


class Environment:
    """A virtual environment, and the installer that changes it."""

    def __init__(self, directory: Path, installer: str, link_mode: str = "hardlink") -> None:
        self.wheels = directory / "wheels"
        self.directory = directory
        self.python = empty_environment(directory / "venv")
        self._installer = installer
        self._link_mode = link_mode
        self._has_wheels = False
        (path,) = (directory / "venv").glob("lib/python*/site-packages")
        self.site = DevelSite(path)

    def install(self, *wheels: Path) -> None:
        again = ["--force-reinstall" if self._installer == "pip" else "--reinstall"] if self._has_wheels else []
        self._run("install", "--no-deps", "--no-index", *again, *map(str, wheels))
        self._has_wheels = True

    def uninstall(self, *names: str) -> None:
        self._run("uninstall", *(["--yes"] if self._installer == "pip" else []), *names)

    def _run(self, action: str, *words: str) -> None:
        options: list[str] = []
        if self._installer == "uv":
            options = ["--cache-dir", str(self.directory / "uv-cache")]
            options += ["--link-mode", self._link_mode] if action == "install" else []
        run = completed([*installer_command(self._installer, self.python, action), *options, *words], timeout=120)
        assert run.returncode == 0, run.stdout + run.stderr

    def check(self) -> None:
        """Check that the tree is right, and complete."""
        self.site.command("init", "--check")


@pytest.fixture(params=["pip", "uv"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Environment:
    return Environment(tmp_path, request.param)


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a wheel of the SDK."""

    def make(name: str, version: str = "7.10.0") -> Path:
        tree = "_rocm_sdk_devel"
        extra = [member(f"{tree}/include/only-{version}.h"), link(f"{tree}/dangling", "nowhere")]
        files = {
            "rocm-sdk-core": core_files,
            "rocm-sdk-libraries": libraries_files,
            "rocm-sdk-devel": lambda: devel_files(
                make_archive([*sample_members(), *extra], "_devel.tar.xz"), "_devel.tar.xz"
            ),
            "rocm-sdk-device-gfx942": lambda: device_files("gfx942", version=version),
            "rocm-sdk-device-gfx1100": lambda: device_files("gfx1100", version=version),
        }[name]()
        return make_wheel(tmp_path / f"wheels-{version}", name, files, version)

    return make


SDK = ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx942")


def left(environment: Environment) -> set[str]:
    """Return the names of the SDK that are still there.

    pip leaves empty directories of its own accord where two packages had files in them; none of them is ours.
    """
    names = {name for name in environment.site.names() if "rocm" in name}
    return {name for name in names if "devel" in name or not (environment.site.path / name).is_dir()}


@pytest.mark.parametrize("first", [None, "rocm-sdk-core", "rocm-sdk-devel"])
def test_nothing_is_left(environment: Environment, wheel: Callable[..., Path], first: str | None) -> None:
    """All at once, or one package first: its files are then missing in the tree, or the tree for its links."""
    environment.install(*map(wheel, SDK))
    environment.site.command("init")
    if first is not None:
        environment.uninstall(first)
    environment.uninstall(*(name for name in SDK if name != first))
    assert left(environment) == set()


def test_upgrade(environment: Environment, wheel: Callable[..., Path]) -> None:
    environment.install(*map(wheel, SDK))
    environment.site.command("init")
    environment.install(*(wheel(name, NEWER) for name in SDK))
    tree = environment.site.tree
    assert environment.site.command("path", "--root").stdout == f"{tree}\n"
    assert {path.name for path in tree.glob("include/only-*.h")} == {f"only-{NEWER}.h"}
    environment.check()
    environment.uninstall(*SDK)
    assert left(environment) == set()


def test_the_development_package_reinstalled(environment: Environment, wheel: Callable[..., Path]) -> None:
    environment.install(*map(wheel, SDK))
    environment.site.command("init")
    environment.install(wheel("rocm-sdk-devel"))
    environment.check()
    assert (environment.site.tree / "lib/rocblas/library/gfx942_0.co").exists()
    environment.uninstall(*SDK)
    assert left(environment) == set()


def test_device_packages_in_every_order(environment: Environment, wheel: Callable[..., Path]) -> None:
    environment.install(*map(wheel, SDK[:3]))
    environment.site.command("init")
    coming = ("gfx942", "gfx1100")
    library = environment.site.tree / "lib/rocblas/library"
    for going in itertools.permutations(coming):
        for target in coming:
            environment.install(wheel(f"rocm-sdk-device-{target}"))
            environment.site.command("path", "--root")
            assert (library / f"{target}_1.co").exists()
        for target in going:
            environment.uninstall(f"rocm-sdk-device-{target}")
            environment.site.command("path", "--root")
            assert not (library / f"{target}_1.co").exists()
    assert not os.path.lexists(library)


def test_the_cache_of_uv_stays_as_it_is(tmp_path: Path, wheel: Callable[..., Path]) -> None:
    """The files of uv's cache are hard links into site-packages: an extraction never shows in another environment."""
    one, other = Environment(tmp_path / "one", "uv"), Environment(tmp_path / "other", "uv")
    other.directory = one.directory  # the same cache
    wheels = [wheel(name) for name in SDK]
    for environment in (one, other):
        environment.install(*wheels)
    archive = "rocm_sdk_devel/_devel.tar.xz"
    assert (one.site.path / archive).samefile(other.site.path / archive)
    one.site.command("init")
    assert (other.site.path / archive).exists()
    other.site.command("init", "--check")
    one.uninstall(*SDK)
    other.check()


# `rocm-sdk init` that waits before one of its changes until the file `goes-on` is there.
WAITING_INIT = """
import os, sys, time
directory, number = sys.argv[1], int(sys.argv[2])
seen = 0
def wait(event, arguments):
    global seen
    if event in ("os.rename", "os.remove", "ctypes.dlsym"):
        seen += 1
        if seen == number:
            os.close(os.open(f"{directory}/waits", os.O_WRONLY | os.O_CREAT))
            while not os.path.exists(f"{directory}/goes-on"):
                time.sleep(0.01)
import rocm_sdk.cli
sys.addaudithook(wait)
sys.exit(rocm_sdk.cli.main(["init", "--quiet"]))
"""


def init_meanwhile(environment: Environment, directory: Path, number: int) -> tuple[int, str] | None:
    """Return exit status and words of an init that was held before a change while the package is uninstalled.

    The change has this number; the result is None if the init has not as many changes.
    """
    directory.mkdir()
    command = [sys.executable, "-c", WAITING_INIT, str(directory), str(number)]
    process = subprocess.Popen(command, env=environment.site.environment(), stderr=subprocess.PIPE, text=True)
    while not (directory / "waits").exists() and process.poll() is None:
        time.sleep(0.01)
    is_held = process.poll() is None
    if is_held:
        environment.uninstall("rocm-sdk-devel")
    (directory / "goes-on").touch()
    _, said = process.communicate(timeout=60)
    return (process.returncode, said) if is_held else None


def test_uninstalled_during_an_extraction(environment: Environment, wheel: Callable[..., Path], tmp_path: Path) -> None:
    """Init fails with a reason and leaves nothing; if it was done, only what uninstalling has left of the tree."""
    environment.install(*map(wheel, SDK))
    shutil.copytree(environment.site.path, tmp_path / "installed", symlinks=True)
    for number in itertools.count(1):
        ended = init_meanwhile(environment, tmp_path / f"held-{number}", number)
        if ended is None:
            break
        status, said = ended
        names = {name for name in environment.site.names() if name.lstrip("._").startswith("rocm_sdk_devel")}
        assert "Traceback" not in said
        assert (status, bool(said)) in {(0, False), (1, True)}, said
        assert names <= {".rocm_sdk_devel.lock"}, (number, status, said, names)
        assert status == 0 or "rocm-sdk-devel" in said or "rocm_sdk_devel" in said, said
        shutil.rmtree(environment.site.path)
        shutil.copytree(tmp_path / "installed", environment.site.path, symlinks=True)
    environment.check()
    assert number > 5


LINK_MODES = ["copy", "hardlink", "clone", "symlink"]
ASK = """
import os, rocm_sdk, rocm_sdk.installed.view as installations
print(rocm_sdk.find_libraries("hiprand")[0])
print(rocm_sdk.preload_libraries("hiprand")[0].location.path)
for library in rocm_sdk.loaded_libraries():
    print(library.location.shortname, library.location.package, library.location.found_via)
print([problem.code for problem in rocm_sdk.check_process()])
"""


def answers(environment: Environment) -> list[str]:
    """Return the output of the commands, with the directory and times left out."""
    said = []
    for words in (
        ["list", "--installed"],
        ["tree", "hiprand"],
        ["test", "--only", "packages,files,libraries,environment"],
        ["init"],
        ["init", "--check"],
        ["path", "--tool", "amdclang"],
        ["test", "--deep", "--only", "files,libraries,devel"],
    ):
        result = environment.site.command(*words, check=False)
        said.append(f"{words} {result.returncode} {result.stdout} {result.stderr}")
    result = completed([sys.executable, "-c", ASK], env=environment.site.environment())
    said.append(f"{result.stdout} {result.stderr}")
    text = "\n".join(said).replace(str(environment.directory), "")
    return re.sub(r"\d+\.\d+ m?s", "", text).splitlines()


def test_link_modes_of_uv(tmp_path: Path, wheel: Callable[..., Path]) -> None:
    """Files of the SDK may be links into uv's cache: everything works as with copies, and nothing is said of it."""
    hip = compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7")
    rand = compile_library(tmp_path / "libhiprand.so.1", "libhiprand.so.1", needed=(hip,))
    core = core_files() | {"_rocm_sdk_core/lib/libamdhip64.so.7": hip.read_bytes()}
    libraries = libraries_files() | {"_rocm_sdk_libraries/lib/libhiprand.so.1": rand.read_bytes()}
    folder = tmp_path / "compiled"
    wheels = [make_wheel(folder, "rocm-sdk-core", core), make_wheel(folder, "rocm-sdk-libraries", libraries)]
    wheels += map(wheel, SDK[2:])
    found = {}
    for mode in LINK_MODES:
        environment = Environment(tmp_path / mode, "uv", mode)
        environment.install(*wheels)
        assert (environment.site.path / "_rocm_sdk_core/lib/libamdhip64.so.7").is_symlink() == (mode == "symlink")
        found[mode] = answers(environment)
        program = environment.site.tree / "bin/hipcc"
        assert program.resolve() == program, "it finds its installation by the place that it is in"
        environment.uninstall(*SDK)
        assert left(environment) == set()
    for mode in LINK_MODES[1:]:
        assert found[mode] == found["copy"]
    assert any("libraries" in line and "2 loaded" in line for line in found["copy"]), found["copy"]

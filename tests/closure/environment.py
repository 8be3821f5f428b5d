"""A virtual environment with the sample SDK and a framework, installed by pip from wheels; tests change it.

The tests' own loader and rocm-sdk-build come in by a .pth file. Each test starts with the files that pip has installed.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from environments import empty_environment, installer_command
from programs import completed
from sample_closure import TARGETS, VERSION, code
from sample_devel import devel_files, make_archive, make_wheel, member
from sample_device_code import library
from sample_site import CORE, LIBRARIES, clean_environment

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
_SCRIPTS = "[console_scripts]\nhipcc = rocm_sdk_core._cli:hipcc\nrocminfo = rocm_sdk_core._cli:rocminfo\n"
_INIT = "import rocm_sdk\nrocm_sdk.initialize_process(preload_shortnames=['hipsparse'])\n"
MEMBERS = [
    member("_rocm_sdk_devel/__init__.py"),
    member("_rocm_sdk_devel/include/hip/hip_runtime.h", b"int hipInit(unsigned);\n" * 500),
    member("_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", b"set(hip_VERSION 7)\n"),
]


class Environment:
    """The environment, and the commands that are run in it."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self.site = prefix / "lib" / PYTHON / "site-packages"
        self.scripts = prefix / "bin"
        self.python = self.scripts / "python"

    def make(self) -> None:
        """Make the environment, with the packages that the tests import behind its own packages."""
        empty_environment(self.prefix)
        (self.site / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")

    def pip(self, action: str, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = completed([*installer_command("pip", self.python, action), *map(str, words)], timeout=300)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def install(self, wheels: Path, *names: str) -> None:
        self.pip("install", "-q", "--no-index", "--find-links", wheels, *names)

    def run(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a module with words, as `python -m`."""
        command = [str(self.python), "-m", *map(str, words)]
        return completed(command, env=clean_environment() | variables, timeout=300)

    def codes(self) -> set[str]:
        """Return the problems that `rocm-sdk test` reports as errors."""
        done = self.run("rocm_sdk", "test", "--json")
        return {each["code"] for each in json.loads(done.stdout)["problems"] if each["severity"] == "error"}

    def files(self) -> dict[str, bytes]:
        """Return the content of all files and links, and the commands; bytecode has no part in them."""
        places = [path for top in (self.site, self.scripts) for path in top.rglob("*")]
        found = {path: os.fsencode(path.readlink()) for path in places if path.is_symlink()}
        found |= {path: path.read_bytes() for path in places if path.is_file() and path not in found}
        return {str(path.relative_to(self.prefix)): data for path, data in found.items() if path.suffix != ".pyc"}


def write_wheels(sdk: Path, folder: Path) -> Path:
    """Write wheels of the sample SDK, with a development package, and of a framework with GPU code."""
    wheels = folder / "wheels"
    for name, tops in (
        ("rocm-sdk-core", (CORE, "rocm_sdk_core")),
        ("rocm-sdk-libraries", (LIBRARIES, "rocm_sdk_libraries")),
    ):
        paths = [path for top in tops for path in (sdk / top).rglob("*") if path.is_file() and not path.is_symlink()]
        files = {str(path.relative_to(sdk)): path.read_bytes() for path in paths if path.suffix != ".pyc"}
        needs = ""
        if name == "rocm-sdk-core":
            files |= {"rocm_sdk_core/_cli.py": b"def hipcc(): ...\ndef rocminfo(): ...\n"}
            files |= {f"rocm_sdk_core-{VERSION}.dist-info/entry_points.txt": _SCRIPTS.encode()}
        else:
            needs = f"Requires-Dist: rocm-sdk-core=={VERSION}"
        make_wheel(wheels, name, files, VERSION, needs)
    parts = [f"Requires-Dist: rocm-sdk-{part}=={VERSION}; extra == '{part}'" for part in ("libraries", "devel")]
    make_wheel(
        wheels,
        "rocm",
        {},
        VERSION,
        "\n".join(
            [f"Requires-Dist: rocm-sdk-core=={VERSION}", *parts, "Provides-Extra: libraries", "Provides-Extra: devel"]
        ),
    )
    make_wheel(wheels, "rocm-sdk-devel", devel_files(make_archive(MEMBERS)), VERSION)
    own = library(folder / "libframework.so", code(*TARGETS))
    files = {
        "framework/__init__.py": b"",
        "framework/_rocm_init.py": _INIT.encode(),
        "framework/lib/libframework.so": own.read_bytes(),
        "framework/lib/aotriton.images/amd-gfx90a/kernel.hsaco": b"code" * 1000,
        "framework/lib/aotriton.images/amd-gfx110x/kernel.hsaco": b"code" * 1000,
    }
    make_wheel(wheels, "framework", files, "1.0", f"Requires-Dist: rocm[libraries]=={VERSION}")
    return wheels


class Snapshot:
    """A copy of the files that pip has installed, to start from again."""

    def __init__(self, environment: Environment, directory: Path) -> None:
        self.environment, self.directory = environment, directory
        for place in (environment.site, environment.scripts):
            shutil.copytree(place, directory / place.name, symlinks=True)

    def restore(self) -> Environment:
        """Put the installed files back: each file is new, so that a second name of a file shows."""
        for place in (self.environment.site, self.environment.scripts):
            shutil.rmtree(place)
            shutil.copytree(self.directory / place.name, place, symlinks=True)
        return self.environment

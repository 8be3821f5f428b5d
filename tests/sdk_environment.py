"""A small SDK in a virtual environment, an index that has its packages, and what `rocm-sdk test` says of it.

The libraries are compiled, the packages are wheels, the index is served on this machine, the installers are real.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from environments import environment_with_pip
from programs import completed
from sample_devel import device_files, directory, links_to, make_archive, make_wheel, member
from sample_device_code import code_object, kpack
from sample_site import CORE, LIBRARIES, clean_environment, compile_library
from web_server import serving

import rocm_sdk

PLACES = "-Wl,--disable-new-dtags,-rpath,$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_libraries/lib"
TOOL = """
import os, sys
def main():
    program = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_rocm_sdk_core/bin/rocm-smi")
    os.execv(program, [program, *sys.argv[1:]])
"""

# A HIP that sees as many GPUs as a variable says, or none if another one is set.
HIP = """
    extern char *getenv(const char *); extern int atoi(const char *);
    int hipInit(unsigned flags) { return 0; }
    int hipGetDeviceCount(int *count)
    {
        const char *seen = getenv("HSA_HIDES_GPUS") ? 0 : getenv("SEEN_BY_HIP");
        return *count = seen ? atoi(seen) : 0, 0;
    }
"""

MEMBERS = [
    directory("_rocm_sdk_devel"),
    member("_rocm_sdk_devel/__init__.py"),
    member("_rocm_sdk_devel/include/hip/hip_version.h", b"#define HIP_VERSION_MAJOR 7\n"),
    member("_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", b"set(hip_VERSION 7)\n"),
]


# The text in place of a large file that a checkout has not fetched.
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 100\n"

# ---- the packages


def _compiled(
    folder: Path, soname: str, source: str = "", needed: tuple[Path, ...] = (), *flags: str, has_rpaths: bool
) -> Path:
    return compile_library(folder / soname, soname, source, needed, (*((PLACES,) if has_rpaths else ()), *flags))


def library_of_host(soname: str) -> Path:
    """Return a library of this system, as the compiler finds it."""
    found = subprocess.run(["cc", f"-print-file-name={soname}"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip()).resolve()


def write_wheels(folder: Path, wheels: Path, further: Mapping[str, str], *, has_rpaths: bool = True) -> None:
    """Write a small SDK whose libraries need each other across packages, and the placeholders.

    `further` are more libraries of core, by SONAME, with their sources; such libraries need the system's libstdc++.
    """
    folder.mkdir()
    compiled = partial(_compiled, has_rpaths=has_rpaths)
    hsa = compiled(folder, "libhsa-runtime64.so.1")
    hip = compiled(folder, "libamdhip64.so.7", HIP, (hsa,))
    blas = compiled(folder, "librocblas.so.5", "int rocblas_create_handle;", (hip,))
    smi = compiled(folder, "librocm_smi64.so.7", "int rsmi_init;", (blas,))
    flag = "-Wl,--enable-new-dtags"  # LD_LIBRARY_PATH comes before them
    host = (library_of_host("libstdc++.so.6"),) if further else ()
    others = [compiled(folder, soname, source, (hip, *host), flag) for soname, source in further.items()]
    facts = (
        "__version__ = '{}'\nDEFAULT_TARGET_FAMILY = 'gfx942'\nAVAILABLE_TARGET_FAMILIES = ['gfx942', 'gfx1100']\n"
        'ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"\n'
    )
    core = {
        "rocm_sdk_core/__init__.py": b"",
        "rocm_sdk_core/_dist_info.py": facts.format("7.10.0").encode(),
        "rocm_sdk_core/_cli.py": TOOL.encode(),
        f"{CORE}/__init__.py": b"",
        f"{CORE}/bin/rocm-smi": b"#!/bin/sh\necho no GPU\n",
        **{f"{CORE}/lib/{path.name}": path.read_bytes() for path in (hsa, hip, smi, *others)},
    }
    scripts = {
        "rocm_sdk_core-7.10.0.dist-info/entry_points.txt": b"[console_scripts]\nrocm-smi = rocm_sdk_core._cli:main\n"
    }
    make_wheel(wheels, "rocm-sdk-core", core | scripts)
    for version in ("7.9.1", "7.10.0"):
        libraries = {
            "rocm_sdk_libraries/__init__.py": b"",
            "rocm_sdk_libraries/_dist_info.py": facts.format(version).encode(),
            f"{LIBRARIES}/__init__.py": b"",
            **{f"{LIBRARIES}/lib/{path.name}": path.read_bytes() for path in (blas,)},
            **{f"{LIBRARIES}/lib/rocblas/library/kernels_{n}.co": b"code" for n in range(10)},
        }
        make_wheel(wheels, "rocm-sdk-libraries", libraries, version)
    for target, number in (("gfx1100", 0x41), ("gfx1030", 0x36), ("gfx1151", 0x4A)):
        kernels = {"lib/librocrand.so.1#0": {target: code_object(number)}}
        code = {
            f"{LIBRARIES}/lib/rocsparse/library/kernels_{target}.co": code_object(number, size=64),
            f"{LIBRARIES}/.kpack/rand_{target}.kpack": kpack(kernels),
        }
        make_wheel(wheels, f"rocm-sdk-device-{target}", device_files(target, more=code))
    members = [*MEMBERS, *links_to(core | libraries)]
    devel = {"rocm_sdk_devel/__init__.py": b"", "rocm_sdk_devel/_devel.tar": make_archive(members)}
    for version in ("7.10.0a20260811", "7.9.1", "7.10.0"):
        make_wheel(wheels, "rocm-sdk-devel", devel, version)
    make_wheel(wheels, "rocm-profiler", {"rocm_profiler/__init__.py": b""})
    needs = "Requires-Dist: rocm-sdk-core==7.10.0\nProvides-Extra: libraries\n"
    needs += "Requires-Dist: rocm-sdk-libraries==7.10.0; extra == 'libraries'\n"
    make_wheel(wheels, "rocm", {"rocm_selector/__init__.py": b""}, "7.10.0", needs)
    for name in ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel"):
        make_wheel(wheels, name, {f"{name.replace('-', '_')}_placeholder/__init__.py": b""}, "0.1.0")


def write_index(wheels: Path, index: Path) -> None:
    """Write the pages of PEP 503."""
    names: dict[str, list[Path]] = {}
    for wheel in wheels.iterdir():
        names.setdefault(wheel.name.partition("-")[0].replace("_", "-"), []).append(wheel)
    for name, files in names.items():
        page = index / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text("".join(f'<a href="{file.name}">{file.name}</a>\n' for file in files))
        for file in files:
            shutil.copy(file, page.parent)


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler that serves files and says nothing."""

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


@contextmanager
def served(folder: Path, further: Mapping[str, str] | None = None, *, has_rpaths: bool = True) -> Iterator[str]:
    """Yield the address of an index with the packages and the placeholders; `folder` is for their files."""
    write_wheels(folder / "built", folder / "wheels", further or {}, has_rpaths=has_rpaths)
    write_index(folder / "wheels", folder / "simple")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/simple/"


# ---- the environment


class Environment:
    """A virtual environment with the SDK, to which a broken one is set back."""

    def __init__(self, folder: Path, installer: str, index: str) -> None:
        self.index = index
        self.root = folder / "venv"
        self.python = self.root / "bin/python"
        tools = folder / "tools"
        tools.mkdir()
        (tools / "rocm_sdk").symlink_to(Path(rocm_sdk.__file__).parent)
        self.variables = clean_environment() | {
            "PYTHONPATH": str(tools),
            "PATH": os.pathsep.join((str(self.root / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
            "ROCM_SDK_INDEX": index,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_NO_CONFIG": "1",
            "UV_CACHE_DIR": str(folder / "uv-cache"),
        }
        if installer == "pip":
            environment_with_pip(self.root)
        else:
            venv.create(self.root, symlinks=True)
        (self.site,) = self.root.glob("lib/python*/site-packages")
        for name in ("pip", "setuptools", "pkg_resources"):  # many files, which no test changes
            if (self.site / name).exists():
                (self.site / name).rename(folder / name)
                (self.site / name).symlink_to(folder / name)
        self.installer = installer
        self.install("rocm[libraries]==7.10.0", "rocm-sdk-devel==7.10.0")
        script = self.root / "bin/rocm-sdk"
        script.write_text(f'#!/bin/sh\nexec {self.python} -m rocm_sdk "$@"\n')
        script.chmod(0o755)
        self._kept = folder / "kept"
        shutil.copytree(self.root, self._kept, symlinks=True)

    def set_back(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root, symlinks=True)

    def install(self, *requirements: str) -> None:
        self._change("install", *requirements)
        for path in self.site.glob("_rocm_sdk_*/bin/*"):
            path.chmod(0o755)  # make_wheel keeps no modes

    def uninstall(self, *names: str) -> None:
        self._change("uninstall", *([] if self.installer == "uv" else ["--yes"]), *names)

    def _change(self, action: str, *words: str) -> None:
        tool = ["uv", "pip"] if self.installer == "uv" else [str(self.python), "-m", "pip"]
        words = (*(("--index-url", self.index) if action == "install" else ()), *words)
        place = ["--python", str(self.python)] if self.installer == "uv" else []
        self.run(" ".join([*tool, action, *place, *(f"'{word}'" for word in words)]))

    def run(self, command: str, **variables: str) -> str:
        result = completed(command, shell=True, env=self.variables | variables, timeout=120)
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        return result.stdout

    def test(self, *words: str, **variables: str) -> list[dict[str, Any]]:
        """Return the errors and warnings of `rocm-sdk test`, except problems of this machine."""
        command = [str(self.python), "-m", "rocm_sdk", "test", "--json", *words]
        result = completed(command, env=self.variables | variables, timeout=120)
        assert result.stdout, result.stderr
        problems = json.loads(result.stdout)["problems"]
        return [each for each in problems if each["severity"] != "note" and each["code"] not in OF_THIS_MACHINE]


OF_THIS_MACHINE = {"W-OCL-001"}

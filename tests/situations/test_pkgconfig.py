"""Reports of files for pkg-config: directories of the machine of the build, and modules that are not there.

pkg-config is the judge of what a text says.
"""

import logging
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from checked_packages import built, path_of, problems
from installed_rocm import Prefix as Made
from programs import completed
from sample_devel import DevelSite, directory, member, sample_members
from sample_prefix import run_on_prefix
from test_cmake_packages import CODE, told

from rocm_sdk.devel.cmake.package_faults import check_packages
from rocm_sdk.doctor.prefixes.cmake import _Place
from rocm_sdk.installed.prefix import Prefix

STAGE = "/__w/rockrel/build/third-party/sysdeps/linux/zlib/build/stage"
HEAD = "Name: x\nDescription: x\nVersion: 1.0\n"
ZLIB = f"""\
prefix={STAGE}/lib/rocm_sysdeps
exec_prefix={STAGE}/lib/rocm_sysdeps
libdir=${{exec_prefix}}/lib
includedir=${{prefix}}/include

Name: zlib
Description: zlib compression library
Version: 1.3.2
Libs: -L${{libdir}} -lz
Cflags: -I${{includedir}}
"""
ELF = ZLIB.replace(f"prefix={STAGE}/lib/rocm_sysdeps", "prefix=${pcfiledir}/../..", 1).replace(
    "Name: zlib", "Name: libelf"
)
SOUND = "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n" + HEAD

# Texts of lib/pkgconfig -> the directories and modules that are missing.
# fmt: off
CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "16: a machine of the build": ({"zlib": ZLIB}, {f"{STAGE}/lib/rocm_sysdeps/lib"}),
    "16: one variable of it": ({"libelf": ELF}, {f"{STAGE}/lib/rocm_sysdeps/lib"}),
    "16: headers elsewhere": (
        {"libdrm_amdgpu": SOUND + "Cflags: -I${prefix}/include -I/home/me/drm/include/libdrm\nLibs: -L${libdir}\n"},
        {"/home/me/drm/include/libdrm"}),
    "all is there": ({"x": SOUND + "Libs: -L${libdir} -lx\nCflags: -I${prefix}/include -DX=/nowhere\n"}, set()),
    "in quotation marks": ({"x": SOUND + 'Cflags: -I"${prefix}/gone by" -Dx\n'}, {"gone by"}),
    "a continued line": ({"x": SOUND + "Libs: -lx \\\n  -L${libdir}/gone\n"}, {"lib/gone"}),
    "in a comment": ({"x": SOUND + "# Libs: -L/nowhere\n"}, set()),
    "a module of ROCm": ({"hip": SOUND + "Requires: hsa-runtime64 >= 1.0, libhsakmt = 2\nLibs: -lhip\n",
                          "libhsakmt": SOUND.replace("1.0", "2")}, {"hsa-runtime64.pc"}),
    "a private module of ROCm": ({"rocm_smi": SOUND + "Requires.private: libhsakmt\n"}, {"libhsakmt.pc"}),
    "a module of elsewhere": ({"libelf": SOUND + "Requires.private: zlib-of-nobody\nLibs: -lelf\n"}, set()),
}
# fmt: on


def made(root: Path, texts: dict[str, str]) -> Prefix:
    prefix = Made(root)
    prefix.file("include/x.h")
    for name, text in texts.items():
        prefix.file(f"lib/pkgconfig/{name}.pc", text)
    return Prefix(str(root))


def missing(prefix: Prefix) -> set[str]:
    found = check_packages(_Place(prefix, is_alone=True), "which the tree lacks")
    assert not found.foreign
    return {each.name.removeprefix(f"{prefix.root}/") for each in found.faults}


def said_by_pkgconfig(prefix: Prefix, names: dict[str, str]) -> set[str]:
    """Return the directories that are not there, and the modules of ROCm that pkg-config does not find."""
    place = f"{prefix.root}/lib/pkgconfig"
    variables = {**os.environ, "PKG_CONFIG_LIBDIR": place, "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
    found = set[str]()
    for name in names:
        done = completed(["pkg-config", "--cflags", "--libs", "--print-errors", name], env=variables)
        for line in done.stderr.splitlines():
            if " required by " in line:
                found.add(f"{line.split(chr(39))[1]}.pc")
        flags = done.stdout.replace("\\ ", "\0").split()
        paths = (Path(each[2:].replace("\0", " ")) for each in flags if each.startswith(("-I", "-L")))
        found |= {os.path.normpath(path).removeprefix(f"{prefix.root}/") for path in paths if not path.exists()}
    return {each for each in found if "nobody" not in each}


@pytest.mark.parametrize(("texts", "lacking"), CASES.values(), ids=[*CASES])
def test_as_pkgconfig_says(tmp_path: Path, texts: dict[str, str], lacking: set[str]) -> None:
    """Of each text the first directory is told."""
    prefix = made(tmp_path / "tree", texts)
    assert missing(prefix) == lacking
    judged = said_by_pkgconfig(prefix, texts)
    assert lacking <= judged
    assert bool(lacking) == bool(judged)


HOSTILE = {
    "itself": "a=${a}x\nLibs: -L/${a}\n",
    "each other": "a=${b}\nb=${a}\n" * 1000 + "Libs: -L/${a}\n",
    "growth": "a=/nowhere\n" + "a=${a}${a}\n" * 5000 + "Libs: -L${a}\n",
    "megabytes": "a=" + "x" * 4000 + "\nLibs: -L/" + "${a}${a}" * 1_000_000 + "\n",
    "many references": "a=" + "x" * 4000 + "\n" + ("b=" + "${a}" * 2000 + "\n") * 7 + "Libs: -L/${b}\n",
    "open": "a=" + "${" * 30_000 + "\nLibs: " + "-L/${a" * 10_000,
    "a quotation": 'Libs: -L"/nowhere\n',
    "no text": "\0\xff" * 10_000,
    "modules": "Requires: " + "".join(f"roc{number} " for number in range(5000)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(20)
def test_hostile_texts(tmp_path: Path, name: str) -> None:
    found = missing(made(tmp_path / "tree", {"x": HOSTILE[name], **{f"y{i}": HOSTILE[name] for i in range(20)}}))
    assert all(len(each) < 1 << 13 for each in found)
    assert not {each for each in found if not each.endswith(".pc")}


# ---- the builder


def text_in(dist: Path, path: str, place: Path) -> Path:
    """Return a text of the development tree, which is extracted below `place`."""
    with zipfile.ZipFile(path_of(dist, "rocm_sdk_devel")) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith("_devel.tar"))
        wheel.extract(name, place)
    with tarfile.open(place / name) as archive:
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)  # Pythons without filters trust
        archive.extractall(place / "site")
    (found,) = (place / "site").glob(f"*/{path}")
    return found


@pytest.mark.parametrize(
    ("artifact", "place", "text"),
    [
        ("sysdeps", "lib/rocm_sysdeps", ZLIB),
        ("sysdeps", "lib/rocm_sysdeps", ELF.replace("linux/zlib", "linux/elfutils")),
        ("core-hip", ".", ZLIB.replace("/lib/rocm_sysdeps", "").replace(STAGE, "/work/stage/b/core/clr/stage")),
        ("core-hip", ".", ZLIB.replace(f"{STAGE}/lib/rocm_sysdeps", "/opt/rocm-7.1.0")),
    ],
)
def test_made_relative_in_artifacts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, artifact: str, place: str, text: str
) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    tree.library(f"{artifact}_lib_generic", f"{place}/lib/libz.so.1", "libz.so.1")
    tree.file(f"{artifact}_dev_generic", f"{place}/include/z.h")
    tree.file(f"{artifact}_dev_generic", f"{place}/lib/pkgconfig/zlib.pc", text)
    with caplog.at_level(logging.WARNING):
        dist = built(tree.root, tmp_path / "dist")
    assert problems(dist) == []
    assert not [each for each in caplog.messages if "zlib.pc" in each]
    path = text_in(dist, os.path.normpath(f"{place}/lib/pkgconfig/zlib.pc"), tmp_path / "moved")
    done = completed(["pkg-config", "--cflags", "--libs", str(path)], env={**os.environ, "PKG_CONFIG_PATH": ""})
    named = {os.path.realpath(each[2:]) for each in done.stdout.split() if each.startswith(("-I", "-L"))}
    root = path.parents[2].resolve()
    assert named == {f"{root}/include", f"{root}/lib"}, done.stderr


def test_a_path_that_stays_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The builder names text and path, and so does the check."""
    tree = usual_tree(tmp_path / "artifacts")
    text = "exec_prefix=/usr\n" + SOUND + "Cflags: -I/home/me/drm/include -I/usr/include -I${prefix}/include\n"
    tree.file("core-hip_dev_generic", "lib/pkgconfig/hip.pc", text)
    with caplog.at_level(logging.WARNING):
        dist = built(tree.root, tmp_path / "dist")
    (said,) = (each for each in caplog.messages if "hip.pc" in each)
    assert said == "lib/pkgconfig/hip.pc names a directory of another machine: /home/me/drm/include"
    ((file, what, _),) = problems(dist)
    assert file == path_of(dist, "rocm_sdk_devel").name
    assert what.endswith("lib/pkgconfig/hip.pc: Cflags is /home/me/drm/include, which the tree lacks")


# ---- installed trees and prefixes


def test_a_tree_whose_text_names_another_machine(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    place = "_rocm_sdk_devel/lib/rocm_sysdeps/lib/pkgconfig/zlib.pc"
    site.install_sdk(members=[*sample_members(), member(place, ZLIB.encode())])
    site.command("init", "--quiet")
    ((code, cause, fix),) = (each for each in told(site) if each[0] == CODE)
    assert (code, cause) == (CODE, f"Libs is {STAGE}/lib/rocm_sysdeps/lib, which the tree lacks")
    assert "Tell the builder of rocm-sdk-devel" in fix


def test_a_module_of_a_prefix(tmp_path: Path) -> None:
    """A module of the build root counts, or of a directory that pkg-config is told to search."""
    prefix = Made(tmp_path / "rocm")
    prefix.file("include/hip/hip_runtime.h", "")
    prefix.file("lib/pkgconfig/hip.pc", SOUND + "Requires: libhsakmt\n")
    found = run_on_prefix(prefix.root, "--only", "devel").only(CODE)
    assert found["cause"] == "package hip.pc requires libhsakmt.pc, which is in neither the prefix nor the build root"
    other = Made(tmp_path / "other")
    other.file("lib/pkgconfig/libhsakmt.pc", SOUND)
    words = {"PKG_CONFIG_PATH": f"{other.root}/lib/pkgconfig"}
    assert CODE not in run_on_prefix(prefix.root, "--only", "devel", **words).codes


@pytest.mark.parametrize("has_own", [True, False])
def test_never_the_directory_of_the_systems_libraries(tmp_path: Path, has_own: bool) -> None:
    """The zlib.pc of rocm_sysdeps would stand before the system's in every build."""
    site = DevelSite(tmp_path / "site-packages")
    places = ["lib/rocm_sysdeps/lib/pkgconfig", "lib/rocm_sysdeps/share/pkgconfig", *["share/pkgconfig"] * has_own]
    members = [*sample_members(), *(directory(f"_rocm_sdk_devel/{each}") for each in places)]
    site.install_sdk(members=[*members, member(f"_rocm_sdk_devel/{places[0]}/zlib.pc", ZLIB.encode())])
    asked = site.command("path", "--pkgconfig", check=False)
    variables = [line for line in site.command("env").stdout.splitlines() if "PKG_CONFIG" in line]
    assert "rocm_sysdeps" not in asked.stdout + "".join(variables)
    assert asked.returncode == int(not has_own)
    assert len(variables) == has_own

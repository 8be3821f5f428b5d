"""The subject `devel` of `rocm-sdk test`: the development tree, its CMake texts, and compilers that are to use it."""

import os
import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from sample_devel import (
    DevelSite,
    core_files,
    devel_files,
    device_files,
    libraries_files,
    link,
    links_to,
    make_archive,
    member,
    sample_members,
)
from sample_report import run_test
from sample_site import run_python

from rocm_sdk.devel.cmake.text_commands import fault_of

TREE = "_rocm_sdk_devel"
HOME = "import rocm_sdk; print(rocm_sdk.rocm_home())"


def program(answer: str) -> bytes:
    return f"#!/bin/sh\n{answer}\n".encode()


def put(path: Path, answer: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(program(answer))
    path.chmod(0o755)
    return path


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    return DevelSite(tmp_path / "site-packages")


def extract(site: DevelSite, files: dict[str, bytes] | None = None, *links: object) -> DevelSite:
    """Install core and libraries, and extract a tree of files; those below bin are programs."""
    runtime = core_files() | libraries_files()
    site.install("rocm-sdk-core", core_files())
    site.install("rocm-sdk-libraries", libraries_files())
    members = [
        member(f"{TREE}/{name}", data, mode=0o755 if "bin/" in name else 0o644) for name, data in (files or {}).items()
    ]
    own = {each[0].name for each in members}
    others = [each for each in links_to(runtime) if each[0].name not in own]
    site.install_devel([member(f"{TREE}/__init__.py"), *members, *others, *links])
    site.command("init")
    return site


@pytest.fixture
def extracted(site: DevelSite) -> DevelSite:
    return extract(site, {f"lib/cmake/hip/{name}.cmake": b"set(x 1)\n" for name in ("a", "b")})


# ---- of another build than the packages beside it


VERSIONS = [
    ("7.14.0a20261110", "7.14.0a20261120", True),
    ("10.1.0+bkc.20261101", "10.1.0+bkc.20261102", True),
    ("7.14.0", "7.14.0rc1", True),
    ("7.14.0", "7.14.0.post1", False),
    ("7.14.0rc1.post2", "7.14.0rc1", False),
    ("10.1.0a20261120", "10.1.0a20261120", False),
]


@pytest.mark.parametrize(("core", "devel", "differ"), VERSIONS)
def test_a_tree_of_another_build(site: DevelSite, core: str, devel: str, differ: bool) -> None:
    """`init` says it when it extracts, and `test` has one problem, whose fix names the package of core's version."""
    facts = f"__version__ = '{core}'\nPY_PACKAGE_SUFFIX_NONCE = ''\n".encode()
    site.install("rocm-sdk-core", core_files() | {"rocm_sdk_core/_dist_info.py": facts}, core)
    site.install("rocm-sdk-libraries", libraries_files(), core)
    site.install("rocm-sdk-devel", devel_files(make_archive(sample_members())), devel)
    said = " ".join(site.command("path", "--cmake").stderr.split())
    what, fix = f"rocm-sdk-devel is {devel}, rocm-sdk-core {core}", f"rocm-sdk-devel=={core}"
    assert (f"{what} [E-PKG-002]; " in said, fix in said) == (differ, differ)
    found = run_test(site.path, "--only", "packages,devel").problems
    assert [each["code"] for each in found if each["severity"] == "error"] == (["E-PKG-002"] if differ else [])
    assert all(what in each["title"] and fix in each["fix"] for each in found if each["code"] == "E-PKG-002")


# ---- extracted, or not yet


@pytest.mark.parametrize("how", ["the fix", "rocm_home()"])
def test_a_tree_that_is_not_extracted(site: DevelSite, how: str) -> None:
    """Nothing has extracted it yet, so that other tools do not find it."""
    site.install_sdk()
    found = run_test(site.path, "--only", "devel").only("N-DEVEL-013")
    assert (found["severity"], found["path"]) == ("note", f"{site.path}/rocm_sdk_devel")
    if how == "the fix":
        name, *words = shlex.split(found["fix"])
        assert name == "rocm-sdk"
        site.command(*words)
    assert run_python(HOME, PYTHONPATH=str(site.path)).stdout == f"{site.tree}\n"
    assert "N-DEVEL-013" not in run_test(site.path, "--only", "devel").codes


def test_neither_archive_nor_tree(extracted: DevelSite) -> None:
    shutil.rmtree(extracted.tree)
    found = run_test(extracted.path, "--only", "devel").only("E-DEVEL-002")
    assert found["cause"] == f"{found['path']} has neither the archive nor the tree"


# ---- its files


def test_many_files_of_the_tree_are_one_problem(site: DevelSite) -> None:
    extract(site, {f"include/{number:02}.h": b"" for number in range(65)})
    for header in (site.tree / "include").iterdir():
        header.unlink()
    (found,) = run_test(site.path, "--only", "devel").problems
    assert found["title"].endswith("include/00.h (and 64 more)")
    assert found["cause"] == f"{found['path']} is missing; also 01.h, 02.h ..."
    assert found["facts"]["count"] == "65"


def test_links_that_were_copied_as_directories_are_one_problem(site: DevelSite, tmp_path: Path) -> None:
    site.install("rocm-sdk-core", core_files() | {f"_rocm_sdk_core/lib/{n}/file": b"x" for n in range(10)})
    links = [link(f"{TREE}/lib/{number}", f"../../_rocm_sdk_core/lib/{number}") for number in range(10)]
    links.append(link(f"{TREE}/lib64", "lib"))
    site.install_devel([member(f"{TREE}/__init__.py"), *links_to(core_files()), *links])
    site.command("init")
    shutil.copytree(site.path, tmp_path / "copy")
    (found,) = run_test(tmp_path / "copy", "--only", "devel").problems
    assert (found["code"], found["facts"]["count"]) == ("E-DEVEL-002", "12")  # with bin/amdclang
    assert "rocm-sdk-devel==7.10.0" in found["fix"]


def test_a_file_of_a_package_is_gone_and_the_tree_has_a_link_to_it(extracted: DevelSite) -> None:
    path = extracted.core / "lib/libamdhip64.so.7"
    path.unlink()
    (found,) = run_test(extracted.path, "--only", "files,devel").problems
    assert (found["code"], found["path"]) == ("E-FILE-001", str(path))
    (same,) = run_test(extracted.path, "--only", "devel").problems
    assert (same["title"], same["fix"]) == (found["title"], found["fix"])


@pytest.mark.slow
def test_a_device_package_that_came_later(extracted: DevelSite, tmp_path: Path) -> None:
    """A tree elsewhere is not fixed. Builder, loader and provider are part of no SDK, and have no links in it."""
    for name in ("rocm-sdk-build", "rocm-sdk-loader", "rocm_sdk_variant_provider"):
        extracted.install(name, {f"{name}_files/__init__.py": b""}, "0.1.0")
    assert "W-DEVEL-007" not in run_test(extracted.path, "--only", "devel").codes
    extracted.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    assert run_test(extracted.path, "--only", "devel").only("W-DEVEL-007")["fix"].startswith("rocm-sdk init")
    said = run_test(tmp_path, "--target", str(extracted.path), "--only", "devel", "--fix")
    assert "the development tree is unchanged" in said.stderr
    said = run_test(extracted.path, "--only", "devel", "--fix")
    assert "updated the development tree" in said.stderr
    assert said.codes == set()  # what was fixed is not listed
    assert run_test(extracted.path, "--only", "devel").codes == set()


# ---- CMake


def test_cmake_packages_that_cannot_be_read(extracted: DevelSite) -> None:
    path = extracted.tree / "lib/cmake/hip/a.cmake"
    path.write_text("set(x 2\n")
    found = run_test(extracted.path, "--only", "devel").only("E-DEVEL-003")
    assert found["cause"] == "line 1 begins no command that ends"
    path.unlink()
    os.mkfifo(path)
    assert run_test(extracted.path, "--only", "devel").only("E-DEVEL-003")["cause"] == "it is not a regular file"


TEXTS = {
    "set(x 1)": None,
    'set(x ")")': None,
    "set(x [[)]]) # )": None,
    "#[=[ ) ]] ]=] set(x)": None,
    r'set(x "\")" \) [^[:alnum:]])': None,
    "set(x @y@)\n@more@\n": None,
    "set(x 1": "line 1 begins no command that ends",
    'set(a b)\n\nset(x "1)': "line 3 begins no command that ends",
    "set(x [==[1]])": "line 1 begins no command that ends",
    "set(a b)\nset": "line 2 begins no command that ends",
    "": "empty",
    "set(\0)": "not text",
}
ENDLESS = ("[[" * 500_000, '"' * 1_000_001, "#[[" * 300_000, "\\" * 1_000_001, " [" * 500_000)


@pytest.mark.slow
def test_cmake_texts() -> None:
    for text, fault in TEXTS.items():
        found = fault_of(text)
        assert found is None if fault is None else fault in str(found), text
    for text in ENDLESS:
        begin = time.monotonic()
        fault_of(text)
        assert time.monotonic() - begin < 20


# ---- the compiler of the tree


@pytest.mark.parametrize(
    ("named", "has_headers", "codes"),
    [("18.0.0", True, {"E-DEVEL-004"}), ("18", True, {"N-DEVEL-006"}), ("18", False, {"E-DEVEL-004"})],
    ids=["another spelling", "found", "without headers"],
)
def test_the_resource_directory(site: DevelSite, named: str, has_headers: bool, codes: set[str]) -> None:
    """Clang looks for its files in lib/clang/18.0.0, and they are in lib/clang/18."""
    clang = program(f"echo {site.tree}/lib/llvm/lib/clang/{named}")
    headers = "lib/llvm/lib/clang/18/include/" + ("stddef.h" if has_headers else "other.h")
    extract(site, {"lib/llvm/bin/clang": clang, headers: b"\n"})
    said = run_test(site.path, "--only", "devel")
    assert said.codes == codes
    if named == "18.0.0":
        found = said.only("E-DEVEL-004")
        assert f"{site.tree}/lib/llvm/lib/clang/18.0.0, which is not there; there is 18" in found["cause"]
        assert " -m pip install " in found["fix"]
    elif not has_headers:
        assert "the directory without include/stddef.h" in said.only("E-DEVEL-004")["cause"]


def test_what_a_compiler_leaves_goes(extracted: DevelSite, tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    for name in ("lib/llvm/bin/clang", "bin/hipcc"):
        path = extracted.tree / name
        put(path, f'echo said > "$TMPDIR/probe-$$.o"; echo >> {tmp_path}/{path.name}')
    run_test(extracted.path, "--only", "devel", TMPDIR=str(place))
    assert (tmp_path / "hipcc").exists()
    assert (tmp_path / "clang").read_text() == "\n"
    assert len(list(place.iterdir())) == 1, "that of clang -print-resource-dir, which compiles nothing"


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ('"-mlink-builtin-bitcode" "{tree}/lib/llvm/amdgcn/bitcode/ocml.bc"', set()),
        ('"-mlink-builtin-bitcode" "/opt/rocm/amdgcn/bitcode/ocml.bc"', {"E-PREFIX-010"}),
        ("clang: error: cannot find ROCm device library", {"E-PREFIX-010"}),
    ],
    ids=["its own", "another ROCm's", "none"],
)
def test_the_clang_of_the_tree_takes_its_device_libraries(site: DevelSite, answer: str, codes: set[str]) -> None:
    """The clang of a tree is tested as a prefix's is; without bitcode in the tree, another place may have it."""
    llvm, bitcode = f"{TREE}/lib/llvm", "lib/llvm/amdgcn/bitcode/ocml.bc"
    said = answer.format(tree=site.tree)
    text = f"case $* in *-###*) echo '{said}' >&2 ;; *) echo {site.tree}/lib/llvm/lib/clang/20 ;; esac"
    own = [each for each in sample_members() if "/lib/llvm/bin/" not in each[0].name]
    own += [member(f"{llvm}/bin/clang", program(text), mode=0o755), member(f"{llvm}/lib/clang/20/include/stddef.h")]
    site.install_sdk(members=[*own, member(f"{TREE}/{bitcode}", b"BC")])
    site.command("init", "--quiet")
    found = run_test(site.path, "--only", "devel")
    assert {each["code"] for each in found.problems if each["severity"] == "error"} == codes
    (site.tree / bitcode).unlink()
    assert "E-PREFIX-010" not in run_test(site.path, "--only", "devel").codes


NO_HEADER = "echo \"x.hip:2:10: fatal error: 'vector' file not found\" >&2; exit 1"
OWN_REASON = "echo \"clang: error: unsupported option '--offload-host-only'\" >&2; exit 1"


@pytest.mark.parametrize(("answer", "is_missing"), [(NO_HEADER, True), (OWN_REASON, False)], ids=["header", "option"])
def test_hipcc_that_fails(site: DevelSite, answer: str, is_missing: bool) -> None:
    """A compiler of the system is to be installed for its headers alone."""
    extract(site, {"bin/hipcc": program(answer), "lib/llvm/bin/clang": program("exit 0")})
    found = run_test(site.path, "--only", "devel").only("E-DEVEL-005")
    assert ("vector" in found["fix"]) == is_missing
    assert ("g++" in found["fix"] or "C++ compiler of the system" in found["fix"]) == is_missing
    assert ("rocm-sdk test --deep" in found["fix"]) == (not is_missing)


# Directories of GCC, those with C++ headers, the one that clang takes, the header -> words of the fix (ROCm 4612).
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((("12", "14"), ("12",), "14", "cmath"), "libstdc++-14-dev"),
        ((("9", "11", "13"), ("11", "9"), "13", "vector"), "gcc-install-dir="),
        ((("14",), (), "14", "cmath"), "C++ headers"),
        ((("12",), ("12",), "12", "zlib.h"), "g++"),  # a header that no C++ library has
    ],
)
@pytest.mark.parametrize("code", ["E-DEVEL-005", "N-DEVEL-012"])
def test_a_gcc_without_its_headers(site: DevelSite, tmp_path: Path, row: Any, words: str, code: str) -> None:
    directories, with_headers, taken, header = row
    gcc = tmp_path / "usr/lib/gcc/x86_64-linux-gnu"
    for version in directories:
        (gcc / version).mkdir(parents=True)
    for version in with_headers:
        (tmp_path / f"usr/include/c++/{version}").mkdir(parents=True)
    error = f"echo \"x.hip:2:10: fatal error: '{header}' file not found\" >&2; exit 1"
    text = f'[ "$1" = -v ] && {{ echo "Selected GCC installation: {gcc}/{taken}" >&2; exit 0; }}; {error}'
    tree = {"include/hip/hip_runtime.h": b"\n", "amdgcn/bitcode/ocml.bc": b"\n"}
    if code == "E-DEVEL-005":
        tree |= {"bin/hipcc": program(text), "lib/llvm/bin/clang": program("exit 0")}
    else:
        put(tmp_path / "bin/clang++", text)
    extract(site, tree)
    said = run_test(site.path, "--only", "devel", PATH=f"{tmp_path}/bin", ROCM_SDK_ROOTFS=str(tmp_path))
    (found,) = (each for each in said.problems if each["code"] == code)
    if header != "zlib.h":
        assert f"the compiler takes {gcc}/{taken}" in found["cause"]
        assert f"C++ headers of GCC {taken}" in found["cause"]
        assert f"libstdc++-{taken}-dev" in found["fix"] or f"GCC {taken}" in found["fix"] or not with_headers
        assert not with_headers or f"--gcc-install-dir={gcc}/{with_headers[0]}" in found["fix"]
    else:
        assert "takes" not in found["cause"]
    assert words


# ---- a clang of the system, which `rocm-sdk env --compiler` would name

FAILS = "echo 'x.hip:1:1: error: no gfx1030'; exit 1"
NO_LIBRARY = "echo 'clang++-14: cannot load libLLVM-14.so.1' >&2; exit 127"
NO_BITCODE = "echo 'clang: error: cannot find ROCm device library for gfx1030; provide its path' >&2; exit 1"
NO_LINKER = 'case "$*" in *-fsyntax-only*) exit 0;; esac; echo "clang: error: unable to execute lld"; exit 1'


@pytest.fixture
def with_hip(site: DevelSite) -> DevelSite:
    """Return a tree with HIP's header and a device library."""
    return extract(site, dict.fromkeys(("include/hip/hip_runtime.h", "amdgcn/bitcode/ocml.bc"), b"\n"))


# clang++, clang++-19 -> what is blamed, and with which words; none: nothing.
@pytest.mark.parametrize(
    ("first", "second", "blamed", "words"),
    [
        (FAILS, "exit 0", "", ""),
        (NO_LIBRARY, "exit 0", "", ""),
        (NO_LIBRARY, FAILS, "clang++-19", "no gfx1030"),
        (FAILS, FAILS, "clang++", ", for gfx1030: x.hip:1:1: error: no gfx1030"),
        (NO_BITCODE, "exit 1", "", ""),
        (NO_LINKER, NO_LINKER, "clang++", "clang: error: unable to execute lld"),
    ],
    ids=["an old one", "one that does not load", "the one that starts", "the first of two", "no bitcode", "no linker"],
)
def test_clangs_of_the_system(  # noqa: PLR0917
    with_hip: DevelSite, tmp_path: Path, first: str, second: str, blamed: str, words: str
) -> None:
    clang = put(tmp_path / "bin/clang++", f'echo "$@" >>"$0.said"\n{first}')
    put(tmp_path / "bin/clang++-19", second)
    said = run_test(with_hip.path, "--only", "devel", PATH=f"{tmp_path}/bin", ROCM_SDK_ROOTFS=str(tmp_path))
    notes = [each for each in said.problems if each["code"] == "N-DEVEL-012"]
    assert [each["path"] for each in notes] == ([f"{tmp_path}/bin/{blamed}"] if blamed else [])
    assert all(each["cause"].endswith(words) for each in notes)
    is_said = any("lacks device libraries" in each for each in said.subject("devel")["not_tried"])
    assert is_said == (first == NO_BITCODE)
    tree = with_hip.tree
    flags = f"-x hip --rocm-path={tree} --rocm-device-lib-path={tree}/amdgcn/bitcode --offload-arch=gfx1030"
    assert clang.with_name("clang++.said").read_text().startswith(f"{flags} -c ")


def test_the_highest_version_is_tried_where_none_is_the_default(with_hip: DevelSite, tmp_path: Path) -> None:
    for version in (9, 21, 19):
        put(tmp_path / f"bin/clang++-{version}", 'echo >"$0.said"; exit 0')
    assert run_test(with_hip.path, "--only", "devel", PATH=str(tmp_path / "bin")).codes == set()
    assert [path.name for path in (tmp_path / "bin").glob("*.said")] == ["clang++-21.said"]
    (with_hip.tree / "include/hip/hip_runtime.h").unlink()
    (tmp_path / "bin/clang++-21.said").unlink()
    run_test(with_hip.path, "--only", "devel", PATH=str(tmp_path / "bin"))
    assert not list((tmp_path / "bin").glob("*.said")), "there is no tree for it"

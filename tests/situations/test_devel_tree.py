"""The subject `devel` of `rocm-sdk test`: what it says of the development tree."""

import os
import shutil
import time
from pathlib import Path

import pytest
from sample_devel import DevelSite, core_files, device_files, libraries_files, link, links_to, member, sample_members
from sample_report import run_test

from rocm_sdk.doctor.subjects.devel import _cmake_fault


@pytest.fixture
def extracted(tmp_path: Path) -> DevelSite:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    site.install("rocm-sdk-libraries", libraries_files())
    cmake = [member(f"_rocm_sdk_devel/lib/cmake/hip/{name}.cmake", b"set(x 1)\n") for name in ("a", "b")]
    runtime = links_to(core_files() | libraries_files())
    site.install_devel([member("_rocm_sdk_devel/__init__.py"), *cmake, *runtime])
    site.command("init")
    return site


def test_many_files_of_the_tree_are_one_problem(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    headers = [member(f"_rocm_sdk_devel/include/{number:02}.h", b"") for number in range(65)]
    site.install_devel([member("_rocm_sdk_devel/__init__.py"), *headers, *links_to(core_files())])
    site.command("init")
    for header in (site.tree / "include").iterdir():
        header.unlink()
    (found,) = run_test(site.path, "--only", "devel").problems
    assert found["title"].endswith("include/00.h (and 64 more)")
    assert found["cause"] == f"{found['path']} is missing; also 01.h, 02.h ..."
    assert found["facts"]["count"] == "65"


def test_links_that_were_copied_as_directories_are_one_problem(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    core = core_files() | {f"_rocm_sdk_core/lib/{number}/file": b"x" for number in range(10)}
    site.install("rocm-sdk-core", core)
    links = [link(f"_rocm_sdk_devel/lib/{number}", f"../../_rocm_sdk_core/lib/{number}") for number in range(10)]
    members = [
        member("_rocm_sdk_devel/__init__.py"),
        *links_to(core_files()),
        *links,
        link("_rocm_sdk_devel/lib64", "lib"),
    ]
    site.install_devel(members)
    site.command("init")
    copy = DevelSite(tmp_path / "copy/site-packages")
    copy.path.rmdir()
    shutil.copytree(site.path, copy.path)
    (found,) = run_test(copy.path, "--only", "devel").problems
    assert (found["code"], found["facts"]["count"]) == ("E-DEVEL-002", "12")  # with bin/amdclang
    assert "rocm-sdk-devel==7.10.0" in found["fix"]


def test_a_file_of_a_package_is_gone_and_the_tree_has_a_link_to_it(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    site.install_devel([member("_rocm_sdk_devel/__init__.py"), *links_to(core_files())])
    site.command("init")
    (site.core / "lib/libamdhip64.so.7").unlink()
    (found,) = run_test(site.path, "--only", "files,devel").problems
    assert (found["code"], found["path"]) == ("E-FILE-001", str(site.core / "lib/libamdhip64.so.7"))
    (same,) = run_test(site.path, "--only", "devel").problems
    assert (same["title"], same["fix"]) == (found["title"], found["fix"])


def test_a_cmake_package_that_cannot_be_read(extracted: DevelSite) -> None:
    (extracted.tree / "lib/cmake/hip/a.cmake").write_text("set(x 2\n")
    found = run_test(extracted.path, "--only", "devel").only("E-DEVEL-003")
    assert found["cause"] == "its parentheses are not balanced: 1 are opened, 0 closed"


def test_a_cmake_package_that_is_no_file(extracted: DevelSite) -> None:
    path = extracted.tree / "lib/cmake/hip/a.cmake"
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert run_test(extracted.path, "--only", "devel").only("E-DEVEL-003")["cause"] == "it is not a regular file"


def test_a_resource_directory_without_headers(extracted: DevelSite) -> None:
    """A prefix is judged by the same function."""
    clang = extracted.tree / "lib/llvm/bin/clang"
    clang.parent.mkdir(parents=True, exist_ok=True)
    clang.unlink(missing_ok=True)
    clang.write_text('#!/bin/sh\necho "${0%/bin/*}/lib/clang/20"\n')
    clang.chmod(0o755)
    resources = extracted.tree / "lib/llvm/lib/clang/20"
    resources.mkdir(parents=True)
    found = run_test(extracted.path, "--only", "devel").only("E-DEVEL-004")
    assert "the directory without include/stddef.h" in found["cause"]
    (resources / "include").mkdir()
    (resources / "include/stddef.h").touch()
    assert "E-DEVEL-004" not in run_test(extracted.path, "--only", "devel").codes


def test_what_a_compiler_leaves_goes(extracted: DevelSite, tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    for name in ("lib/llvm/bin/clang", "bin/hipcc"):
        program = extracted.tree / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.unlink(missing_ok=True)
        program.write_text(f'#!/bin/sh\necho said > "$TMPDIR/probe-$$.o"; echo >> {tmp_path}/{program.name}\n')
        program.chmod(0o755)
    run_test(extracted.path, "--only", "devel", TMPDIR=str(place))
    assert (tmp_path / "hipcc").exists()
    assert (tmp_path / "clang").read_text() == "\n"
    assert len(list(place.iterdir())) == 1, "that of clang -print-resource-dir, which compiles nothing"


def test_a_device_package_that_came_later(extracted: DevelSite) -> None:
    extracted.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    assert run_test(extracted.path, "--only", "devel").only("W-DEVEL-007")["fix"].startswith("rocm-sdk init")
    said = run_test(extracted.path, "--only", "devel", "--fix")
    assert "updated the development tree" in said.stderr
    assert said.codes == set()  # what was fixed is not listed
    assert run_test(extracted.path, "--only", "devel").codes == set()


def test_a_tool_that_came_later(extracted: DevelSite) -> None:
    """The builder, the loader and the variant provider are part of no SDK: the tree has no links to their files."""
    for name in ("rocm-sdk-build", "rocm-sdk-loader", "rocm_sdk_variant_provider"):
        extracted.install(name, {f"{name}_files/__init__.py": b""}, "0.1.0")
    assert "W-DEVEL-007" not in run_test(extracted.path, "--only", "devel").codes


def test_a_tree_elsewhere_is_not_fixed(extracted: DevelSite, tmp_path: Path) -> None:
    extracted.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    said = run_test(tmp_path, "--target", str(extracted.path), "--only", "devel", "--fix")
    assert "the development tree is unchanged" in said.stderr
    assert run_test(extracted.path, "--only", "devel").codes == {"W-DEVEL-007"}


def test_neither_archive_nor_tree(extracted: DevelSite) -> None:
    shutil.rmtree(extracted.tree)
    found = run_test(extracted.path, "--only", "devel").only("E-DEVEL-002")
    assert found["cause"] == f"{found['path']} has neither the archive nor the tree"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("set(x 1)", None),
        ('set(x ")")', None),
        ("set(x [[)]]) # )", None),
        ("#[=[ ) ]] ]=] set(x)", None),
        (r'set(x "\")" \) [^[:alnum:]])', None),
        ("set(x 1", "1 are opened, 0 closed"),
        ('set(x "1)', 'the text that begins with " does not end'),
        ("set(x [==[1]])", "the text that begins with [==[ does not end"),
        ("", "empty"),
        ("set(\0)", "not text"),
    ],
)
def test_cmake_texts(text: str, fault: str | None) -> None:
    found = _cmake_fault(text)
    assert found is None if fault is None else fault in str(found)


@pytest.mark.parametrize("text", ["[[" * 500_000, '"' * 1_000_001, "#[[" * 300_000, "\\" * 1_000_001, " [" * 500_000])
def test_cmake_garbage_takes_no_time(text: str) -> None:
    begin = time.monotonic()
    _cmake_fault(text)
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ('"-mlink-builtin-bitcode" "{tree}/lib/llvm/amdgcn/bitcode/ocml.bc"', set()),
        ('"-mlink-builtin-bitcode" "/opt/rocm/amdgcn/bitcode/ocml.bc"', {"E-PREFIX-010"}),
        ("clang: error: cannot find ROCm device library", {"E-PREFIX-010"}),
    ],
)
def test_the_clang_of_the_tree_takes_its_device_libraries(tmp_path: Path, answer: str, codes: set[str]) -> None:
    """The clang of a tree is tested as a prefix's is; without bitcode in the tree, another place may have it."""
    site = DevelSite(tmp_path / "site-packages")
    llvm, bitcode = "_rocm_sdk_devel/lib/llvm", "lib/llvm/amdgcn/bitcode/ocml.bc"
    said = answer.format(tree=site.tree)
    program = f"#!/bin/sh\ncase $* in *-###*) echo '{said}' >&2 ;; *) echo {site.tree}/lib/llvm/lib/clang/20 ;; esac\n"
    own = [each for each in sample_members() if "/lib/llvm/bin/" not in each[0].name]
    own += [member(f"{llvm}/bin/clang", program.encode(), mode=0o755), member(f"{llvm}/lib/clang/20/include/stddef.h")]
    site.install_sdk(members=[*own, member(f"_rocm_sdk_devel/{bitcode}", b"BC")])
    site.command("init", "--quiet")
    found = run_test(site.path, "--only", "devel")
    assert {each["code"] for each in found.problems if each["severity"] == "error"} == codes
    (site.tree / bitcode).unlink()
    assert "E-PREFIX-010" not in run_test(site.path, "--only", "devel").codes

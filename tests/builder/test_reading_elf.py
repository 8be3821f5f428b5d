"""Reading ELF files that compilers make and that damage has changed; the names that libraries hold of each other."""

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from programs import completed
from sample_device_code import bundle, compressed, library, objects
from small_debian import compile_library, fatbin_source

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.dlopen_dependencies import DlopenDependency, find_dlopen_dependencies, library_names
from rocm_sdk_build.inputs.file_kind import look_at
from rocm_sdk_build.inputs.prefix.target_code import in_hardware_order, read_offload_targets


def test_a_library_cut_off_anywhere_is_read_or_refused_by_name(tmp_path: Path) -> None:
    whole = compile_library(tmp_path / "whole", "libx.so.3", source=fatbin_source(["gfx90a"])).read_bytes()
    cut = tmp_path / "cut.so"
    refused = 0
    for size in range(0, len(whole), 64):
        cut.write_bytes(whole[:size])
        try:
            look_at(cut)
            read_offload_targets(cut)
        except PackagingError as error:
            assert str(error).startswith(f"{cut}: ")
            refused += 1
    assert refused > len(whole) // 64 // 2


def test_a_library_with_changed_bytes_is_read_or_refused_by_name(tmp_path: Path) -> None:
    whole = compile_library(tmp_path / "whole", "libx.so.3", source=fatbin_source(["gfx90a"])).read_bytes()
    changed = tmp_path / "changed.so"
    random = Random(20)
    refused = 0
    for _ in range(600):
        content = bytearray(whole)
        for _ in range(random.choice((1, 4, 16))):  # near the headers, which lie at both ends
            content[random.choice((1, -1)) * random.randrange(1, 1500)] = random.choice((0, 1, 127, 128, 255))
        changed.write_bytes(content)
        try:
            look_at(changed)
            read_offload_targets(changed)
        except PackagingError as error:
            assert str(error).startswith(f"{changed}: ")
            refused += 1
    assert 50 < refused < 600


def test_program_headers_of_a_wrong_size(tmp_path: Path) -> None:
    """A sparse file has room for any: 4 GB of them were read."""
    path = compile_library(tmp_path / "libx.so")
    with path.open("r+b") as file:
        file.truncate(1 << 33)
        file.seek(54)
        file.write(b"\xff\xff\xff\xff")  # e_phentsize, e_phnum
    code = f"from pathlib import Path\nfrom rocm_sdk_build.inputs.file_kind import *\nlook_at(Path({str(path)!r}))"
    limited = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))\n{code}"
    told = completed([sys.executable, "-c", limited]).stderr.splitlines()[-1]
    assert told.endswith(f"{path}: is damaged: its program headers are not of the size that they must have")


def test_device_code_targets(tmp_path: Path) -> None:
    source = fatbin_source(["gfx1030", "gfx90a:xnack+", "gfx90a:xnack-", "gfx803"])
    targets = read_offload_targets(compile_library(tmp_path / "a.so", source=source))
    assert in_hardware_order(targets) == ["gfx803", "gfx90a", "gfx1030"]
    assert read_offload_targets(compile_library(tmp_path / "b.so")) == frozenset()


def test_targets_of_compressed_code(tmp_path: Path) -> None:
    """A search for the first bytes of bundles finds none there, and in the data of others some that are none."""
    code = objects("gfx1030", "gfx90a:xnack-", size=5000)
    decoy = {"hipv4-amdgcn-amd-amdhsa--gfx942": bundle(objects("gfx90a"))}
    path = library(tmp_path / "liba.so", [compressed(bundle(code), 3), bundle(code | decoy)])
    assert read_offload_targets(path) == {"gfx1030", "gfx90a", "gfx942"}


def test_dlopen_dependencies(tmp_path: Path) -> None:
    site = tmp_path / "site"
    nested = site / "_rocm_sdk_core/lib/rocm_sysdeps/lib"
    needed = compile_library(nested / "libneeded.so.1", "libneeded.so.1")
    compile_library(nested / "liblate-opened.so.2", "liblate-opened.so.2")
    compile_library(site / "libindevice.so.1", "libindevice.so.1")
    names = ["liblate-opened.so", "dlopen: liblate-opened.so.2 failed", "libneeded.so.1", "libself.so.1", "libno.so"]
    text = "".join(f'const char *name{number}(void) {{ return "{name}"; }}\n' for number, name in enumerate(names))
    text += '__attribute__((section(".hip_fatbin"), used)) static const char device[] = "libindevice.so.1";\n'
    compile_library(site / "libself.so.1", "libself.so.1", [needed], text)
    (site / "libscript.so").write_text("INPUT(liblate-opened.so.2)\n")

    expected = [
        DlopenDependency("libself.so.1", "liblate-opened.so"),
        DlopenDependency("libself.so.1", "liblate-opened.so.2"),
    ]
    assert find_dlopen_dependencies(site) == expected
    command = [sys.executable, "-m", "rocm_sdk_build", "dlopen-dependencies"]
    result = subprocess.run([*command, str(site)], capture_output=True, text=True, check=True)
    assert result.stdout == "libself.so.1 -> liblate-opened.so\nlibself.so.1 -> liblate-opened.so.2\n"
    result = completed([*command, str(tmp_path / "absent")])
    assert result.returncode == 2
    assert result.stderr.startswith(f"rocm-sdk-build: {tmp_path}/absent: there is no such directory\n  fix: ")


def test_dlopen_dependencies_of_a_damaged_library(tmp_path: Path) -> None:
    (tmp_path / "libbroken.so.1").write_bytes(b"\x7fELF and nothing more")
    with pytest.raises(PackagingError, match=r"libbroken\.so\.1: not a readable shared library"):
        find_dlopen_dependencies(tmp_path)


def test_names_in_data_that_repeats_how_they_begin(tmp_path: Path) -> None:
    """The time grows with the data alone: a name of 4 MB that never ends took hours."""
    lines = [".section .rodata", ".rept 1400000", ".ascii 'lib'", ".endr", ".asciz '-libx.so.12.soliby.so'", ".text"]
    assembly = "".join(f'asm("{line}");\n'.replace("'", '\\"') for line in lines)
    path = compile_library(tmp_path / "libmany.so", source=f'{assembly}const char *name = "libz.so.1";\n')
    started = time.process_time()
    names = library_names(path)
    assert time.process_time() - started < 5
    assert {name.rpartition("-")[2] for name in names} == {"libz.so.1", "libx.so.12", "liby.so"}

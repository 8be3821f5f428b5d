"""`rocm-sdk run`: real programs, linked with the SDK's libraries and without any RPATH."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled_files import compile_file
from ended import assert_failed, succeeded
from programs import completed
from sample_device_code import bundle, library, objects
from sample_machine import Machine, machine_of
from sample_site import CORE, LIBRARIES, Site

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


def compile_program(path: Path, source: str, *libraries: Path) -> Path:
    return compile_file(["cc", "-x", "c", "-", "-x", "none", "-Wl,--allow-shlib-undefined", *libraries], path, source)


def test_a_program_finds_its_libraries(call: Call, sdk: Site, tmp_path: Path) -> None:
    source = '#include <stdio.h>\nint hip_answer(void);\nint main(void) { printf("%d\\n", hip_answer()); return 7; }'
    program = compile_program(tmp_path / "answer", source, sdk.path / CORE / "lib/libamdhip64.so.7")
    alone = completed([program])
    assert "libamdhip64.so.7: cannot open shared object file" in alone.stderr
    result = call("run", str(program))
    assert (result.returncode, result.stdout, result.stderr) == (7, "42\n", "")


def test_a_tool_of_the_sdk_with_options(call: Call, sdk: Site) -> None:
    tool = sdk.write(f"{CORE}/bin/rocm-sample-tool", '#!/bin/sh\nprintf "<%s>" "$0" "$@"\n')
    tool.chmod(0o755)
    result = call("run", "rocm-sample-tool", "--json", "-x", "two words", "--", "*", "--help")
    assert result.stdout == f"<{tool}><--json><-x><two words><--><*><--help>"
    assert call("run", "--", "rocm-sample-tool", "--help").stdout == f"<{tool}><--help>"


def test_a_copy_of_a_library_that_the_command_has_loaded(call: Call, sdk: Site, tmp_path: Path) -> None:
    """The program gets the SDK's own, as it has not loaded the system's."""
    copy = sdk.library("libz.so.1", "int own_z(void) { return 7; }", directory="lib/rocm_sysdeps/lib")
    source = "int own_z(void); int hiprand(void) { return own_z(); }"
    hiprand = sdk.library("libhiprand.so.1", source, needed=(copy,), package=LIBRARIES)
    program = compile_program(tmp_path / "answer", "int hiprand(void); int main(void) { return hiprand(); }", hiprand)
    result = call("run", str(program))
    assert (result.returncode, result.stdout, result.stderr) == (7, "", "")


@pytest.mark.parametrize("before", [{}, {"LD_LIBRARY_PATH": "/before"}], ids=["unset", "set"])
def test_nothing_else_in_the_environment_changes(script: Path, sdk: Site, before: dict[str, str]) -> None:
    environment = {"PYTHONPATH": str(sdk.path), "PATH": "/usr/bin:/bin", "ODD": "line\nline", **before}
    result = succeeded([str(script), "run", "env", "-0"], env=environment)
    after = dict(line.split("=", 1) for line in result.stdout.split("\0") if line)
    ours = f"{sdk.path}/{CORE}/lib:{sdk.path}/{LIBRARIES}/lib"
    entries = after["LD_LIBRARY_PATH"].split(":")
    links = [each for each in entries if "/rocm-sdk-run-" in each]
    expected = ":".join([ours, *links, *before.values()])
    assert len(links) == 1, "libamdhip64.so, which the packages do not have"
    assert after == environment | {"LD_LIBRARY_PATH": expected}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--gpu", "discrete"], {"HIP_VISIBLE_DEVICES": "1"}),
        (["--gpu=supported"], {"HIP_VISIBLE_DEVICES": "1"}),
        (["--gpu", "0", "--layer", "rocr"], {"ROCR_VISIBLE_DEVICES": "0"}),
    ],
)
def test_a_program_for_some_gpus(
    call: Call, sdk: Site, tmp_path: Path, words: list[str], expected: dict[str, str]
) -> None:
    """The SDK has code for gfx1030, and none for the APU in front of it."""
    library(sdk.path / LIBRARIES / "lib/librocblas.so.5", [bundle(objects("gfx1030"))])
    machine = machine_of(tmp_path / "machine", "gfx1036", "gfx1030")
    result = call("run", *words, "env", "-0", ROCM_SDK_ROOTFS=str(machine.root), CUDA_VISIBLE_DEVICES="0,1")
    after = dict(line.split("=", 1) for line in result.stdout.split("\0") if line)
    assert {name: value for name, value in after.items() if name.endswith("_VISIBLE_DEVICES")} == (
        expected if "rocr" in words else expected | {"CUDA_VISIBLE_DEVICES": "0,1"}
    )


def test_a_program_without_the_cache_of_comgr(call: Call, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, "gfx1030")
    show = ("sh", "-c", 'echo "$AMD_COMGR_CACHE $HIP_VISIBLE_DEVICES"')
    assert call("run", "--no-comgr-cache", *show, AMD_COMGR_CACHE="1").stdout == "0 \n"
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    assert call("run", "--gpu", "0", "--no-comgr-cache", *show, **root).stdout == "0 0\n"
    assert call("run", "--gpu", "0", *show, AMD_COMGR_CACHE="1", **root).stdout == "1 0\n"


def test_no_program_without_a_gpu(call: Call, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, "gfx1100")
    result = call("run", "--gpu", "integrated", "touch", str(tmp_path / "started"), ROCM_SDK_ROOTFS=str(machine.root))
    assert_failed(result, 1, "[E-GPU-008]")
    assert not (tmp_path / "started").exists()


def test_directories_only_where_rpaths_do_not_lead(script: Path, tmp_path: Path) -> None:
    """Libraries that find what they need by themselves do not put its directory into everybody's search path."""
    for rpath, wanted in (("none", True), ("rpath", False)):
        site = Site(tmp_path / rpath, rpath=rpath)
        host = site.library("libsamplehost.so.1", directory="lib/rocm_sysdeps/lib")
        flags = (f"-Wl,-rpath,{host.parent}",) if rpath == "rpath" else ()
        site.library("libamdhip64.so.7", needed=(host,), flags=flags)
        command = [str(script), "run", "printenv", "LD_LIBRARY_PATH"]
        result = succeeded(command, env={**os.environ, "PYTHONPATH": str(site.path)})
        assert (str(host.parent) in result.stdout) is wanted


def test_the_process_becomes_the_program(script: Path, sdk: Site) -> None:
    """The program has the process ID, the signals and the descriptors of the command.

    A pipe that closes ends the program as it would without us.
    """
    environment = {**os.environ, "PYTHONPATH": str(sdk.path)}
    loop = 'trap "exit 5" TERM; echo $$; while :; do sleep 0.05; done'
    command = [str(script), "run", "sh", "-c", loop]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.terminate()
        assert (pid, process.wait(timeout=10)) == (process.pid, 5)
    with subprocess.Popen([str(script), "run", "yes"], env=environment, stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        endless.stdout.close()
        assert endless.wait(timeout=10) == -signal.SIGPIPE


def test_programs_that_cannot_start(call: Call, tmp_path: Path) -> None:
    missing = call("run", "no-such-program")
    assert (missing.returncode, missing.stdout) == (127, "")
    assert missing.stderr == "rocm-sdk: no-such-program: no such program in the SDK or in PATH\n"
    (tmp_path / "text").write_text("no program\n")
    refused = call("run", str(tmp_path / "text"))
    assert (refused.returncode, refused.stdout) == (126, "")
    assert refused.stderr == f"rocm-sdk: {tmp_path}/text: Permission denied\n"


def test_a_program_of_the_development_tree_extracts_it(call: Call, sdk: Site, devel_tree: Path) -> None:
    assert devel_tree
    content = sdk.path.parent / "devel/_rocm_sdk_devel/bin"
    (content / "sample-tool").write_text('#!/bin/sh\necho "$0 $1"\n')
    (content / "sample-tool").chmod(0o755)
    archive = sdk.path / "rocm_sdk_devel/_devel.tar"
    subprocess.run(["tar", "-C", str(sdk.path.parent / "devel"), "-cf", str(archive), "_rocm_sdk_devel"], check=True)
    tree = sdk.path / "_rocm_sdk_devel"
    assert call("run", "true").returncode == 0
    assert not tree.exists(), "the system has this one"
    result = call("run", "sample-tool", "word")
    assert (result.returncode, result.stdout) == (0, f"{tree}/bin/sample-tool word\n")
    assert "Extracting" in result.stderr
    assert call("run", "sample-tool", "word").stderr == ""
    assert call("run", "no-such-tool").returncode == 127


def test_without_a_program_it_says_what_to_type(call: Call) -> None:
    result = call("run")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "rocm-sdk: no program is named\n  fix: name one: rocm-sdk run ./saxpy --size 1000\n"


ANSWER = '#include <stdio.h>\nint sparse(void);\nint main(void) { printf("%d\\n", sparse()); }'


def sparse_site(path: Path, number: int, sparse_file: str = "librocsparse.so.1") -> tuple[Site, Path]:
    """Make libraries that answer with their number, without RPATHs.

    The file of librocsparse may have another name than its SONAME.
    """
    site = Site(path)
    hip = site.library("libamdhip64.so.7", f"int hip(void) {{ return {number}; }}")
    roc = site.library(
        "librocsparse.so.1", f"int hip(void); int roc(void) {{ return {number}00 + hip(); }}", (hip,), LIBRARIES
    )
    library = site.library(
        "libhipsparse.so.4", "int roc(void); int sparse(void) { return roc(); }", (roc, hip), LIBRARIES
    )
    roc.rename(roc.with_name(sparse_file))
    return site, library


def test_a_library_with_another_file_name(call: Call, tmp_path: Path) -> None:
    """The dynamic linker does not look for it under that name; the plan knows it."""
    site, library = sparse_site(tmp_path / "site", 7, "librocsparse-gfx942.so.1")
    program = compile_program(tmp_path / "answer", ANSWER, library)
    result = call("run", str(program), PYTHONPATH=str(site.path))
    assert (result.returncode, result.stdout, result.stderr) == (0, "707\n", "")
    own = call("run", "printenv", "LD_PRELOAD", PYTHONPATH=str(site.path), LD_PRELOAD="libc.so.6").stdout
    assert own == f"{site.path}/{LIBRARIES}/lib/librocsparse-gfx942.so.1:libc.so.6\n"


def test_an_override_brings_nothing_else_of_its_directory(call: Call, tmp_path: Path) -> None:
    site, library = sparse_site(tmp_path / "site", 7)
    other, _ = sparse_site(tmp_path / "other", 9)
    for file in (other.path / LIBRARIES / "lib").iterdir():
        file.rename(other.path / CORE / "lib" / file.name)
    program = compile_program(tmp_path / "answer", ANSWER, library)
    hip = other.path / CORE / "lib/libamdhip64.so.7"
    result = call("run", str(program), PYTHONPATH=str(site.path), ROCM_SDK_LIBRARY_amdhip64=str(hip))
    assert (result.stdout, result.stderr) == ("709\n", "")


def test_a_file_that_cannot_be_preloaded_is_named(call: Call, tmp_path: Path) -> None:
    site, _ = sparse_site(tmp_path / "two words", 7, "librocsparse-gfx942.so.1")
    result = call("run", "true", PYTHONPATH=str(site.path))
    file = site.path / LIBRARIES / "lib/librocsparse-gfx942.so.1"
    assert result.returncode == 0
    assert f"{file} cannot be preloaded into programs: its path has a blank or a colon" in result.stderr

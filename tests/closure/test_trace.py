"""`closure --trace`: files that a run of the application uses stay, although no rule finds them."""

import sys
from pathlib import Path

import pytest
from sample_closure import PROVED, closure, names_in
from system_programs import need

from rocm_sdk_build.closure.choosing.trace import Use, uses

APPLICATION = """
import ctypes, os, subprocess, sys
import rocm_sdk
rocm_sdk.preload_libraries("hipsparse")
core = os.path.dirname(os.path.dirname(rocm_sdk.locate("amdhip64").path))
os.stat(f"{core}/lib/llvm/amdgcn/bitcode/ocml.bc")
subprocess.run([f"{core}/bin/rocminfo"], check=True)
os.chdir(os.path.dirname(rocm_sdk.locate("rocsparse").path))
ctypes.CDLL("./libunused.so")
os.path.exists("no-such-file.table")
print("the application's own words")
"""


@pytest.fixture
def application(tmp_path: Path) -> Path:
    need("strace")
    path = tmp_path / "app.py"
    path.write_text(APPLICATION)
    return path


@pytest.mark.slow
def test_what_a_run_uses_stays(sdk: Path, tmp_path: Path, application: Path) -> None:
    words = ("--library", "hipsparse", "--gpu", "gfx1030", "--output", tmp_path / "out")
    done = closure(sdk, PROVED, *words, "--trace", "--", sys.executable, application)
    names = names_in(tmp_path / "out")
    assert {"ocml.bc", "rocminfo", "libunused.so", "libunused.so.1"} <= names
    assert not {"librocblas.so.5", "librocsolver.so.0", "stddef.h"} & names
    lines = done.stdout.splitlines()
    assert "traced: 3 files that no rule finds" in lines
    wanted = "looked for when traced; no row of data_files.txt leads to it"
    assert any(line.endswith(f"ocml.bc: {wanted}") for line in lines)
    assert any("rocminfo: started when traced" in line for line in lines)
    assert any("libunused.so.1: mapped when traced; no row of the table of dlopen" in line for line in lines)
    assert "traced without a GPU: what kernels load was not seen" in lines
    assert "the application's own words" not in done.stdout
    assert "the application's own words" in done.stderr


def test_headers_that_the_loader_reads_do_not_count(sdk: Path, tmp_path: Path, application: Path) -> None:
    application.write_text("import rocm_sdk; rocm_sdk.load_plan('rocblas'); rocm_sdk.preload_libraries('hipsparse')")
    words = ("--library", "hipsparse", "--output", tmp_path / "out")
    done = closure(sdk, *words, "--trace", "--", sys.executable, application)
    assert "traced: 0 files that no rule finds" in done.stdout
    assert "librocblas.so.5" not in names_in(tmp_path / "out")


REFUSALS = {
    "it fails": (("--trace", "--", sys.executable, "-c", "raise SystemExit(3)"), "ends with status 3", 1),
    "no program": (("--trace", "--", "no-such-program"), "no-such-program: not found", 2),
    "an empty name": (("--trace", "--", ""), "--trace: '': not found", 2),
    "a directory": (("--trace", "--", "/usr"), "--trace: /usr: is not a program that this user may start", 1),
    "no command": (("--trace",), "--trace runs a command", 2),
    "no option": (("--", "python"), "a command needs --trace", 2),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.usefixtures("application")
def test_refusals(sdk: Path, tmp_path: Path, case: str) -> None:
    words, message, status = REFUSALS[case]
    output = ("--library", "hipsparse", "--output", tmp_path / "out")
    done = closure(sdk, *output, *words, check=False)
    assert done.returncode == status
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.py"]


LINES = """\
7 execve("/usr/bin/x", ["x"], 0x7ffd /* 20 vars */) = 0
7 openat(AT_FDCWD</work>, "lib/liba.so", O_RDONLY|O_CLOEXEC) = 3</sdk/liba.so.1>
8 openat(AT_FDCWD</work>, "missing", O_RDONLY) = -1 ENOENT (No such file or directory)
7 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</sdk/liba.so.1>, 0) = 0x7f00
7 mmap(0x7f01, 4096, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED, 3</sdk/liba.so.1>, 0x1000) = 0x7f01
8 newfstatat(5</sdk/share>, "a \\"b\\303\\274\\n", {st_mode=S_IFREG|0644, st_size=3, ...}, 0) = 0
7 stat("/cut <unfinished ...>
8 access("/other", F_OK) = 0
7 <... stat resumed>/off", {st_mode=S_IFREG|0644, ...}) = 0
8 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
8 +++ exited with 0 +++
nonsense
7 <... stat resumed>
7 readlink("/cut",
"""


def test_lines_of_strace() -> None:
    assert list(uses(LINES.splitlines(keepends=True))) == [
        Use("/usr/bin/x", "execve"),
        Use("/work/lib/liba.so", "openat"),
        Use("/sdk/liba.so.1", "openat"),
        Use("/sdk/liba.so.1", "mmap"),
        Use("/sdk/liba.so.1", "mmap"),
        Use('/sdk/share/a "bü\n', "newfstatat"),
        Use("/other", "access"),
        Use("/cut/off", "stat"),
    ]

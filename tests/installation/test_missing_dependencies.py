"""A build that lacks something says in one line what to install on Debian/Ubuntu and on Fedora, and nothing else.

The lack is made with PATH, CC and PKG_CONFIG_LIBDIR; a compiler that lacks headers is gcc behind a shell script.
"""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]

WHEEL = ("pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", "wheels", ".")
EDITABLE = ("pip", "install", "--no-build-isolation", "--no-deps", "--target", "installed", "--editable", ".")


def complaint(run: "subprocess.CompletedProcess[str]") -> str:
    """Return the line that a failed build says; no traceback or compiler output surrounds it."""
    output = run.stdout + run.stderr
    assert run.returncode != 0, output
    lines = [line.strip() for line in output.splitlines() if "rocm-sdk-loader: " in line]
    assert len(lines) == 1, output
    for noise in ("Traceback", "error: command", "fatal error", "compilation terminated"):
        assert noise not in output, output
    return lines[0]


def compiler_without(directory: Path, header: str) -> str:
    """Write a gcc that does not find `header`, or headers whose names end so, and return its path."""
    script = directory / "gcc-without"
    lines = f'lines=$(printf "%s\\n" "$source" | grep -F "{header}")'
    refuse = f'source=$(cat); if {lines}; then echo "fatal error: $lines" >&2; exit 1; fi'
    script.write_text(f'#!/bin/sh\n{refuse}\nprintf "%s\\n" "$source" | {shutil.which("gcc")} "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize("command", [WHEEL, EDITABLE], ids=["wheel", "editable"])
def test_no_compiler_and_no_pkgconf(run_module: Run, command: tuple[str, ...]) -> None:
    """As in a minimal system: all is named at once."""
    assert complaint(run_module(*command, PATH="/nonexistent", CC="gcc")) == (
        "rocm-sdk-loader: no C compiler (gcc is not in PATH); "
        "no pkgconf (pkg-config is not in PATH), which tells where libelf is; install them: "
        "`apt-get install gcc pkgconf` (Debian, Ubuntu) or `dnf install gcc pkgconf-pkg-config` (Fedora)"
    )


@pytest.mark.parametrize("command", [WHEEL, EDITABLE], ids=["wheel", "editable"])
def test_no_libelf(run_module: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    line = complaint(run_module(*command, PKG_CONFIG_LIBDIR=str(tmp_path), PKG_CONFIG_PATH=""))
    assert "libelf" in line
    assert "`apt-get install libelf-dev`" in line
    assert "`dnf install elfutils-libelf-devel`" in line


def test_no_pkgconf(run_module: Run, tmp_path: Path) -> None:
    # A PATH with all that the compiler needs, and no pkgconf or pkg-config.
    for name in ("gcc", "as", "ld", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    line = complaint(run_module(*WHEEL, PATH=str(tmp_path), CC="gcc"))
    assert "no pkgconf (pkg-config is not in PATH)" in line
    assert "`apt-get install pkgconf`" in line
    assert "`dnf install pkgconf-pkg-config`" in line


@pytest.mark.parametrize(
    ("header", "debian", "fedora"),
    [
        ("stdlib.h", "libc6-dev", "glibc-devel"),
        ("gelf.h", "libelf-dev", "elfutils-libelf-devel"),
        ("Python.h", "python3-dev", "python3-devel"),
    ],
)
def test_no_header(run_module: Run, tmp_path: Path, header: str, debian: str, fedora: str) -> None:
    line = complaint(run_module(*WHEEL, CC=compiler_without(tmp_path, header)))
    assert header in line
    assert f"`apt-get install {debian}`" in line
    assert f"`dnf install {fedora}`" in line


def test_no_header_at_all(run_module: Run, tmp_path: Path) -> None:
    """libelf.pc and its header are in one package, which is named once."""
    line = complaint(run_module(*WHEEL, CC=compiler_without(tmp_path, ".h>"), PKG_CONFIG_LIBDIR=str(tmp_path)))
    assert line.endswith(
        "; install them: `apt-get install libelf-dev libc6-dev python3-dev` (Debian, Ubuntu) or "
        "`dnf install elfutils-libelf-devel glibc-devel python3-devel` (Fedora)"
    )


def test_not_glibc(run_module: Run, tmp_path: Path) -> None:
    script = tmp_path / "musl-gcc"
    script.write_text(f'#!/bin/sh\nsed "/features.h/a #undef __GLIBC__" | {shutil.which("gcc")} "$@"\n')
    script.chmod(0o755)
    line = complaint(run_module(*WHEEL, CC=str(script)))
    assert "needs the GNU C library (glibc)" in line
    assert "musl" in line


def test_not_linux(run_module: Run, source_tree: Path) -> None:
    setup = source_tree / "setup.py"
    setup.write_text(setup.read_text().replace("\nsetup(\n", "\nsys.platform = 'darwin'\nsetup(\n"))
    assert "builds on Linux only" in complaint(run_module("setup", "build_clib"))


def test_source_distribution_needs_no_compiler(run_module: Run, source_tree: Path) -> None:
    run = run_module("build", "--no-isolation", "--sdist", ".", PATH="/nonexistent", CC="gcc")
    assert run.returncode == 0, run.stdout + run.stderr
    assert list((source_tree / "dist").glob("rocm_sdk_loader-*.tar.gz"))


def test_this_machine_lacks_nothing() -> None:
    """The tests above fail for the reason they name: with nothing taken away, what they take away is there."""
    assert shutil.which("gcc")
    assert shutil.which("pkgconf") or shutil.which("pkg-config")
    assert (Path(sysconfig.get_path("include")) / "Python.h").exists()
    assert sys.platform == "linux"


def test_the_first_error_ends_the_build(run_module: Run, source_tree: Path, tmp_path: Path) -> None:
    """Compilers run at the same time. None begins after the first error."""
    starts, script = tmp_path / "starts", tmp_path / "gcc-of-sources"
    # The first source waits until a second compiler has begun. Then it fails, while the second one still runs.
    script.write_text(
        '#!/bin/sh\ncase "$*" in *" -c csrc/"*) ;; *) exec gcc "$@" ;; esac\n'
        f"mkdir {tmp_path}/first 2>/dev/null || {{ echo >>{starts}; sleep 2; exit; }}\n"
        f"for i in $(seq 200); do [ -e {starts} ] && break; sleep 0.05; done; echo failed as asked >&2; exit 1\n"
    )
    script.chmod(0o755)
    run = run_module(*WHEEL[:2], "-v", *WHEEL[2:], CC=str(script), MAX_JOBS="2")
    output = run.stdout + run.stderr
    assert run.returncode != 0
    assert "failed as asked" in output
    assert f"compiling {len([*(source_tree / 'csrc').rglob('*.c')])} files with " in output
    if " files with 1 process\n" in output:
        pytest.skip("this machine gives one processor")
    assert len(starts.read_text()) == 1


@pytest.mark.parametrize("value", ["0", "many", "-1", "2.5"])
def test_wrong_number_of_compilers(run_module: Run, value: str) -> None:
    assert f"MAX_JOBS={value}: " in complaint(run_module(*WHEEL, MAX_JOBS=value))

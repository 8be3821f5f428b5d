"""`rocm-sdk init --check`: every kind of damage is found and named, with its fix."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_devel import DevelSite, device_files, sample_members, write


def rewrite(path: Path, data: bytes) -> None:
    write(path, data)


def flip(path: Path) -> None:
    data = path.read_bytes()
    facts = path.stat()
    write(path, bytes([data[0] ^ 1]) + data[1:])
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def replace_by_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


DAMAGES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "missing": ("include/hip/hip_runtime.h", Path.unlink, "is missing"),
    "content": ("lib/libstatic.a", flip, "has another content"),
    "size": ("lib/libstatic.a", lambda path: rewrite(path, b""), "has another content"),
    "mode": ("bin/tool", lambda path: path.chmod(0o644), "has mode 644 instead of 755"),
    "type": ("include/hip/hip_runtime.h", replace_by_link, "is no longer a file"),
    "link": ("llvm", lambda path: (path.unlink(), path.symlink_to("lib"))[0], "is not the link to lib/llvm any longer"),
    "link gone": ("llvm", Path.unlink, "is missing"),
    "directory": ("empty", Path.rmdir, "is missing"),
    "subtree": ("include/hip", shutil.rmtree, "is missing"),
    "file for directory": (
        "include/hip",
        lambda path: (shutil.rmtree(path), path.write_text(""))[0],
        "a file is in place of its directory",
    ),
    "file for directory with links": (
        "lib",
        lambda path: (shutil.rmtree(path), path.write_text(""))[0],
        "a file is in place of its directory",
    ),
    "link for directory with links": (
        "lib",
        lambda path: (shutil.rmtree(path), path.symlink_to("lib"))[0],
        "cannot be read: Too many levels of symbolic links",
    ),
}


def test_sound(devel_site: DevelSite) -> None:
    devel_site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    devel_site.command("init", "--quiet")
    result = devel_site.command("init", "--check")
    assert (result.stdout, result.stderr) == (f"{devel_site.tree}\n", "")


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found(devel_site: DevelSite, name: str) -> None:
    devel_site.command("init", "--quiet", umask=0o022)
    path, damage, said = DAMAGES[name]
    damage(devel_site.tree / path)
    result = devel_site.command("init", "--check", check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr
    assert path in result.stderr
    assert re.search(r" install .* rocm-sdk-devel==7\.10\.0 .*&& rocm-sdk init\n", result.stderr)
    quiet = devel_site.command("init", "--check", "--quiet", check=False)
    assert (quiet.returncode, quiet.stderr) == (1, "")


def test_runtime_files_are_linked_again(devel_site: DevelSite) -> None:
    devel_site.command("init", "--quiet")
    for name in ("bin/hipcc", "lib/libamdhip64.so.7"):
        (devel_site.tree / name).unlink()
    (devel_site.tree / "bin/amdclang").unlink()
    devel_site.command("init", "--check")
    assert (devel_site.tree / "bin/hipcc").samefile(devel_site.core / "bin/hipcc")
    assert (devel_site.tree / "bin/amdclang").is_symlink()


def test_a_package_that_has_gone(devel_site: DevelSite) -> None:
    devel_site.command("init", "--quiet")
    shutil.rmtree(devel_site.path / "_rocm_sdk_libraries")
    shutil.rmtree(devel_site.record("rocm-sdk-libraries").parent)
    result = devel_site.command("init", "--check", check=False)
    assert result.returncode == 1
    assert "lib/libhiprand.so.1 belongs to a package that is not installed" in result.stderr
    assert " install " in result.stderr
    assert "'rocm[libraries]==7.10.0'" in result.stderr
    assert "force-reinstall" not in result.stderr


def test_a_missing_file_of_a_package_that_is_installed(devel_site: DevelSite) -> None:
    devel_site.command("init", "--quiet")
    (devel_site.core / "lib/libamdhip64.so.7").unlink()
    result = devel_site.command("init", "--check", check=False)
    assert result.returncode == 1
    link = devel_site.tree / "lib/libamdhip64.so.7"
    assert f"lib/libamdhip64.so.7 is missing, and {link} is a link to it" in result.stderr
    assert "belongs to a package that is not installed" not in result.stderr
    assert re.search(r" install .* rocm-sdk-core==7\.10\.0", result.stderr)


@pytest.mark.parametrize("text", ["", "{}", '{"format": 7}', '{"format": 1, "archive": [1, 2], "entries": []}'])
def test_a_damaged_manifest(devel_site: DevelSite, text: str) -> None:
    devel_site.command("init", "--quiet")
    (devel_site.tree / ".rocm-sdk/manifest.json").write_text(text)
    result = devel_site.command("init", "--check", check=False)
    assert result.returncode == 1
    assert "manifest.json is damaged" in result.stderr
    devel_site.install_devel(sample_members())
    devel_site.command("init", "--check")


def test_a_tree_that_another_program_extracted(devel_site: DevelSite) -> None:
    devel_site.command("init", "--quiet")
    shutil.rmtree(devel_site.tree / ".rocm-sdk")
    assert devel_site.command("path", "--root").stdout == f"{devel_site.tree}\n"
    result = devel_site.command("init", "--check", check=False)
    assert result.returncode == 1
    assert "has no manifest" in result.stderr

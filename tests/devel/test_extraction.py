"""`rocm-sdk init` on sound archives: the content of the tree, and that nothing else is left."""

import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused, succeeded
from sample_devel import DevelSite, core_files, devel_files, libraries_files, link, member, sample_members

from rocm_sdk.base.zstd import ZSTD_FIX

MakeSite = Callable[..., DevelSite]
NOTES = {"manifest.json", "device_links.json", "stamp"}


def check_tree(site: DevelSite) -> None:
    tree = site.tree
    assert (tree / "include/hip/hip_runtime.h").read_bytes() == b"/* hip */\n" * 100
    assert (tree / "include/hip/hip_runtime.h").stat().st_mtime == 1_700_000_000
    assert (tree / "include/hip/hip_runtime.h").samefile(tree / "include/hip/same.h")
    assert (tree / "lib/libstatic.a").stat().st_size == 3_000_000
    assert (tree / "empty").is_dir()
    assert (tree / "llvm").readlink() == Path("lib/llvm")
    assert os.access(tree / "bin/tool", os.X_OK)
    assert not os.access(tree / "include/hip/hip_runtime.h", os.X_OK)
    for name in ("bin/hipcc", "lib/libamdhip64.so.7"):
        assert not (tree / name).is_symlink()
        assert (tree / name).samefile(site.core / name)
    assert (tree / "lib/libamdhip64.so").samefile(site.core / "lib/libamdhip64.so.7")
    assert (tree / "bin/amdclang").is_symlink()
    assert (tree / "bin/amdclang").samefile(site.core / "bin/amdclang")


def check_record(site: DevelSite) -> None:
    """Check that RECORD lists everything once, and no absent files except the archive and notes not written yet."""
    rows = site.rows()
    assert len(rows) == len(set(rows))
    files = {
        str(path.relative_to(site.path)) for path in site.tree.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    assert files | {site.tree.name, ".rocm_sdk_devel.lock"} <= set(rows)
    gone = {row for row in rows if not os.path.lexists(site.path / row)}
    assert gone <= {*(f"{site.tree.name}/.rocm-sdk/{note}" for note in NOTES), *archive_names()}


def archive_names() -> set[str]:
    return {f"rocm_sdk_devel/_devel.tar{suffix}" for suffix in ("", ".xz", ".zst")}


@pytest.mark.parametrize("nonce", ["", "_n1"])
@pytest.mark.parametrize("archive", ["_devel.tar", "_devel.tar.xz", "_devel.tar.zst"])
def test_extraction(make_site: MakeSite, archive: str, nonce: str) -> None:
    site = make_site(nonce)
    site.install_sdk(archive)
    before = site.names()
    result = site.command("init")
    assert result.stdout == f"{site.tree}\n"
    assert "Extracting rocm-sdk-devel 7.10.0: " in result.stderr
    check_tree(site)
    check_record(site)
    outside = {name for name in site.names() if not name.startswith(site.tree.name)}
    assert outside == before - {f"rocm_sdk_devel/{archive}"} | {".rocm_sdk_devel.lock"}


def test_again_is_nothing(devel_site: DevelSite) -> None:
    devel_site.command("init", "--quiet")
    tree = devel_site.tree.stat().st_ino
    record = devel_site.record("rocm-sdk-devel").stat()
    result = devel_site.command("init")
    assert (result.stdout, result.stderr) == (f"{devel_site.tree}\n", "")
    assert devel_site.tree.stat().st_ino == tree
    after = devel_site.record("rocm-sdk-devel").stat()  # which was read, so that its time of access may be another
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (record.st_ino, record.st_size, record.st_mtime_ns)


def test_installed_files_are_not_touched(devel_site: DevelSite) -> None:
    """Installed files of uv are hard links to its cache."""
    installed = {path: path.lstat() for path in devel_site.path.rglob("*") if path.is_file()}
    record = devel_site.record("rocm-sdk-devel")
    os.link(record, devel_site.path.parent / "cached-record")
    before = record.read_bytes()
    devel_site.command("init")
    assert (devel_site.path.parent / "cached-record").read_bytes() == before
    for path, facts in installed.items():
        if path != record and not path.name.startswith("_devel.tar"):
            assert (path.lstat().st_mtime_ns, path.lstat().st_mode, path.lstat().st_ino) == (
                facts.st_mtime_ns,
                facts.st_mode,
                facts.st_ino,
            )


def test_links_to_missing_packages_are_listed_and_made_later(make_site: MakeSite) -> None:
    site = make_site()
    site.install_sdk(libraries=False)
    result = site.command("init")
    assert "1 links of the tree point to nothing: lib/libhiprand.so.1" in result.stderr
    assert not os.path.lexists(site.tree / "lib/libhiprand.so.1")
    site.install("rocm-sdk-libraries", libraries_files())
    assert site.command("path", "--root").stderr == ""
    assert (site.tree / "lib/libhiprand.so.1").samefile(site.path / "_rocm_sdk_libraries/lib/libhiprand.so.1")


def test_reinstalled_runtime_is_linked_again(devel_site: DevelSite) -> None:
    devel_site.command("init")
    library = devel_site.core / "lib/libamdhip64.so.7"
    devel_site.install("rocm-sdk-core", core_files() | {f"{devel_site.core.name}/lib/libamdhip64.so.7": b"newer"})
    assert not (devel_site.tree / "lib/libamdhip64.so.7").samefile(library)
    devel_site.command("path", "--root")
    assert (devel_site.tree / "lib/libamdhip64.so.7").samefile(library)


@pytest.mark.parametrize("leftover", ["tree", "foreign tree", "staging"])
def test_leftovers_give_way(devel_site: DevelSite, leftover: str) -> None:
    """Of an earlier version, of another program, and of a run that was killed."""
    if leftover == "tree":
        devel_site.command("init")
        devel_site.install_devel([*sample_members(), member("_rocm_sdk_devel/new.h")])
    else:
        name = devel_site.tree.name if leftover == "foreign tree" else ".rocm_sdk_devel.staging-0123"
        (devel_site.path / name / "lib").mkdir(parents=True)
        (devel_site.path / name / "lib/old.a").touch()
    devel_site.command("init")
    check_tree(devel_site)
    check_record(devel_site)
    assert (devel_site.tree / "new.h").exists() == (leftover == "tree")
    assert not (devel_site.tree / "lib/old.a").exists()
    assert not list(devel_site.path.glob(".rocm_sdk_devel.staging-*"))


def test_killed_before_the_archive_was_removed(devel_site: DevelSite) -> None:
    """The tree is complete then: it stays, and only the last step is done."""
    archive = devel_site.path / "rocm_sdk_devel/_devel.tar"
    os.link(archive, devel_site.path / "kept")
    devel_site.command("init")
    (devel_site.path / "kept").rename(archive)
    tree = devel_site.tree.stat().st_ino
    assert devel_site.command("init").stdout == f"{devel_site.tree}\n"
    assert devel_site.tree.stat().st_ino == tree
    assert not archive.exists()
    check_record(devel_site)


@pytest.mark.parametrize(
    ("suffix", "module", "said", "fix"),
    [
        ("zst", "_zstd" if sys.version_info >= (3, 14) else "backports", "compressed with Zstandard", ZSTD_FIX),
        (
            "xz",
            "_lzma",
            "compressed with xz, which this Python cannot read (No module named '_lzma')",
            "use a Python that was built with liblzma",
        ),
    ],
)
def test_without_a_module_that_decompresses(make_site: MakeSite, suffix: str, module: str, said: str, fix: str) -> None:
    site = make_site()
    site.install_sdk(f"_devel.tar.{suffix}")
    hide(site, module)
    assert_refused(site.command("init", check=False), 1, f"_devel.tar.{suffix} is {said}", fix)


def hide(site: DevelSite, module: str) -> None:
    """Hide a module, as in a Python that was built without liblzma, for example."""
    (site.path / f"{module}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{module}'\")\n")


def test_lzma_is_needed_for_archives_alone(devel_site: DevelSite) -> None:
    hide(devel_site, "_lzma")
    devel_site.command("init")
    checked = devel_site.command("test", "--json", check=False).stdout
    assert "E-TEST-001" not in checked
    assert '"tools"' in checked
    code = devel_site.command("code", str(devel_site.path / "rocm_sdk_devel"), check=False)
    assert "Traceback" not in code.stderr
    assert "No module" not in code.stderr


def test_without_record(devel_site: DevelSite) -> None:
    devel_site.record("rocm-sdk-devel").unlink()
    result = devel_site.command("init", check=False)
    assert_failed(result, 1, "has no RECORD")
    index = "--index-url https://repo.amd.com/rocm/whl-multi-arch/"
    command = f"python3 -m venv ~/rocm && ~/rocm/bin/pip install {index} 'rocm[libraries,devel]==7.10.0'"
    assert f"  fix: {command}  # into a virtual environment\n" in result.stderr


def test_not_installed_and_lost(make_site: MakeSite) -> None:
    site = make_site()
    site.install("rocm-sdk-core", core_files())
    result = site.command("path", "--root", check=False)
    assert_refused(result, 1, "'rocm[devel]==7.10.0'")
    site.install("rocm-sdk-devel", devel_files(b""))
    (site.path / "rocm_sdk_devel/_devel.tar").unlink()
    result = site.command("path", "--root", check=False)
    assert_failed(result, 1, "neither its archive nor its tree")


def test_only_the_development_package(make_site: MakeSite) -> None:
    site = make_site()
    site.install_devel([member("_rocm_sdk_devel/__init__.py"), link("_rocm_sdk_devel/a", "../_rocm_sdk_core/a")])
    result = site.command("path", "--root")
    assert result.stdout == f"{site.tree}\n"
    assert "point to nothing: a;" in result.stderr


def test_tree_state(make_site: MakeSite) -> None:
    def state() -> str:
        code = "from rocm_sdk.devel.layout import tree_state; print(tree_state())"
        return subprocess.check_output([sys.executable, "-c", code], env=site.environment(), text=True).strip()

    site = make_site()
    assert state() == "absent"
    site.install_sdk()
    assert state() == "packed"
    (site.path / ".rocm_sdk_devel.staging-1").mkdir()
    assert state() == "interrupted"
    site.command("init")
    assert state() == "extracted"
    site.tree.rename(site.path / "elsewhere")
    assert state() == "lost"


def site_of_many(make_site: MakeSite) -> DevelSite:
    site = make_site()
    site.install("rocm-sdk-core", core_files())
    files = [member(f"_rocm_sdk_devel/include/{i // 100}/{i}.h", b"x" * 500) for i in range(400)]
    site.install_devel([*sample_members(), *files], "_devel.tar.xz")
    return site


def init_with(statement: str) -> list[str]:
    """Return a command that runs `rocm-sdk init` after a statement, which changes the display or the work."""
    code = "from rocm_sdk.__main__ import main; raise SystemExit(main(['init']))"
    return [sys.executable, "-c", f"{statement}; {code}"]


def test_progress_on_a_terminal(make_site: MakeSite) -> None:
    text = shown_by_init(site_of_many(make_site))
    assert text.count("Extracting rocm-sdk-devel 7.10.0  ") > 1, "it moves"
    assert re.search(r"━  41\d files  3\.\d MB  00:\d\d", text.rpartition("Extracting")[2])


@pytest.mark.parametrize("variable", [{"TERM": "dumb"}, {"CI": "1"}])
def test_a_terminal_that_has_no_bar(make_site: MakeSite, variable: dict[str, str]) -> None:
    text = shown_by_init(site_of_many(make_site), **variable)
    assert re.match(r"rocm-sdk: Extracting rocm-sdk-devel 7\.10\.0: 41\d files  3\.\d MB, \d+\.\d s\r\n", text)
    assert "\x1b" not in text


def shown_by_init(site: DevelSite, **variables: str) -> str:
    """Return the text that `init` shows on a terminal, where a bar moves with each file."""
    terminal, end = pty.openpty()
    command = init_with("from rocm_sdk.terminal import progress; progress._SECONDS_BETWEEN = 0.0")
    environment = site.environment() | {"TERM": "xterm"} | variables
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    shown = b""
    while chunk := read_terminal(terminal):
        shown += chunk
    os.close(terminal)
    assert process.communicate()[0].decode() == f"{site.tree}\n"
    return shown.decode()


def read_terminal(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


def test_interrupted_by_the_user(make_site: MakeSite) -> None:
    site = site_of_many(make_site)
    before = site.names()
    slow = "import time; from rocm_sdk.base import reporter; reporter._LineProgress.show = lambda _: time.sleep(0.01)"
    process = subprocess.Popen(
        init_with(slow), env=site.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not list(site.path.glob(".rocm_sdk_devel.staging-*/tree/include/1")):
        time.sleep(0.002)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, said = process.communicate()
    assert (process.returncode, output) == (130, "")
    assert said == "rocm-sdk: interrupted\n"
    assert site.names() == before | {".rocm_sdk_devel.lock"}


def test_modes_follow_the_umask(devel_site: DevelSite) -> None:
    devel_site.command("init", umask=0o027)
    assert stat.S_IMODE((devel_site.tree / "bin/tool").stat().st_mode) == 0o750
    assert stat.S_IMODE((devel_site.tree / "include/hip/hip_runtime.h").stat().st_mode) == 0o640
    assert stat.S_IMODE((devel_site.tree / "include").stat().st_mode) == 0o750


def test_archive_of_a_clean_build_is_byte_for_byte(make_site: MakeSite) -> None:
    """The archive that tarfile itself makes of a directory is accepted, with any names in it."""
    import tarfile

    site = make_site()
    source = site.path.parent / "source/_rocm_sdk_devel"
    (source / ("long " * 40) / "näme\nwith a newline").mkdir(parents=True)
    (source / "__init__.py").touch()
    (source / ("long " * 40) / "näme\nwith a newline/file").write_bytes(b"content")
    with tarfile.open(site.path.parent / "a.tar", "w") as archive:
        archive.add(source, "_rocm_sdk_devel")
    site.install("rocm-sdk-devel", devel_files((site.path.parent / "a.tar").read_bytes()))
    site.command("init")
    assert (site.tree / ("long " * 40) / "näme\nwith a newline/file").read_bytes() == b"content"
    check_record(site)


def test_get_devel_root(devel_site: DevelSite) -> None:
    code = "from rocm_sdk._devel import get_devel_root; print(repr(get_devel_root()))"
    for _ in range(2):
        run = succeeded([sys.executable, "-c", code], env=devel_site.environment())
        assert (run.stdout, run.stderr) == (f"PosixPath('{devel_site.tree}')\n", "")

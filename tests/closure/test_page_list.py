"""`closure --record-pages`: the list in each form, who refuses it, and libraries that put something else there."""

import json
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from ended import assert_failed
from programs import completed
from sample_closure import PROVED, closure
from sample_site import CORE, LIBRARIES, clean_environment, compile_library, run_interpreter

from rocm_sdk.installed.record import read_record
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.page_list import checked
from rocm_sdk_build.closure.proving import proof
from rocm_sdk_build.closure.proving.confinement import WAYS

LIST = f"{CORE}/lib/rocm-sdk.pages"
WORDS = (PROVED, "--library", "hipsparse", "--gpu", "gfx1030", "--record-pages")
LOAD = "import rocm_sdk; rocm_sdk.preload_libraries('hipsparse')"


@pytest.fixture(scope="module")
def site(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("closure") / "small"
    done = closure(sdk, *WORDS, "--output", output)
    assert "page list: a load touches" in done.stdout
    return output


def fields(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()[1:]]


@pytest.mark.slow
def test_loads_read_ahead(site: Path) -> None:
    done = run_interpreter(
        "-c", LOAD, check=False, ROCM_SDK_ROOT=str(site), ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1"
    )
    assert f"reading ahead as {site}/{LIST} says (" in done.stderr
    rows = read_record(str(next(site.glob("rocm_sdk_core-*.dist-info")) / "RECORD")).rows
    assert LIST in {row.path for row in rows}
    assert [row.path for row in rows[:-1]] == sorted(row.path for row in rows[:-1])


@pytest.mark.slow
def test_it_is_what_init_records_there(site: Path, tmp_path: Path) -> None:
    """And that one may take its place: RECORD lists the one that came with the package."""
    copy = tmp_path / "copy"
    shutil.copytree(site, copy, symlinks=True)
    before = (copy / LIST).read_text()
    assert (
        run_interpreter("-m", "rocm_sdk", "init", "--record-pages", check=False, ROCM_SDK_ROOT=str(copy)).returncode
        == 0
    )
    after = (copy / LIST).read_text()
    assert {each[0]: each[1:3] for each in fields(before)} == {each[0]: each[1:3] for each in fields(after)}
    (copy / LIST).write_text(f"{after}\n")
    done = run_interpreter(
        "-m", "rocm_sdk", "test", "--json", "--only", "files", "--deep", check=False, ROCM_SDK_ROOT=str(copy)
    )
    assert json.loads(done.stdout)["problems"] == []


@pytest.mark.slow
def test_wheels_have_it(sdk: Path, tmp_path: Path) -> None:
    document = json.loads(closure(sdk, *WORDS, "--form", "wheels", "--output", tmp_path / "out", "--json").stdout)
    assert document["page_list"] == LIST
    (core,) = (tmp_path / "out").glob("rocm_sdk_core-*.whl")
    with zipfile.ZipFile(core) as wheel:
        assert fields(wheel.read(LIST).decode())


@pytest.mark.slow
def test_a_layer_has_it(sdk: Path, tmp_path: Path) -> None:
    closure(sdk, *WORDS, "--form", "oci", "--output", tmp_path / "layer.tar")
    with tarfile.open(tmp_path / "layer.tar") as layer:
        assert f"opt/rocm-sdk/{LIST}" in layer.getnames()


def test_a_closure_of_a_closure(site: Path, tmp_path: Path) -> None:
    """The list of the whole SDK is no data of its libraries."""
    done = closure(site, "--library", "amdhip64", "--output", tmp_path / "out")
    assert not (tmp_path / "out" / LIST).exists()
    assert "the page list of the whole SDK" in done.stdout


def test_without_a_proof(sdk: Path, tmp_path: Path) -> None:
    """The fix is none that the command refuses: --proof and --no-proof exclude each other."""
    place = ("--record-pages", "--output", tmp_path / "out")
    done = closure(sdk, "--library", "hipsparse", "--no-proof", *place, check=False)
    assert done.stderr.splitlines()[-2:] == [
        "rocm-sdk-build: --record-pages needs the proof, which --no-proof leaves out",
        "  fix: leave out --record-pages or --no-proof",
    ]
    needed = sdk / LIBRARIES / "lib/libhipsparse.so.4"
    application = compile_library(tmp_path / "libapplication.so", None, needed=(needed,))
    command = [sys.executable, "-m", "rocm_sdk_build", "closure", "--for", str(application), *map(str, place)]
    done = completed(command, env=clean_environment() | {"PYTHONPATH": str(sdk)})
    told, fix = done.stderr.splitlines()[-2:]
    assert told.startswith("rocm-sdk-build: --record-pages needs the proof: ")
    assert (fix, done.returncode) == ("  fix: --proof", 2)
    assert not (tmp_path / "out").exists()


def test_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "find_way", lambda *_, **__: WAYS[-1])
    with pytest.raises(PackagingError, match="pages cannot be recorded without namespaces"):
        proof.find_attempt(tmp_path, may_be_unsafe=True, records_pages=True)


# ---- hostile


DESTRUCTOR = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#define PAGES "/tmp/rocm-sdk.pages"
static void write_text(const char *text, int count) {
    unlink(PAGES);
    FILE *file = fopen(PAGES, "w");
    while (file != NULL && count-- > 0) fputs(text, file);
    if (file != NULL) fclose(file);
}
int ncclInit(void) { return 0; }
__attribute__((destructor)) static void harm(void) {
    if (getenv("ROCM_SDK_RECORD_PAGES") == NULL) return;
    %s
}
"""
ATTACKS = {
    "a link": ('unlink(PAGES); if (symlink("/etc/passwd", PAGES)) _exit(3);', "Too many levels"),
    "a FIFO": ("unlink(PAGES); if (mkfifo(PAGES, 0666)) _exit(3);", "it is not a file"),
    "a directory": ("unlink(PAGES); if (mkdir(PAGES, 0777)) _exit(3);", "it is not a file"),
    "nothing": ("unlink(PAGES);", "No such file"),
    "more than any list": (r'write_text("0123456789abcdef\n", 70000);', "more than 1 MiB"),
    "bytes": (r'write_text("\xff\xfe", 9);', "can't decode"),
    "another text": (r'write_text("rocm-sdk-pages 2\n", 1);', "is not a page list"),
    "a file elsewhere": (
        r'write_text("rocm-sdk-pages 1\n_rocm_sdk_core/../../etc/passwd\t9\t-\t-\t0\n", 1);',
        "not the path of a library",
    ),
    "another size": (
        r'write_text("rocm-sdk-pages 1\n_rocm_sdk_core/lib/libamdhip64.so.7\t9\t-\t-\t0\n", 1);',
        "which is another file or none",
    ),
    "the end": ("_exit(7);", "status 7"),
}


@pytest.fixture(scope="module")
def hostile(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile") / "site"
    shutil.copytree(sdk, place, symlinks=True)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_what_libraries_put_into_its_place(hostile: Path, tmp_path: Path, name: str) -> None:
    code, why = ATTACKS[name]
    library = hostile / LIBRARIES / "lib/librccl.so.1"
    library.unlink()
    compile_library(library, library.name, DESTRUCTOR % code)
    done = closure(
        hostile,
        PROVED,
        "--library",
        "rccl",
        "--library",
        "amdhip64",
        "--record-pages",
        "--output",
        tmp_path / "out",
        check=False,
    )
    assert_failed(done, 1, why)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("../outside\t4\t-\t-\t0", "not the path"),
        ("_rocm_sdk_core/lib/link\t4\t-\t-\t0", "another file or none"),
        ("_rocm_sdk_core/lib/inside\t4\t-\t-\t0", None),
        ("_rocm_sdk_core/lib/fifo\t4\t-\t-\t0", "another file or none"),
        ("_rocm_sdk_core/lib\t4096\t-\t-\t0", "another file or none"),
        ("_rocm_sdk_core/lib/a\t4\t6161@0\t-\t0", None),
        ("_rocm_sdk_core/lib/a\t4\t6162@0\t-\t0", "another file or none"),
        ("_rocm_sdk_core/lib/a\t5\t-\t-\t0", "another file or none"),
        ("_rocm_sdk_core/lib/a\t4\t-\t-\t0-9223372036854775807", "pages of the file"),
        ("_rocm_sdk_core/lib/a\t4\t-\t7\t0", "brings in a file"),
        ("_rocm_sdk_core/\x1b[2J/\x1b[2J\t4\t-\t-\t0", "another file or none"),
    ],
)
def test_what_a_list_names(tmp_path: Path, line: str, why: str | None) -> None:
    lib = tmp_path / "site/_rocm_sdk_core/lib"
    lib.mkdir(parents=True)
    (tmp_path / "outside").write_text("aaaa")
    (lib / "a").write_text("aaaa")
    (lib / "link").symlink_to("../../../outside")
    (lib / "inside").symlink_to("a")
    os.mkfifo(lib / "fifo")
    text = f"rocm-sdk-pages 1\n{line}\n".encode()
    if why is None:
        found = checked(text, tmp_path / "site")
        assert (found.place, found.libraries, found.size) == (LIST, 1, 4096)
        return
    with pytest.raises(PackagingError, match=why) as caught:
        checked(text, tmp_path / "site")
    assert "\x1b" not in str(caught.value)

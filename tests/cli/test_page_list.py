"""`--record-pages` of `rocm-sdk init` and `run`, and what later loads make of the list."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ended import assert_failed
from other_user import OtherUser
from sample_site import CORE, LIBRARIES, Site

Call = Callable[..., subprocess.CompletedProcess[str]]
LOAD = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['hipsparse'])"
LIST = f"{CORE}/lib/rocm-sdk.pages"
HIP, SPARSE = f"{CORE}/lib/libamdhip64.so.7", f"{LIBRARIES}/lib/libhipsparse.so.1"


def names_in(path: Path) -> set[str]:
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    assert first == "rocm-sdk-pages 1"
    return {line.split("\t")[0] for line in lines}


def test_init_records_all_libraries(call: Call, sdk: Site) -> None:
    path = sdk.path / LIST
    done = call("init", "--record-pages")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
    assert names_in(path) == {HIP, SPARSE, f"{LIBRARIES}/lib/librocsparse.so.1"}
    assert json.loads(call("init", "--record-pages", "--json").stdout) == {"schema": 1, "page_list": str(path)}
    assert not [each.name for each in path.parent.iterdir() if "partial" in each.name]
    said = sdk.run(LOAD, ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1").stderr
    assert said.startswith(f"rocm_sdk: reading ahead as {path} says (3 libraries)\n")


def test_run_records_what_the_program_loads(call: Call, sdk: Site) -> None:
    program = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['rocsparse'])"
    done = call("run", "--record-pages", sys.executable, "-c", program)
    assert (done.returncode, done.stdout) == (0, "")
    assert names_in(sdk.path / LIST) == {HIP, f"{LIBRARIES}/lib/librocsparse.so.1"}
    said = sdk.run(LOAD, ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1").stderr
    assert "reading ahead as " not in said, "the list does not have what the load asks for"


def test_a_library_that_cannot_be_loaded(call: Call, sdk: Site) -> None:
    absent = sdk.library("libabsent.so.1")
    sdk.library("librocblas.so.5", needed=(absent,), package=LIBRARIES)
    absent.unlink()
    assert_failed(call("init", "--record-pages"), 1, "libabsent.so.1")
    assert not (sdk.path / LIST).exists()


def test_a_user_who_may_not_write(other_user: OtherUser, open_directory: Path, sdk: Site) -> None:
    site = open_directory / "site"
    shutil.copytree(sdk.path, site)
    for words in (["init", "--record-pages"], ["run", "--record-pages", "true"]):
        done = other_user.run("-m", "rocm_sdk", *words, ROCM_SDK_ROOT=str(site))
        assert_failed(done, 1, f"{site}/{CORE}/lib cannot be written to")

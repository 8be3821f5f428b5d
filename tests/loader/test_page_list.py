"""ROCM_SDK_READ_AHEAD and ROCM_SDK_RECORD_PAGES."""

from pathlib import Path

import pytest
from ended import assert_failed
from sample_site import CORE, Site

LOAD = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['roctx64'])"


@pytest.fixture
def path(site: Site) -> Path:
    """Return the list of a site with one library."""
    site.library("libroctx64.so.4")
    path = site.path / CORE / "lib/rocm-sdk.pages"
    assert site.run(LOAD, ROCM_SDK_RECORD_PAGES=str(path)).stderr == ""
    assert path.is_file()
    return path


def test_whether_to_read_ahead(site: Site, path: Path) -> None:
    assert f"reading ahead as {path}" in site.run(LOAD, ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1").stderr
    assert "reading ahead" not in site.run(LOAD, ROCM_SDK_READ_AHEAD="0", ROCM_SDK_VERBOSE="1").stderr
    assert site.run(LOAD, ROCM_SDK_READ_AHEAD="").stderr == ""


def test_without_a_list(site: Site) -> None:
    site.library("libroctx64.so.4")
    said = site.run(LOAD, ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1").stderr
    assert "reading ahead what the linker reads of libroctx64.so.4 and of the libraries behind it\n" in said
    assert "reading ahead" not in site.run(LOAD, ROCM_SDK_READ_AHEAD="0", ROCM_SDK_VERBOSE="1").stderr


@pytest.mark.parametrize("value", ["yes", "2", "01", " 1"])
def test_what_is_no_answer(site: Site, value: str) -> None:
    site.library("libroctx64.so.4")
    done = site.run(LOAD, check=False, ROCM_SDK_READ_AHEAD=value)
    assert_failed(done, 1, "EnvironmentOverrideError", f"ROCM_SDK_READ_AHEAD={value} is not 0 or 1")


def test_a_list_that_cannot_be_written(site: Site) -> None:
    site.library("libroctx64.so.4")
    done = site.run(LOAD, ROCM_SDK_RECORD_PAGES="/nowhere/list")
    assert done.stderr == "rocm_sdk: no page list: cannot write /nowhere/list: No such file or directory\n"


def test_a_damaged_list_is_no_failure(site: Site, path: Path) -> None:
    path.write_text("rocm-sdk-pages 1\n../../etc/passwd\t1\t-\t-\t0\n", encoding="utf-8")
    said = site.run(LOAD, ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1").stderr
    assert f"not reading ahead: {path}, line 2: not the path of a library\n" in said
    assert "loading " in said
    assert site.run(LOAD, ROCM_SDK_READ_AHEAD="1").stderr == ""

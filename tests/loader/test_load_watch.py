"""ROCM_SDK_LOAD_WATCH: a load that takes too long, or never ends, is named while it lasts."""

import subprocess
import sys
import time

import pytest
from sample_site import Site, clean_environment

SLEEPS = """
#include <unistd.h>
__attribute__((constructor)) static void wait(void) { sleep(1); }
"""
NEVER_ENDS = """
#include <unistd.h>
__attribute__((constructor)) static void wait(void) { for (;;) { pause(); } }
"""
LOAD = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['roctx64', 'rocm_smi64'])"


def test_a_slow_library_is_named(site: Site) -> None:
    slow = site.library("libroctx64.so.4", SLEEPS)
    site.library("librocm_smi64.so.7")
    result = site.run(LOAD, ROCM_SDK_LOAD_WATCH="0.3")
    lines = result.stderr.splitlines()
    assert lines[0] == f"rocm_sdk: {slow} has been loading for 0.3 s (ROCM_SDK_LOAD_WATCH)"
    assert len(lines) >= 2, lines  # once more for each 0.3 s
    assert all(str(slow) in line for line in lines)


def test_a_load_that_never_ends_is_named(site: Site) -> None:
    stuck = site.library("libroctx64.so.4", NEVER_ENDS)
    site.library("librocm_smi64.so.7")
    process = subprocess.Popen(
        [sys.executable, "-c", LOAD],
        env=clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_LOAD_WATCH": "0.2"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        assert str(stuck) in process.stderr.readline()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_nothing_is_said_of_quick_loads(site: Site) -> None:
    site.library("libroctx64.so.4")
    site.library("librocm_smi64.so.7")
    begin = time.monotonic()
    assert site.run(LOAD, ROCM_SDK_LOAD_WATCH="30").stderr == ""
    assert time.monotonic() - begin < 20, "the watch ends with the load"
    assert site.run(LOAD, ROCM_SDK_LOAD_WATCH="").stderr == ""


@pytest.mark.parametrize("value", ["soon", "-1", "0", "nan", "inf", "1s"])
def test_what_is_no_number_of_seconds(site: Site, value: str) -> None:
    site.library("libroctx64.so.4")
    result = site.run(LOAD, check=False, ROCM_SDK_LOAD_WATCH=value)
    assert result.returncode == 1
    assert f"ROCM_SDK_LOAD_WATCH={value} is not a number of seconds [E-ENV-008]" in result.stderr

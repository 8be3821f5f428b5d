"""A library hangs while it is loaded, as rocprofiler-sdk did without /dev/kfd."""

import subprocess
import sys

import pytest
from sample_report import install, run_test
from sample_site import Site, clean_environment


@pytest.fixture
def hanging(linked_site: Site) -> Site:
    hang = "#include <unistd.h>\n__attribute__((constructor)) static void wait_for_ever(void) { for (;;) pause(); }"
    linked_site.library("librocprofiler-sdk.so.1", hang)
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    install(linked_site)
    return linked_site


def test_it_is_named_and_the_others_are_loaded(hanging: Site) -> None:
    said = run_test(hanging.path, "--only", "libraries", "--seconds", "1")
    assert said.codes == {"E-LIB-008"}
    found = said.only("E-LIB-008")
    assert found["title"] == "librocprofiler-sdk.so.1 does not finish loading"
    unknown = "the cause is not known: the files that it needs are as RECORD says"
    assert found["cause"] == f"its constructors ran for more than 1 s; {unknown}"
    assert "rocm-sdk gpus" in found["fix"]
    assert said.subject("libraries")["count"] == 2


def test_the_loader_names_it_too(hanging: Site) -> None:
    code = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['rocprofiler-sdk'])"
    environment = clean_environment() | {"PYTHONPATH": str(hanging.path), "ROCM_SDK_LOAD_WATCH": "0.2"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    process.kill()
    process.communicate()
    assert "librocprofiler-sdk.so.1 has been loading for 0.2 s" in line

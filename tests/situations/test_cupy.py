"""cupy compiles with headers, whose directories it asks of hipcc; without cupy nobody asks for them."""

from pathlib import Path

import pytest
from sample_device_code import code_object
from sample_hiprtc import hiprtc
from sample_report import install, run_test
from sample_site import Site

# A compiler that finds stddef.h only in a directory of the options, and refuses no other source.
COMPILE = """
    extern int access(const char *, int), snprintf(char *, unsigned long, const char *, ...);
    char path[4096];
    if (!has_headers) return 0;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/stddef.h", options[i] + 2);
        if (options[i][1] == 'I' && access(path, 4) == 0) return 0;
    }
    return 6;
"""
CREATE = "int hiprtcCreateProgram(void) { return 0; }"
NOTES_SOURCE = """
static int has_headers;
int hiprtcCreateProgram(void *program, const char *source) {
    has_headers = __builtin_strstr(source, "#include <stddef.h>") != 0;
    return 0;
}
"""
HIPCC = """#!/bin/sh
[ "$*" = "-x hip -E -v /dev/null" ] || exit 2
echo '#include "..." search starts here:' >&2
echo '#include <...> search starts here:' >&2
echo ' /nowhere' >&2
echo ' {headers}' >&2
echo 'End of search list.' >&2
"""


@pytest.fixture
def site(linked_site: Site) -> Site:
    source = hiprtc(COMPILE, code_object(0x36, size=64))
    assert CREATE in source
    linked_site.library("libhiprtc.so.7", source.replace(CREATE, NOTES_SOURCE))
    install(linked_site)
    return linked_site


def home(tmp_path: Path, headers: Path) -> str:
    """Return a ROCM_HOME whose hipcc names a directory of headers."""
    hipcc = tmp_path / "rocm/bin/hipcc"
    hipcc.parent.mkdir(parents=True)
    hipcc.write_text(HIPCC.format(headers=headers))
    hipcc.chmod(0o755)
    return str(tmp_path / "rocm")


@pytest.mark.parametrize("name", ["cupy-14.0.0", "cupy_rocm_7_0-13.6.0"])
@pytest.mark.parametrize("has_header", [True, False])
def test_the_headers_of_cupy(site: Site, tmp_path: Path, name: str, *, has_header: bool) -> None:
    site.write(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\n")
    headers = tmp_path / "clang/include"
    headers.mkdir(parents=True)
    if has_header:
        (headers / "stddef.h").touch()
    said = run_test(site.path, "--only", "api", ROCM_HOME=home(tmp_path, headers))
    assert said.status == 0
    assert [each["title"] for each in said.problems] == (
        [] if has_header else ["hiprtc does not compile the headers that cupy includes"]
    )
    assert all("no such header" in each["cause"] and "hipcc names no" not in each["cause"] for each in said.problems)


@pytest.mark.parametrize("rocm", ["", "/nowhere"])
def test_without_hipcc(site: Site, rocm: str) -> None:
    site.write("cupy_rocm_6_4-13.5.1.dist-info/METADATA", "Metadata-Version: 2.1\n")
    found = run_test(site.path, "--only", "api", ROCM_HOME=rocm, PATH="/nowhere").only("W-API-006")
    assert "; hipcc names no directories of headers: No such file or directory" in found["cause"]


@pytest.mark.parametrize("name", ["cupy_cuda12x-13.0.0", "torch-2.9.0"])
def test_without_cupy_nothing_is_said(site: Site, name: str) -> None:
    site.write(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\n")
    assert run_test(site.path, "--only", "api", PATH="/nowhere").problems == []

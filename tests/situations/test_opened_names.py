"""Names that libraries of ROCm open at run time: a request for the opener brings what it opens, by that name."""

from pathlib import Path
from typing import NamedTuple

import pytest
from sample_site import CORE, DIST_INFO, LIBRARIES, Site, compile_library

OPENS = """
#include <dlfcn.h>
void *opened(void) {{ return dlopen("{name}", RTLD_NOW); }}
int answer(void) {{
    void *found = opened();
    int (*own)(void) = found ? (int (*)(void))dlsym(found, "own") : 0;
    return own ? own() : 0;
}}
"""


class Row(NamedTuple):
    """A row of the table of names: its number, the requested name, and the names that it or its needs open."""

    number: str
    shortname: str
    opened: str
    name: str
    variables: dict[str, str]
    version: str
    is_found: bool

    @property
    def opener(self) -> str:
        """The file that opens the other."""
        return OPENERS[self.shortname]


OPENERS = {
    "amdhip64": "libhsa-runtime64.so.1",  # which it needs
    "hiprtc": "libhiprtc.so.7",
    "hsa-runtime64": "libhsa-runtime64.so.1",
    "rccl": "librccl.so.1",
    "rocprofiler-register": "librocprofiler-register.so.0",
    "rocsolver": "librocsolver.so.0",
}
LINES = """\
1  hsa-runtime64        librocdxg.so.1                 librocdxg.so                 rootfs=wsl             10.0.0 found
1  amdhip64             librocdxg.so.1                 librocdxg.so                 rootfs=wsl             10.0.0 found
1  hsa-runtime64        librocdxg.so.1                 librocdxg.so                 rootfs=none            10.0.0 not
2  hsa-runtime64        librocdxg.so.1                 librocdxg.so.1               rootfs=wsl             10.2.0 found
4  hsa-runtime64        libhsa-amd-aqlprofile64.so.1   libhsa-amd-aqlprofile64.so   -                      7.10.0 found
7  hiprtc               libamdhip64.so.7               libamdhip64.so               -                      7.1.0  found
9  rocprofiler-register librocprofiler-sdk.so.1        librocprofiler-sdk.so        ROCP_TOOL_LIBRARIES=/t 7.10.0 found
10 rocprofiler-register librocprofiler-sdk-attach.so.1 librocprofiler-sdk-attach.so ROCP_TOOL_ATTACH=1     7.10.0 found
10 rocprofiler-register librocprofiler-sdk-attach.so.1 librocprofiler-sdk-attach.so ROCP_TOOL_ATTACH=0     7.10.0 not
15 rccl                 libhsa-runtime64.so.1          libhsa-runtime64.so          -                      7.10.0 found
16 rccl                 libamd_smi.so.27               libamd_smi.so                RCCL_USE_AMD_SMI_LIB=1 10.0.0 found
16 rccl                 libamd_smi.so.27               libamd_smi.so                -                      10.0.0 not
21 rocsolver            librocsparse.so.1              librocsparse.so.1            -                      7.10.0 found
"""


def row_of(line: str) -> Row:
    """Return the row that a line says."""
    number, shortname, opened, name, variable, version, answer = line.split()
    variables = dict([variable.replace("rootfs", "ROCM_SDK_ROOTFS").split("=")]) if variable != "-" else {}
    return Row(number, shortname, opened, name, variables, version, answer == "found")


ROWS = [row_of(line) for line in LINES.splitlines()]
OF_LIBRARIES = ("librccl", "librocsolver", "librocsparse")


def package_of(name: str) -> str:
    """Return the package that has a library."""
    return LIBRARIES if name.startswith(OF_LIBRARIES) else CORE


def site_of(path: Path, row: Row, rpath: str) -> Site:
    """Make an SDK of the row's version with opener and opened, and HIP, which needs the HSA runtime."""
    site = Site(path / "site", rpath=rpath)
    site.write("rocm_sdk_core/_dist_info.py", DIST_INFO.replace("7.10.0", row.version))
    opened = "int own(void) { return 42; }"
    opener = OPENS.format(name=row.name)
    hsa = site.library(
        "libhsa-runtime64.so.1",
        opener if row.opener.startswith("libhsa") else opened if row.opened.startswith("libhsa") else "",
    )
    is_hip = row.opened == "libamdhip64.so.7"
    site.library("libamdhip64.so.7", opened if is_hip else "", (hsa,))
    if not row.opened.startswith(("libhsa-runtime", "libamdhip64")):
        site.library(row.opened, opened, package=package_of(row.opened))
    if not row.opener.startswith("libhsa"):
        needed = (hsa,) if row.opened.startswith("libhsa") else ()
        site.library(row.opener, opener, needed, package_of(row.opener))
    (path / "wsl/dev").mkdir(parents=True)
    (path / "wsl/dev/dxg").touch()
    return site


@pytest.mark.parametrize("rpath", ["none", "rpath"])
@pytest.mark.parametrize("row", ROWS, ids=[" ".join(line.split()) for line in LINES.splitlines()])
def test_what_is_opened_by_that_name(tmp_path: Path, row: Row, rpath: str) -> None:
    site = site_of(tmp_path, row, rpath)
    roots = {name: str(tmp_path / value) for name, value in row.variables.items() if name == "ROCM_SDK_ROOTFS"}
    directory = site.path / package_of(row.opener) / "lib"
    program = f"""
        import ctypes, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=[{row.shortname!r}])
        print(ctypes.CDLL({str(directory / row.opener)!r}).answer())
    """
    assert site.output(program, **row.variables | roots) == ("42" if row.is_found else "0")


@pytest.mark.parametrize(
    ("number", "shortname", "opener", "plug_in"),
    [
        ("19", "miopen", "libMIOpen.so.1", "libMIOpenCKGroupedConv_gfx1100.so"),
        ("20", "hipdnn", "libhipdnn_backend.so.1", "hipdnn_plugins/engines/librocke_plugin.so"),
        ("20", "hipdnn", "libhipdnn_backend.so.1", "hipdnn_plugins/heuristics/libguess.so"),
    ],
)
def test_what_a_plug_in_needs(tmp_path: Path, number: str, shortname: str, opener: str, plug_in: str) -> None:
    """The opener finds a plug-in by its path; nothing leads from the plug-in to another package."""
    site = Site(tmp_path / "site")
    site.write("rocm_sdk_core/_dist_info.py", DIST_INFO.replace("7.10.0", "7.14.0"))
    kpack = site.library("librocm_kpack.so.0", "int own(void) { return 42; }")
    place, _, name = plug_in.rpartition("/")
    source = "int own(void); int plugged(void) { return own(); }"
    path = site.library(name, source, (kpack,), LIBRARIES, f"lib/{place}" if place else "lib")
    site.library(opener, package=LIBRARIES)
    program = f"""
        import ctypes, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=[{shortname!r}])
        print(ctypes.CDLL({str(path)!r}).plugged(), {number!r})
        print(rocm_sdk.load_plan({shortname!r}, new_process=True).steps[1].soname)
    """
    assert site.output(program) == f"42 {number}\nlibrocm_kpack.so.0"
    path.write_text("damaged")
    assert site.output(program.replace(".plugged()", ".plugged", 1).split("print")[0]) == ""


@pytest.mark.parametrize(
    ("file", "name"), [("librocm_smi64.so.1", "librocm_smi64.so"), ("libroctx64.so.4", "libroctx64.so")]
)
def test_names_that_programs_open(tmp_path: Path, file: str, name: str) -> None:
    """33 to 36: JAX, Slurm, btop and LIKWID open librocm_smi64.so; Triton's Proton libroctx64.so, if it is there."""
    site = Site(tmp_path / "site")
    site.library(file, "int own(void) { return 42; }")
    shortname = name.removeprefix("lib").removesuffix(".so")
    program = f"""
        import ctypes, os, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=[{shortname!r}])
        print(ctypes.CDLL({name!r}, mode=os.RTLD_NOW | os.RTLD_NOLOAD).own())
    """
    assert site.output(program) == "42"


@pytest.mark.parametrize("is_there_before", [False, True])
def test_preload_for_brings_what_bindings_open(tmp_path: Path, is_there_before: bool) -> None:
    """24: bindings need no library of ROCm: they open one by a name that only preloading answers to."""
    site = Site(tmp_path / "site")
    site.library("libamd_smi.so.26", "int own(void) { return 42; }")
    binding = compile_library(tmp_path / "binding.so", None, OPENS.format(name="libamd_smi.so"))
    program = f"""
        import ctypes, rocm_sdk
        if {is_there_before}:
            rocm_sdk.preload_libraries("amd_smi", unversioned_names=False)
        rocm_sdk.preload_for({str(binding)!r})
        print(ctypes.CDLL({str(binding)!r}).answer())
    """
    assert site.output(program) == "42"


def test_preload_for_leaves_what_a_package_brings(tmp_path: Path) -> None:
    """A binding whose own RUNPATH leads to a library of that name opens its own."""
    site = Site(tmp_path / "site")
    site.library("libamd_smi.so.26", "int own(void) { return 42; }")
    compile_library(tmp_path / "libamd_smi.so", "libamd_smi.so", "int own(void) { return 7; }")
    flags = ("-Wl,-rpath,$ORIGIN",)
    binding = compile_library(tmp_path / "binding.so", None, OPENS.format(name="libamd_smi.so"), (), flags)
    program = f"""
        import ctypes, rocm_sdk
        rocm_sdk.preload_for({str(binding)!r})
        print(ctypes.CDLL({str(binding)!r}).answer(), "libamd_smi.so.26" in open("/proc/self/maps").read())
    """
    assert site.output(program) == "7 False"

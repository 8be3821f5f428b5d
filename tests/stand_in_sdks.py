"""Stand-ins of SDKs: directories of written libraries with the SONAMEs of a release, for stand-ins of wheels."""

from collections.abc import Iterable
from pathlib import Path

from wheel_shapes import OF_ROCM, Shape
from written_elf import shared_library

# Release -> the libraries whose numbers tell releases apart (csrc/sdk/soname_table.c).
RELEASES = {
    "6.4": """
amd_comgr.so.3 amd_smi.so.25 amdhip64.so.6 hipblas.so.2 hipblaslt.so.0 hiprtc.so.6 hipsolver.so.0 hipsparse.so.1
rocblas.so.4 rocprofiler-sdk.so.0 rocsparse.so.1
""",
    "7": """
amd_comgr.so.3 amd_smi.so.26 amdhip64.so.7 hipblas.so.3 hipblaslt.so.1 hiprtc.so.7 hipsolver.so.1 hipsparse.so.4
rocblas.so.5 rocprofiler-sdk.so.1 rocsparse.so.1
""",
    "10": """
amd_comgr.so.3 amd_smi.so.27 amdhip64.so.7 hipblas.so.3 hipblaslt.so.1 hiprtc.so.7 hipsolver.so.1 hipsparse.so.4
rocblas.so.5 rocprofiler-sdk.so.1 rocsparse.so.1
""",
}
# Libraries whose number has not changed.
_SAME = """
MIOpen.so.1 rccl.so.1 rocfft.so.0 hipfft.so.0 rocsolver.so.0 rocrand.so.1 hiprand.so.1 hipsparselt.so.0 hipfile.so.0
hsa-runtime64.so.1 roctx64.so.4 roctracer64.so.4 rocm_smi64.so.1 rocprofiler-register.so.0 rocprofiler-sdk-roctx.so.1
rocm_sysdeps_z.so.1 rocm_sysdeps_zstd.so.1 rocm_sysdeps_numa.so.1 rocm_sysdeps_elf.so.1 rocm_sysdeps_drm.so.2
rocm_sysdeps_drm_amdgpu.so.1 rocm_sysdeps_liblzma.so.5 rocm_sysdeps_bz2.so.1
"""


def write(release: str, shapes: Iterable[Shape], directory: Path) -> Path:
    """Write the libraries of a release, each with all functions and the versions that wheels want."""
    files = [file for shape in shapes for file in shape.files]
    wanted = (name for file in files for name in file.facts.get("wants", []))
    functions = dict.fromkeys(filter(OF_ROCM.fullmatch, wanted))
    sonames = [f"lib{name}" for name in (f"{RELEASES[release]} {_SAME}").split()]
    (hip,) = (soname for soname in sonames if soname.startswith("libamdhip64"))
    directory.mkdir()
    for soname in sonames:
        data = shared_library(
            soname=soname,
            needed=() if soname == hip else (hip,),
            runpath="$ORIGIN",
            defined=functions,
            versions=list(dict.fromkeys(each for file in files for each in file.versions.get(soname, []))),
        )
        (directory / soname).write_bytes(data)
        (directory / soname.rpartition(".")[0]).symlink_to(soname)
    return directory

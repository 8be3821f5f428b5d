"""The sample of data that ROCm's libraries read: made-up trees, in every form that packages have.

Names and forms are as in ROCm's packages; the contents are small, and no library of AMD has read them.
"""

import zlib
from pathlib import Path

from sample_device_code import FLAGS, bundle, code_object, kernel_index, kpack, message, objects

from rocm_sdk.base.zstd import import_zstd

zstd = import_zstd()

GEMM = "TensileLibrary_Type_HH_Contraction_l_Ailk_Bjlk_Cijk_Dijk"
TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def flat(directory: str, *, end: str = ".dat") -> dict[str, bytes]:
    """Return rocBLAS's files of ROCm 6: `library/`, a lazy index for each target, a fallback table of all indexes."""
    pack = zlib.compress if end.endswith(".zlib") else bytes
    files = {
        f"{directory}/TensileManifest.txt": b"".join(f"{GEMM}_{target}.co\n".encode() for target in TARGETS),
        f"{directory}/{GEMM}_fallback{end}": pack(b"table"),
    }
    for target in TARGETS:
        own, fallback = f"{GEMM}_{target}", f"{GEMM}_fallback"
        files |= {
            f"{directory}/TensileLibrary_lazy_{target}{end}": pack(kernel_index({target: [own], "": [fallback]})),
            f"{directory}/{own}{end}": pack(b"table"),
            f"{directory}/{own}.co": bundle(objects(target)),
            f"{directory}/{fallback}_{target}.hsaco": code_object(FLAGS[target], size=64),
            f"{directory}/Kernels.so-000-{target}.hsaco": code_object(FLAGS[target], size=64),
        }
    for mode in ("xnack-", "xnack+"):
        files[f"{directory}/Kernels.so-000-gfx90a-{mode}.hsaco"] = code_object(FLAGS[f"gfx90a:{mode}"], size=64)
    return files


def by_directory(directory: str) -> dict[str, bytes]:
    """Return files of the newer form: `library/<gfx>/`, where names need not have the target."""
    files = {}
    for target in TARGETS:
        index = kernel_index({target: [f"{GEMM}_{target}"], "": [f"{GEMM}_fallback"]})
        files |= {
            f"{directory}/{target}/TensileLibrary_lazy_{target}.dat": index,
            f"{directory}/{target}/{GEMM}_{target}.dat": b"table",
            f"{directory}/{target}/{GEMM}_{target}.co": bundle(objects(target)),
            f"{directory}/{target}/{GEMM}_fallback.dat": b"table",
            f"{directory}/{target}/Kernels.so-000.hsaco": code_object(FLAGS[target], size=64),
        }
    return files


def merged(directory: str) -> dict[str, bytes]:
    """Return rocBLAS's files of ROCm 5: one index with all kernels in it."""
    index = kernel_index({target: [] for target in (*TARGETS, "")})
    kernels = {f"{directory}/Kernels.so-000-{target}.hsaco": code_object(FLAGS[target], size=64) for target in TARGETS}
    return {f"{directory}/TensileLibrary.dat": index, **kernels}


def hipblaslt(directory: str) -> dict[str, bytes]:
    """Return files of the flat form with hipBLASLt's further lists, which name the tables of all targets."""
    tables = {number: f"{GEMM}_{target}" for number, target in enumerate(TARGETS)}
    return {
        **flat(directory),
        f"{directory}/TensileLiteLibrary_lazy_Mapping.dat": message(tables),
        f"{directory}/TensileLiteLibrary_lazy_gfx942_Mapping.dat": message({1: f"{GEMM}_gfx942"}),
        f"{directory}/hipblasltExtOpLibrary.dat": message({target: {"co": 1} for target in TARGETS}),
        **{f"{directory}/extop_{target}.co": bundle(objects(target)) for target in TARGETS},
    }


def of_nixpkgs(directory: str) -> dict[str, bytes]:
    """Return hipBLASLt's files of nixpkgs: tables that zstd has compressed, under the usual names."""
    return {
        name: zstd.compress(content) if name.endswith(".dat") else content
        for name, content in hipblaslt(directory).items()
    }


OTHER_DATA = {
    "_rocm_sdk_libraries/share/miopen/db/gfx90a68.db.txt": b"104 compute units in hexadecimal",
    "_rocm_sdk_libraries/share/miopen/db/gfx906_60.db.txt": b"60 in decimal",
    "_rocm_sdk_libraries/share/miopen/db/gfx1030_36.kdb": b"36 in decimal",
    "_rocm_sdk_libraries/share/miopen/db/gfx942130.HIP.fdb.txt": b"304 in hexadecimal",
    "_rocm_sdk_libraries/share/miopen/db/gfx942.tn.model": b"model",
    "_rocm_sdk_libraries/share/miopen/db/gfx1030_ConvHipIgemm.ktn.model": b"model",
    "_rocm_sdk_libraries/share/miopen/db/miopen.db": b"for all",
    "_rocm_sdk_libraries/lib/rocfft/rocfft_kernel_cache.db": b"shared",
    "_rocm_sdk_libraries/lib/rocfft/rocfft_kernel_cache_gfx942.db": b"cache",
    "_rocm_sdk_libraries/lib/rocfft/rocfft_kernel_cache_gfx1030.db": b"cache",
    "_rocm_sdk_libraries/lib/rocfft/rocfft_rtc_helper": b"helper",
    "_rocm_sdk_libraries/.kpack/blas_lib_gfx942.kpack": kpack({"lib/libx.so#0": {"gfx942": b"code"}}),
    "_rocm_sdk_libraries/.kpack/blas_lib.kpack": kpack({"lib/libx.so#0": {"gfx942": b"code", "gfx1030": b"code"}}),
    "_rocm_sdk_libraries/lib/hipdnn_plugins/engines/libmiopen_plugin.so": b"engine",
    "_rocm_sdk_libraries/share/rccl/msccl-algorithms/allreduce_gfx942.xml": b"<algo/>",
    "_rocm_sdk_libraries/lib/librocblas.so.5": b"library",
    "_rocm_sdk_libraries/lib/rocblas/notes_gfx942.bin": b"unknown",
    "_rocm_sdk_core/lib/rocm_sysdeps/share/libdrm/amdgpu.ids": b"ids",
    "_rocm_sdk_core/etc/OpenCL/vendors/amdocl64.icd": b"libamdocl64.so",
    "_rocm_sdk_core/share/doc/hip-gfx942/LICENSE.md": b"licence",
    "rocm_sdk_core-7.0.dist-info/METADATA": b"Name: rocm-sdk-core",
    "torch/lib/aotriton.images/amd-gfx90a/flash/attn.aks2": b"images",
    "torch/lib/aotriton.images/amd-gfx11xx/flash/attn.aks2": b"images",
    "torch/lib/aotriton.images/amd-gfx10xx/attn.aks2": b"images",
    "torch/lib/aotriton.images/__signature__": b"all",
    "torch/__init__.py": b"",
}

"""The data files of an SDK: their kinds, targets and libraries; what GPUs do without; what hostile indexes cannot do.

The rules are tried on made-up trees of every form (sample_data_files).
"""

import sys
import zlib
from pathlib import Path

import pytest
from sample_data_files import GEMM, OTHER_DATA, TARGETS, by_directory, flat, hipblaslt, merged, of_nixpkgs, write
from sample_device_code import bundle, code_object, kernel_index, library, message, objects

from rocm_sdk._native import kernel_table_names
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.data_files import (
    UNKNOWN,
    DataFile,
    NotNeeded,
    data_files,
    files_below,
    not_needed,
    read_table,
    select_files,
)
from rocm_sdk_build.inputs.kernel_indexes import LostTable, is_index, lost_tables, named_by, stem_of

BLAS = "_rocm_sdk_libraries/lib/rocblas/library"
GENERIC_GFX11 = 0x54 | 1 << 24  # e_flags
FORMS = {
    "flat": flat(BLAS),
    "zlib": flat("_rocm_sdk_libraries_gfx94X/lib/rocblas/library", end=".dat.zlib"),
    "Debian": flat("_rocm_sdk_libraries/lib/rocblas/4.4.1/library"),
    "directories": by_directory(BLAS),
    "mixed": {**flat(BLAS), **by_directory(BLAS)},
    "merged": merged(BLAS),
    "hipblaslt": hipblaslt("_rocm_sdk_libraries/lib/hipblaslt/library"),
    "nixpkgs": of_nixpkgs("_rocm_sdk_libraries/lib/hipblaslt/library"),
    "hipsparselt": flat("_rocm_sdk_libraries/lib/hipsparselt/library"),
}


def found(root: Path) -> dict[str, DataFile]:
    return {file.path: file for file in data_files(root, files_below(root))}


def choice(root: Path, *gpus: str, unofficial: bool = False) -> NotNeeded:
    return not_needed(root, data_files(root, files_below(root)), gpus, unofficial)


def dropped(root: Path, *gpus: str) -> set[str]:
    made = choice(root, *gpus)
    assert made.held == ()
    return {file.path for file in made.dropped}


@pytest.mark.parametrize("form", FORMS)
def test_tensile(tmp_path: Path, form: str) -> None:
    """Files with the name of another target go; all files that a remaining index names are there."""
    root = write(tmp_path / "site", FORMS[form])
    others = {path for path in FORMS[form] if any(target in path for target in TARGETS if target != "gfx1100")}
    assert dropped(root, "gfx1100") == others
    kept = FORMS[form].keys() - others
    assert lost_tables(root, FORMS[form], kept, ("gfx1100",)) == ()
    for_all = {path for path in FORMS[form] if "/gfx" not in path and path.endswith((f"{GEMM}_fallback.dat", ".txt"))}
    assert for_all <= kept


def test_tensile_for_modes(tmp_path: Path) -> None:
    root = write(tmp_path, flat(BLAS))
    kernels = f"{BLAS}/Kernels.so-000-gfx90a"
    assert f"{kernels}-xnack+.hsaco" in dropped(root, "gfx90a:xnack-")
    assert not {f"{kernels}-xnack-.hsaco", f"{kernels}.hsaco"} & dropped(root, "gfx90a:xnack-")
    assert not {f"{kernels}-xnack+.hsaco", f"{kernels}-xnack-.hsaco"} & dropped(root, "gfx90a", "gfx1030")


def test_generic_targets_and_unofficial_ones(tmp_path: Path) -> None:
    names = ("Kernels.so-000-gfx11-generic.hsaco", "Kernels.so-000-gfx1100.hsaco", "Kernels.so-000-gfx1030.hsaco")
    root = write(tmp_path, {f"{BLAS}/{name}": code_object(0x41) for name in names[1:]})
    write(root, {f"{BLAS}/{names[0]}": code_object(GENERIC_GFX11, abi=4, size=64)})
    assert dropped(root, "gfx1100") == {f"{BLAS}/{names[2]}"}
    assert dropped(root, "gfx1151") == {f"{BLAS}/{name}" for name in names[1:]}
    assert {file.path for file in choice(root, "gfx1031", unofficial=True).dropped} == {
        f"{BLAS}/{name}" for name in names[:2]
    }


def test_code_tells_the_targets_where_the_name_does_not(tmp_path: Path) -> None:
    files = {f"{BLAS}/first.co": objects("gfx942", "gfx1030"), f"{BLAS}/second.co": objects("gfx942")}
    root = write(tmp_path, {name: bundle(entries) for name, entries in files.items()})
    write(root, {f"{BLAS}/damaged.co": bundle(objects("gfx942"))[:40], f"{BLAS}/a_gfx942_gfx1030.co": b""})
    assert [(path.rpartition("/")[2], file.targets) for path, file in found(root).items()] == [
        ("a_gfx942_gfx1030.co", ("gfx942", "gfx1030")),
        ("damaged.co", ()),
        ("first.co", ("gfx942", "gfx1030")),
        ("second.co", ("gfx942",)),
    ]
    assert dropped(root, "gfx1030") == {f"{BLAS}/second.co"}


def test_other_data(tmp_path: Path) -> None:
    root = write(tmp_path, OTHER_DATA)
    assert {path.rpartition("/")[2] for path in dropped(root, "gfx1030")} == {
        *("gfx90a68.db.txt", "gfx906_60.db.txt", "gfx942130.HIP.fdb.txt", "gfx942.tn.model"),
        *("rocfft_kernel_cache_gfx942.db", "blas_lib_gfx942.kpack", "attn.aks2"),
    }
    images = "torch/lib/aotriton.images"
    assert {path for path in dropped(root, "gfx1030") if path.startswith(images)} == {
        f"{images}/amd-gfx90a/flash/attn.aks2",
        f"{images}/amd-gfx11xx/flash/attn.aks2",
    }
    assert f"{images}/amd-gfx11xx/flash/attn.aks2" not in dropped(root, "gfx1151")
    assert len([path for path in dropped(root, "gfx1200") if path.startswith(images)]) == 3


def test_who_reads_it(tmp_path: Path) -> None:
    files = found(write(tmp_path, {**OTHER_DATA, **flat(BLAS)}))
    readers = {
        f"{BLAS}/{GEMM}_fallback.dat": ("librocblas.so",),
        "_rocm_sdk_libraries/share/miopen/db/miopen.db": ("libMIOpen.so",),
        "_rocm_sdk_libraries/lib/rocfft/rocfft_rtc_helper": ("librocfft.so",),
        "_rocm_sdk_libraries/lib/hipdnn_plugins/engines/libmiopen_plugin.so": ("libhipdnn_backend.so",),
        "_rocm_sdk_libraries/share/rccl/msccl-algorithms/allreduce_gfx942.xml": ("librccl.so",),
        "_rocm_sdk_core/lib/rocm_sysdeps/share/libdrm/amdgpu.ids": (
            "libdrm_amdgpu.so",
            "librocm_sysdeps_drm_amdgpu.so",
        ),
        "_rocm_sdk_core/etc/OpenCL/vendors/amdocl64.icd": ("libOpenCL.so",),
        "_rocm_sdk_core/share/doc/hip-gfx942/LICENSE.md": ("*",),
        "torch/lib/aotriton.images/__signature__": ("libaotriton_v2.so",),
        "_rocm_sdk_libraries/lib/rocblas/notes_gfx942.bin": ("librocblas.so",),
    }
    assert {path: files[path].libraries for path in readers} == readers
    assert files["_rocm_sdk_libraries/lib/rocblas/notes_gfx942.bin"].kind == UNKNOWN
    assert not {"torch/__init__.py", "_rocm_sdk_libraries/lib/librocblas.so.5"} & files.keys()


def test_nothing_for_the_gpu(tmp_path: Path) -> None:
    """Kernels of Tensile stay together: check-gpu and the library must see that there are none for the GPU."""
    root = write(tmp_path, flat(BLAS))
    made = choice(root, "gfx1200")
    assert made.dropped == ()
    assert {each.why for each in made.held} == {"none of the kernels of rocBLAS is for gfx1200"}
    assert len(made.held) == len([path for path in flat(BLAS) if "gfx" in path])


def test_a_table_that_an_index_names_stays(tmp_path: Path) -> None:
    """As where any GPU is led to a table of another's name, or an index names an index in YAML."""
    shared = kernel_index({"gfx942": [f"{GEMM}_gfx942"], "": ["TensileLibrary_Odd_gfx942"]})
    root = write(tmp_path, {**flat(BLAS), f"{BLAS}/TensileLibrary.dat": shared})
    write(root, {f"{BLAS}/TensileLibrary_Odd_gfx942{end}": b"table" for end in (".dat", ".co")})
    made = choice(root, "gfx1100")
    assert {each.file.path.rpartition("/")[2]: each.why for each in made.held} == {
        "TensileLibrary_Odd_gfx942.dat": f"{BLAS}/TensileLibrary.dat names it",
        "TensileLibrary_Odd_gfx942.co": f"{BLAS}/TensileLibrary.dat names it",
    }
    assert f"{BLAS}/{GEMM}_gfx942.dat" in {file.path for file in made.dropped}
    write(root, {f"{BLAS}/TensileLibrary.yaml": f"- library: {{value: {GEMM}_gfx90a}}\n".encode()})
    assert f"{BLAS}/{GEMM}_gfx90a.co" in {each.file.path for each in choice(root, "gfx1100").held}


@pytest.mark.parametrize(
    "content",
    [
        b"\xc1",
        zlib.compress(bytes((1 << 28) + 1), 9),
        message({"library": {"type": "Hardware", "rows": "x" * 200}}),
        b"\x81" * 5000,
        b"\xdf\xff\xff\xff\xff",
    ],
    ids=["no table", "bomb", "no rows", "deep", "huge count"],
)
def test_an_index_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    """An index that cannot be read may name anything: all files beside it stay."""
    root = write(tmp_path, {**flat(BLAS), f"{BLAS}/TensileLibrary.dat": content})
    made = choice(root, "gfx1100")
    assert made.dropped == ()
    assert {each.why.partition(": ")[0] for each in made.held} == {
        f"{BLAS}/TensileLibrary.dat, which may name it, cannot be read"
    }
    assert str(root) not in made.held[0].why


def test_names_that_lead_out_of_the_directory(tmp_path: Path) -> None:
    names = ["../TensileLibrary_Out_gfx942", "/etc/TensileLibrary_gfx942", "..", "", "gfx942/TensileLibrary_A_gfx942"]
    root = write(tmp_path, {**flat(BLAS), f"{BLAS}/TensileLibrary.dat": kernel_index({"": names})})
    write(root, {"_rocm_sdk_libraries/lib/rocblas/TensileLibrary_Out_gfx942.dat": b""})
    made = choice(root, "gfx1100")
    assert made.held == ()
    assert named_by(root, f"{BLAS}/TensileLibrary.dat", (), unofficial=False) == set(names)


def test_what_an_index_names_is_there(tmp_path: Path) -> None:
    root = write(tmp_path, flat(BLAS))
    paths = set(files_below(root))
    indexes = [path for path in paths if is_index(path)]
    named = {(BLAS, name) for index in indexes for name in named_by(root, index, (), unofficial=False)}
    assert named <= set(map(stem_of, paths))
    assert lost_tables(root, paths, paths) == ()
    lost = lost_tables(root, paths, paths - {f"{BLAS}/{GEMM}_fallback.dat"}, ("gfx1100",))
    assert lost == tuple(
        LostTable(f"{BLAS}/TensileLibrary_lazy_{target}.dat", f"{GEMM}_fallback") for target in sorted(TARGETS)
    )
    assert lost_tables(root, paths, paths - {f"{BLAS}/{GEMM}_gfx942.dat"}, ("gfx1100",)) == ()
    assert len(lost_tables(root, paths, paths - {f"{BLAS}/{GEMM}_gfx942.dat"})) == 1
    (root / f"{BLAS}/{GEMM}_fallback.dat").unlink()
    there = files_below(root)
    assert lost_tables(root, there, there) == (), "it was not there before"


def test_how_often_an_index_is_read(tmp_path: Path) -> None:
    """For the choice, and for its proof, which reads those that stay."""
    root = write(tmp_path, flat(BLAS))
    read = []

    def count(_frame: object, event: str, called: object) -> None:
        if event == "c_call" and called is kernel_table_names:
            read.append(event)

    sys.setprofile(count)
    try:
        made = select_files(root, files_below(root), ("gfx1100",), unofficial=False)
    finally:
        sys.setprofile(None)
    kept = [path for path in files_below(root) if is_index(path) and path not in made.left_out]
    assert made.left_out
    assert len(read) == 2 * len(kept)


def test_a_library_that_another_one_needs(tmp_path: Path) -> None:
    directory = tmp_path / "lib"
    directory.mkdir()
    kernels = [library(directory / f"libMIOpenCKx_{target}.so", []) for target in ("gfx942", "gfx90a")]
    library(directory / "libMIOpen.so.1", [], "-Wl,--no-as-needed", kernels[0])
    made = choice(tmp_path, "gfx1030")
    assert [file.path for file in made.dropped] == ["lib/libMIOpenCKx_gfx90a.so"]
    assert [(each.file.path, each.why) for each in made.held] == [
        ("lib/libMIOpenCKx_gfx942.so", "libMIOpen.so.1 needs it to load")
    ]


def test_a_directory_of_data_alone(tmp_path: Path) -> None:
    root = write(tmp_path / "site", FORMS["Debian"])
    whole = {path.rpartition("/")[2] for path in dropped(root, "gfx1100")}
    for part in ("lib", "lib/rocblas", "lib/rocblas/4.4.1", "lib/rocblas/4.4.1/library"):
        below = dropped(root / "_rocm_sdk_libraries" / part, "gfx1100")
        assert {path.rpartition("/")[2] for path in below} == whole


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "site", flat(BLAS))
    (root / "out").symlink_to(tmp_path)
    (root / BLAS / "Kernels_gfx942.co").symlink_to("/etc/passwd")
    assert set(files_below(root)) == flat(BLAS).keys()


@pytest.mark.parametrize("line", ["name  goes  libx.so", "size  goes  libx.so  **/x  data", "-  leaves  *  **/x  data"])
def test_a_line_that_is_no_row(tmp_path: Path, line: str) -> None:
    table = tmp_path / "data_files.txt"
    table.write_text(f"# a comment\n{line}\n")
    with pytest.raises(PackagingError, match=r"data_files\.txt:2: .* is not a row") as error:
        read_table(table)
    assert "columns are TARGETS WITHOUT LIBRARIES GLOB KIND" in (error.value.fix or "")

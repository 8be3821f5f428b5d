"""The tables in which rocBLAS and hipBLASLt look kernels up: what they have for a GPU, and what is missing."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_device_code import bundle, code_object, kernel_index, library, message, objects

from rocm_sdk import BadLibraryError, Coverage, GpuCoverage, coverage
from rocm_sdk._native import kernel_table_kind, kernel_table_names
from rocm_sdk.base.zstd import import_zstd

zstd = import_zstd()

TYPES = "TensileLibrary_Type_HH_Contraction_l_Ailk_Bjlk_Cijk_Dijk"


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """Return the directory of rocBLAS's kernels, with code for three GPUs."""
    library(tmp_path / "librocblas.so.5", [bundle(objects("gfx1030", "gfx90a", "gfx1100"))])
    directory = tmp_path / "rocblas/library"
    directory.mkdir(parents=True)
    for target, flags in (("gfx1030", 0x36), ("gfx90a", 0x53F), ("gfx1100", 0x41)):
        write(directory / f"Kernels.so-000-{target}.hsaco", code_object(flags, size=64))
    return directory


def write(path: Path, content: bytes = b"") -> Path:
    path.write_bytes(content)
    return path


def read(kernels: Path, gpu: str) -> Coverage:
    return coverage([gpu], kernels.parents[1])


def on(kernels: Path, gpu: str) -> GpuCoverage:
    found = read(kernels, gpu)
    assert found.faults == ()
    (row,) = found.libraries
    return row.gpus[0]


def test_one_index_for_all(kernels: Path) -> None:
    content = kernel_index({"gfx90a CU104": [], "gfx1030": [], "": []})
    write(kernels / "TensileLibrary.dat", content)
    assert [on(kernels, gpu).tables for gpu in ("gfx1030", "gfx90a:xnack-", "gfx1100")] == [
        "tuned",
        "tuned",
        "fallback",
    ]
    missing = on(kernels, "gfx942")
    assert (missing.verdict, missing.tables) == ("none", "none")


@pytest.mark.parametrize(
    ("pack", "end"),
    [(bytes, ".dat"), (zlib.compress, ".dat.zlib"), (zstd.compress, ".dat")],
    ids=["plain", "zlib", "zstd, as nixpkgs has them"],
)
def test_an_index_for_each_target(kernels: Path, pack: Callable[[bytes], bytes], end: str) -> None:
    tuned, fallback = f"{TYPES}_gfx1030", f"{TYPES}_fallback"
    write(kernels / f"TensileLibrary_lazy_gfx1030{end}", pack(kernel_index({"gfx1030": [tuned], "": [fallback]})))
    write(kernels / f"TensileLibrary_lazy_gfx1100{end}", pack(kernel_index({"": [fallback]})))
    for name in (tuned, fallback):
        write(kernels / f"{name}{end}")
    assert [on(kernels, gpu).tables for gpu in ("gfx1030", "gfx1100")] == ["tuned", "fallback"]
    unlisted = on(kernels, "gfx90a")
    assert (unlisted.verdict, unlisted.lack, unlisted.tables) == ("none", "index", "none")
    assert on(kernels, "gfx1030").missing_table is None
    (kernels / f"{tuned}{end}").unlink()
    lacking = on(kernels, "gfx1030")
    assert (lacking.verdict, lacking.tables, lacking.missing_table) == ("exact", "tuned", f"{kernels}/{tuned}.dat")
    assert on(kernels, "gfx1100").missing_table is None


def test_an_index_that_names_another_processor(kernels: Path) -> None:
    """As where a user has renamed the file of another GPU: the library finds the index, and no row in it."""
    write(kernels / "TensileLibrary_lazy_gfx1100.dat", kernel_index({"gfx1030": []}))
    found = on(kernels, "gfx1100")
    assert (found.verdict, found.lack, found.tables) == ("none", "index", "none")


def test_a_directory_for_each_target(kernels: Path) -> None:
    own = kernels / "gfx1100"
    own.mkdir()
    write(own / "TensileLibrary_lazy_gfx1100.dat", kernel_index({"gfx1100": [TYPES]}))
    write(kernels / f"{TYPES}.dat")
    assert on(kernels, "gfx1100").missing_table == f"{own}/{TYPES}.dat"
    write(own / f"{TYPES}.dat.zlib")
    assert on(kernels, "gfx1100").missing_table is None
    write(own / "TensileLibrary_lazy_gfx1100.dat", kernel_index({"": []}))
    assert on(kernels, "gfx1100").tables == "fallback"


def test_conditions_that_are_not_known(kernels: Path) -> None:
    terms = {"type": "Or", "value": [{"type": "Processor", "value": "gfx1100"}]}
    row = {"predicate": {"type": "AMDGPU", "value": terms}, "library": {"type": "Problem", "rows": []}}
    write(kernels / "TensileLibrary.dat", message({"library": {"type": "Hardware", "rows": [row]}}))
    assert on(kernels, "gfx1100").tables == "none"


def test_an_index_in_text_counts_by_its_name(kernels: Path) -> None:
    write(kernels / "TensileLibrary_lazy_gfx1100.yaml", b"library: {}\n")
    assert [on(kernels, gpu).verdict for gpu in ("gfx1100", "gfx1030")] == ["exact", "none"]
    assert on(kernels, "gfx1100").tables is None


def test_a_library_without_tables(tmp_path: Path) -> None:
    library(tmp_path / "libsparse.so.1", [bundle(objects("gfx1030"))])
    (row,) = coverage(["gfx1030"], tmp_path).libraries
    assert (row.gpus[0].tables, row.gpus[0].missing_table) == (None, None)


@pytest.mark.parametrize(
    "mapping", ["TensileLiteLibrary_lazy_Mapping.dat", "TensileLiteLibrary_lazy_gfx1100_Mapping.dat"]
)
def test_further_tables_of_hipblaslt(tmp_path: Path, mapping: str) -> None:
    library(tmp_path / "libhipblaslt.so.1", [bundle(objects("gfx1100", "gfx1030"))])
    kernels = tmp_path / "hipblaslt/library"
    kernels.mkdir(parents=True)
    for target, flags in (("gfx1030", 0x36), ("gfx1100", 0x41)):
        write(kernels / f"Kernels.so-000-{target}.hsaco", code_object(flags, size=64))
        write(kernels / f"TensileLibrary_lazy_{target}.dat", kernel_index({target: []}))
    operators = kernels / "hipblasltExtOpLibrary.dat"
    write(operators, message({"gfx1030": {"Softmax": {"S": []}}, "gfx1100": {"AMax": {}}}))
    write(kernels / mapping, message({"0": f"{TYPES}_gfx1100", "51": "TensileLibrary_Type_SS_gfx1100"}))
    whole = on(kernels, "gfx1100")
    assert (whole.verdict, whole.lack, whole.covered, whole.total) == ("exact", None, 4, 4)
    other = on(kernels, "gfx1030")
    is_for_all = "gfx1100" not in mapping
    assert (other.verdict, other.covered, other.total) == ("exact", 3, 4 if is_for_all else 3)
    assert other.detail == (str(kernels / mapping) if is_for_all else None)
    write(operators, message({"gfx1030": {}}))
    lacking = on(kernels, "gfx1100")
    assert (lacking.verdict, lacking.lack, lacking.detail) == ("exact", "index", str(operators))


def nested(depth: int) -> object:
    value: object = {"type": "Problem"}
    for _ in range(depth):
        value = {"library": value}
    return value


DAMAGED = {
    "empty": b"",
    "other": message([1, 2]),
    "no library": message({"solutions": []}),
    "rows of problems": message({"library": {"type": "Problem", "rows": []}}),
    "cut": kernel_index({"gfx1100": ["a"]})[:-20],
    "cut zlib": zlib.compress(kernel_index({"gfx1100": ["a" * 200]}))[:-20],
    "not zlib": b"x" * 100,
    "deep": message({"library": {"type": "Hardware", "rows": [{"library": nested(100)}]}}),
    "many rows": b"\x81\xa7library\x82\xa4type\xa8Hardware\xa4rows\xdd\xff\xff\xff\xff",
    "large": zlib.compress(bytes(1 << 29), 1),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_table_that_is_damaged_is_a_fault(kernels: Path, content: bytes) -> None:
    path = write(kernels / "TensileLibrary_lazy_gfx1100.dat", content)
    (fault,) = read(kernels, "gfx1100").faults
    assert (fault.path, fault.code) == (str(path), "E-LIB-006")
    assert fault.message.startswith(f"{path}: ")


def test_a_table_that_is_larger_than_any(kernels: Path) -> None:
    """The beginning of the file is a table; the rest is a hole."""
    path = write(kernels / "TensileLibrary_lazy_gfx1100.dat", kernel_index({"gfx1100": ["a"]}))
    with path.open("r+b") as file:
        file.truncate((1 << 29) + 1)
    (fault,) = read(kernels, "gfx1100").faults
    assert fault.message.endswith("it is larger than any table of kernels is")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TensileLibrary.dat", "index"),
        ("TensileLibrary_lazy_gfx942.dat.zlib", "index"),
        ("TensileLibrary_gfx942.yaml", "index"),
        (f"{TYPES}_fallback.dat", "table"),
        ("TensileLiteLibrary_lazy_Mapping.dat", "targets"),
        ("hipblasltExtOpLibrary.dat", "targets"),
        ("TensileManifest.txt", None),
        (f"{TYPES}_gfx942.co", None),
    ],
)
def test_the_kind_of_a_table(name: str, kind: str | None) -> None:
    assert kernel_table_kind(name) == kind


def test_the_names_in_tables(tmp_path: Path) -> None:
    index = write(tmp_path / "TensileLibrary_lazy_gfx942.dat", kernel_index({"gfx942": ["A_gfx942"], "": ["../B"]}))
    assert kernel_table_names(index) == (("gfx942", "A_gfx942"), (None, "../B"))
    content = message({0: "T_gfx90a-xnack+", 7: "T_gfx90a-xnack+", 9: "T_fallback", 11: {"T_gfx1030": 1}})
    mapping = write(tmp_path / "TensileLiteLibrary_lazy_Mapping.dat", zlib.compress(content))
    assert kernel_table_names(mapping) == (("gfx90a:xnack+", "T_gfx90a-xnack+"), (None, "T_fallback"))
    assert kernel_table_names(write(mapping, zstd.compress(content)))[1] == (None, "T_fallback")
    for damaged in (content[:-3], b"", b"\x78\x9c" + bytes(9), message([1]), zstd.compress(content)[:-3], b"\x28"):
        with pytest.raises(BadLibraryError):
            kernel_table_names(write(mapping, damaged))
    with pytest.raises(BadLibraryError, match="its name is not a name of an index"):
        kernel_table_names(write(tmp_path / "kernels.dat", content))

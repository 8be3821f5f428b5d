"""`rocm-sdk code DIRECTORY --keep` drops the data of other GPUs, from directories and wheels of every form."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from programs import completed
from sample_data_files import GEMM, OTHER_DATA, by_directory, flat, hipblaslt, merged, write
from sample_device_code import FLAGS, bundle, code_object, kernel_index, library, objects

from rocm_sdk import RewriteError, coverage
from rocm_sdk.installed.record import read_record, row_of
from rocm_sdk_build.code.rewrite import NewCode
from rocm_sdk_build.code.trees import RewrittenTree, Selection, rewrite_directory, rewrite_wheel
from rocm_sdk_build.inputs.data_files import files_below, select_for

LIB = "_rocm_sdk_libraries/lib"
BLAS = f"{LIB}/rocblas/library"
KEEP = NewCode(("gfx1030",), check_loading=False)
SELECT = select_for(("gfx1030",), False)
INFO = "rocm_sdk_libraries-7.0.dist-info"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a directory like site-packages, with a library of two targets and data of every form, and RECORD."""
    forms = {**flat(BLAS), **by_directory(f"{LIB}/rocblas/library"), **hipblaslt(f"{LIB}/hipblaslt/library")}
    root = write(tmp_path / "site", {**forms, **merged(f"{LIB}/hipsparselt/library"), **OTHER_DATA})
    (root / LIB / "librocblas.so.5").unlink()
    (tmp_path / "scratch").mkdir()
    made = library(tmp_path / "scratch/librocblas.so.5", [bundle(objects("gfx1030", "gfx942", size=50_000))])
    made.rename(root / LIB / made.name)
    write(root, {f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: rocm-sdk-libraries\nVersion: 7.0\n"})
    write(root, {f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"})
    write_record(root)
    return root


def write_record(root: Path) -> None:
    rows = [row_of(path, (root / path).read_bytes()) for path in files_below(root)]
    text = "".join(f"{','.join(row)}\n" for row in rows)
    (root / INFO / "RECORD").write_text(f"{text}{INFO}/RECORD,,\n")


def assert_record(root: Path) -> None:
    """Assert that each row of RECORD is a file with this content, and that each file has a row."""
    rows = {row.path: row for row in read_record(str(root / INFO / "RECORD")).rows}
    own = f"{INFO}/RECORD"
    assert rows.keys() == set(files_below(root))
    assert [path for path in rows if path != own and rows[path] != row_of(path, (root / path).read_bytes())] == []


def code(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rocm_sdk", "code", *map(str, words), "--no-load"]
    return completed(command)


def verdicts(root: Path) -> dict[str, tuple[str, str | None, str | None]]:
    found = coverage(["gfx1030"], root)
    rows = (row for row in found.libraries if row.gpus[0].verdict != "not needed")  # an archive of other GPUs
    return {row.name: (row.gpus[0].verdict, row.gpus[0].tables, row.gpus[0].missing_table) for row in rows}


def other_targets(root: Path) -> list[str]:
    targets = ("gfx906", "gfx90a", "gfx942", "gfx1100")
    return [path for path in files_below(root) if any(target in path for target in targets)]


@pytest.mark.slow
def test_a_directory(site: Path, tmp_path: Path) -> None:
    before = verdicts(site)
    ran = code(site, "--keep", "gfx1030", "--output", tmp_path / "slim")
    assert (ran.returncode, ran.stderr) == (0, "")
    slim = tmp_path / "slim"
    assert before == verdicts(slim)
    assert before["rocblas"] == ("exact", "tuned", None)
    assert_record(slim)
    for_all = {  # names that tell a target, of files that every GPU needs or that no library is known to read
        *("rocblas/notes_gfx942.bin", "msccl-algorithms/allreduce_gfx942.xml", "doc/hip-gfx942/LICENSE.md"),
    }
    assert {"/".join(path.split("/")[-2:]) for path in other_targets(slim)} == {
        "/".join(path.split("/")[-2:]) for path in for_all
    }
    kept = [path for path in files_below(site) if path not in other_targets(site) and "aotriton" not in path]
    assert set(kept) - {f"{LIB}/librocblas.so.5", f"{INFO}/RECORD"} <= set(files_below(slim))
    assert (slim / f"{BLAS}/{GEMM}_fallback.dat").read_bytes() == b"table"


def test_what_is_said(site: Path, tmp_path: Path) -> None:
    shared = kernel_index({"": [f"{GEMM}_gfx942"]})
    write(site, {f"{BLAS}/TensileLibrary.dat": shared})
    told = code(site, "--keep", "gfx1030", "--output", tmp_path / "slim").stdout.splitlines()
    assert told[0].startswith(f"{tmp_path}/slim   ")
    assert told[0].endswith(" files dropped")
    rewritten = [line.split()[0].rpartition("/")[2] for line in told[1:] if line.endswith(": it is not a library")]
    assert rewritten == ["blas_lib.kpack"]  # files of kernels that stay as they are have no lines
    assert [line for line in told if "dropped: " in line] == ["    kept: gfx1030   dropped: gfx942"] * 2
    kinds = {line.strip().partition(": ")[0]: line for line in told if " kept (" in line}
    assert kinds.keys() == {
        *("composable kernels of MIOpen", "databases of MIOpen", "images of AOTriton", "kernel caches of rocFFT"),
        *("kernels of hipBLASLt", "kernels of hipSPARSELt", "kernels of rocBLAS", "kpack archives"),
    } - {"composable kernels of MIOpen"}
    assert kinds["databases of MIOpen"] == "  databases of MIOpen: 3 files kept (25 bytes), 4 dropped (68 bytes)"
    names = (f"{BLAS}/{GEMM}_gfx942.co", f"{BLAS}/{GEMM}_gfx942.dat")
    held = [line for line in told if "for other GPUs" in line]
    assert held == [
        f"  for other GPUs, and left as they are: 2 files: {BLAS}/TensileLibrary.dat names it: {', '.join(names)}"
    ]
    assert [line for line in told if line.startswith("  left")] == []  # code objects of the GPU are as they should be
    assert len(told) < 20, told


@pytest.mark.slow
def test_a_wheel(site: Path, tmp_path: Path) -> None:
    (site / "rocm_sdk_core-7.0.dist-info/METADATA").unlink()  # a wheel has one such directory
    write_record(site)
    wheel = tmp_path / "rocm_sdk_libraries-7.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in files_below(site):
            archive.write(site / path, path)
    (tmp_path / "slim").mkdir()
    ran = code(wheel, "--keep", "gfx1030", "--output", tmp_path / "slim")
    assert (ran.returncode, ran.stderr) == (0, "")
    with zipfile.ZipFile(tmp_path / "slim" / wheel.name) as archive:
        archive.extractall(tmp_path / "unpacked")
    assert_record(tmp_path / "unpacked")
    code(site, "--keep", "gfx1030", "--output", tmp_path / "tree")
    assert files_below(tmp_path / "unpacked") == files_below(tmp_path / "tree")
    target = ["install", "--quiet", "--no-deps", "--target", str(tmp_path / "installed")]
    subprocess.run([sys.executable, "-m", "pip", *target, str(tmp_path / "slim" / wheel.name)], check=True)
    assert verdicts(tmp_path / "installed") == verdicts(site)


def test_loose_files_alone(tmp_path: Path) -> None:
    """A tree whose files are copied or dropped, such as Debian's librocblas-data."""
    root = write(
        tmp_path / "data", {f"rocblas/4.4.1/library/{GEMM}_{each}.dat": b"x" for each in ("gfx1030", "gfx942")}
    )
    made = rewrite_directory(str(root), str(tmp_path / "slim"), KEEP, SELECT)
    assert (made.rewritten, made.left) == ((), ())
    assert files_below(tmp_path / "slim") == (f"rocblas/4.4.1/library/{GEMM}_gfx1030.dat",)
    assert [(sum_.kept, sum_.dropped, sum_.dropped_size) for sum_ in made.kinds] == [(1, 1, 1)]
    with pytest.raises(RewriteError, match="it holds no GPU code"):
        rewrite_directory(str(root), str(tmp_path / "none"), NewCode(("gfx1200",)), select_for(("gfx1200",), False))
    assert not (tmp_path / "none").exists()


def test_code_of_the_gpu_alone(tmp_path: Path) -> None:
    files = {f"rocblas/library/Kernels.so-000-{each}.hsaco": code_object(FLAGS[each], size=64) for each in FLAGS}
    root = write(tmp_path / "data", files)
    rewrite_directory(str(root), str(tmp_path / "slim"), KEEP, SELECT)
    assert files_below(tmp_path / "slim") == ("rocblas/library/Kernels.so-000-gfx1030.hsaco",)
    with pytest.raises(RewriteError, match="it has no code of other GPUs"):
        rewrite_directory(str(tmp_path / "slim"), None, KEEP, SELECT)


@pytest.mark.parametrize("words", [("--compress",), ("--decompress",)])
def test_nothing_is_dropped_without_keep(site: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    ran = code(site, *words, "--force", "--output", tmp_path / "new")
    assert ran.returncode == 0, ran.stderr
    assert files_below(tmp_path / "new") == files_below(site)
    assert ran.stdout.splitlines()[0].endswith(" files rewritten")
    assert " kept (" not in ran.stdout


def test_links_to_what_is_dropped(site: Path, tmp_path: Path) -> None:
    (site / BLAS / "gfx942_link").symlink_to("gfx942/Kernels.so-000.hsaco")
    (site / BLAS / "chain").symlink_to("gfx942_link")
    (site / BLAS / "stays").symlink_to("gfx1030/Kernels.so-000.hsaco")
    (site / BLAS / "out").symlink_to("../../../../../outside")
    (site / BLAS / "loop").symlink_to("loop")
    record = site / INFO / "RECORD"
    record.write_text(f"{record.read_text()}{BLAS}/gfx942_link,,\n{BLAS}/stays,,\n")
    made = rewrite_directory(str(site), str(tmp_path / "slim"), KEEP, SELECT)
    links = {path.name for path in (tmp_path / "slim" / BLAS).iterdir() if path.is_symlink()}
    assert links == {"stays", "out", "loop"}
    assert {each.path for each in made.left_out if each.size == 0} >= {f"{BLAS}/gfx942_link", f"{BLAS}/chain"}
    rows = {row.path for row in read_record(str(tmp_path / "slim" / INFO / "RECORD")).rows}
    assert f"{BLAS}/stays" in rows
    assert f"{BLAS}/gfx942_link" not in rows


def dropping(*paths: str) -> Selection:
    return Selection(dict.fromkeys(paths, "it is not wanted"), suffices=True)


def test_whole_directories_are_left_out(site: Path, tmp_path: Path) -> None:
    """As a caller chooses that leaves out packages: what lies below, links and rows of RECORD go, too."""
    (site / "torch/again").symlink_to("lib")
    (site / "to_torch").symlink_to("torch/lib")
    gone = ("torch", f"{LIB}/rocblas", f"{LIB}/librocblas.so.5")
    size = sum((site / path).stat().st_size for path in files_below(site))
    made = rewrite_directory(str(site), str(tmp_path / "slim"), KEEP, lambda _: dropping(*gone))
    assert not [path for path in files_below(tmp_path / "slim") if path.startswith(gone)]
    assert not (tmp_path / "slim/torch").exists()
    assert not (tmp_path / "slim/to_torch").is_symlink()
    assert made.size_before == size
    assert made.size_before - made.size > 100_000
    assert_record(tmp_path / "slim")
    assert {each.why for each in made.left_out} == {"it is not wanted", "it leads to torch/lib, which is left out"}


def test_a_whole_distribution_of_a_wheel(site: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "rocm_sdk_libraries-7.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("torch/", b"")
        for path in files_below(site):
            archive.write(site / path, path)
    (tmp_path / "slim").mkdir()
    made = rewrite_wheel(str(wheel), str(tmp_path / "slim" / wheel.name), KEEP, lambda _: dropping("torch"))
    with zipfile.ZipFile(tmp_path / "slim" / wheel.name) as archive:
        assert not [name for name in archive.namelist() if name.startswith("torch")]
    assert isinstance(made, RewrittenTree)


def test_a_choice_that_would_break_an_index(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof does not rely on the choice: a fault in it is found before the tree appears."""
    from rocm_sdk_build.inputs import data_files

    def faulty(*arguments: object) -> object:
        choice = not_needed(*arguments)  # type: ignore[arg-type]
        files = data_files.data_files(site, [f"{BLAS}/{GEMM}_fallback.dat"])
        return choice._replace(dropped=(*choice.dropped, *files))

    not_needed = data_files.not_needed
    monkeypatch.setattr(data_files, "not_needed", faulty)
    with pytest.raises(RewriteError, match=r"names TensileLibrary_Type.*_fallback, which would not be there"):
        rewrite_directory(str(site), str(tmp_path / "slim"), KEEP, SELECT)
    assert not (tmp_path / "slim").exists()

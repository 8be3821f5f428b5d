"""Closures with GPU code in other places than libraries: kpack archives, engines, generic code beside exact code."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_closure import PROVED, VERSION, closure, names_in
from sample_device_code import HIPK, bundle, code_object, kpack, library, message, objects
from sample_site import LIBRARIES, compile_library

from rocm_sdk import device_code
from rocm_sdk.installed.record import read_record, record_text

LIB = f"{LIBRARIES}/lib"


@pytest.fixture
def extend(sdk: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies the SDK, adds files by `write(directory)`, and puts their names into a RECORD."""

    def extended(write: Callable[[Path], object], *names: str) -> Path:
        site = Path(shutil.copytree(sdk, tmp_path / "own/site", symlinks=True))
        write(site / LIB)
        record = site / f"rocm_sdk_libraries-{VERSION}.dist-info/RECORD"
        rows = read_record(str(record)).rows
        record.write_text(
            record_text([*(rows[0]._replace(path=f"{LIBRARIES}/{name}", digest="") for name in names), *rows])
        )
        return site

    return extended


def targets(path: Path) -> set[str]:
    return {each.target for each in device_code(path).targets}


MARKER = {"kernel_name": "lib/libhipdnn.so.1", "kpack_search_paths": ["../.kpack/dnn_@GFXARCH@.kpack"]}


def write_archives(lib: Path) -> None:
    """Write a library whose code is in an archive for each target, and an archive that no library names."""
    text = "".join(f"\\{byte:03o}" for byte in message(MARKER))
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"\n'
    library(lib / "libMIOpen.so.1", [bundle(objects("gfx942"))], magic=HIPK, more=section)
    for scrap in lib.glob("*.bundle"):
        scrap.unlink()
    (lib.parent / ".kpack").mkdir()
    for name in ("dnn_gfx942", "dnn_gfx1030", "other_gfx942"):
        target = name.partition("_")[2]
        content = kpack({"lib/libhipdnn.so.1#0": {target: code_object(0x4C if target == "gfx942" else 0x36, size=500)}})
        (lib.parent / ".kpack" / f"{name}.kpack").write_bytes(content)


def test_archives_of_a_kept_library(extend: Callable[..., Path], tmp_path: Path) -> None:
    archives = (f".kpack/{name}.kpack" for name in ("dnn_gfx942", "dnn_gfx1030", "other_gfx942"))
    site = extend(write_archives, "lib/libMIOpen.so.1", *archives)
    closure(site, "--library", "miopen", "--gpu", "gfx942", "--output", tmp_path / "out")
    kept = {name for name in names_in(tmp_path / "out") if name.endswith(".kpack")}
    assert kept == {"dnn_gfx942.kpack"}


def write_engine(lib: Path) -> None:
    """Write an engine of hipDNN, which opens engines by names that no file has.

    The engine needs a library that nothing else needs.
    """
    directory = lib / "hipdnn_plugins/engines"
    directory.mkdir(parents=True)
    compile_library(lib / "libhipdnn_backend.so.1", "libhipdnn_backend.so.1", "int backend(void) { return 1; }")
    compile_library(directory / "libengine.so", "libengine.so", "int engine;", (lib / "libunused.so.1",))


@pytest.mark.slow
def test_engines_and_what_they_need(extend: Callable[..., Path], tmp_path: Path) -> None:
    site = extend(write_engine, "lib/libhipdnn_backend.so.1", "lib/hipdnn_plugins/engines/libengine.so")
    done = closure(site, PROVED, "--library", "hipdnn", "--output", tmp_path / "out")
    assert {"libhipdnn_backend.so.1", "libengine.so", "libunused.so.1"} <= names_in(tmp_path / "out")
    assert "libengine.so needs it" in done.stdout


def write_generic(lib: Path) -> None:
    generic = {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic": code_object(0x0100055F, abi=4, size=1000)}
    library(lib / "libMIOpen.so.1", [bundle({**objects("gfx942", "gfx1030", size=1000), **generic})])
    for scrap in lib.glob("*.bundle"):
        scrap.unlink()


@pytest.mark.parametrize(
    ("gpu", "words", "kept"),
    [
        ("gfx942", (), {"gfx942", "gfx9-4-generic"}),
        ("gfx942", ("--exact",), {"gfx942"}),
        ("gfx950", ("--exact",), {"gfx9-4-generic"}),
        ("gfx942,gfx950", ("--exact",), {"gfx942", "gfx9-4-generic"}),
    ],
)
def test_generic_code(
    extend: Callable[..., Path], tmp_path: Path, gpu: str, words: tuple[str, ...], kept: set[str]
) -> None:
    site = extend(write_generic, "lib/libMIOpen.so.1")
    closure(site, "--library", "miopen", "--gpu", gpu, *words, "--no-proof", "--output", tmp_path / "out")
    assert targets(tmp_path / "out" / LIB / "libMIOpen.so.1") == kept

"""`rocm-sdk test` says at each run what was done to a library."""

import sys
from pathlib import Path

import pytest
from compiled_kernels import compiled_kernel
from programs import completed
from sample_device_code import bundle, code_object, library
from sample_report import install, run_test
from sample_site import LIBRARIES, Site

from rocm_sdk_build.code.retarget import Pair
from rocm_sdk_build.code.rewrite import Wish, rewrite_file

NAME = "librocrand.so.1"


@pytest.mark.parametrize(
    ("code", "wish", "detail"),
    [
        ("N-CODE-015", Wish(("gfx1030",)), "keep gfx1030; made of a file with SHA-256 "),
        ("N-CODE-015", Wish(compressed=True), "compress; made of a file with SHA-256 "),
    ],
)
def test_a_library_that_was_rewritten(sdk: Site, tmp_path: Path, code: str, wish: Wish, detail: str) -> None:
    entries = {f"hipv4-amdgcn-amd-amdhsa--gfx{name}": code_object(0x36, size=9000) for name in ("1030", "1100")}
    path = library(tmp_path / NAME, [bundle(entries)])
    rewrite_file(str(path), str(sdk.path / LIBRARIES / "lib" / NAME), wish)
    install(sdk)
    found = run_test(sdk.path, "--only", "libraries").only(code)
    assert found["title"] == f"{NAME} was rewritten"
    assert detail in found["cause"]


def test_a_damaged_note_hides_no_other_library(sdk: Site, tmp_path: Path) -> None:
    """Nor the files after it from `rocm-sdk code`."""
    entries = {f"hipv4-amdgcn-amd-amdhsa--gfx{name}": code_object(0x36, size=9000) for name in ("1030", "1100")}
    path = sdk.path / LIBRARIES / "lib" / NAME
    rewrite_file(str(library(tmp_path / NAME, [bundle(entries)])), str(path), Wish(("gfx1030",)))
    path.write_bytes(path.read_bytes().replace(b'"steps"', b'"stepz"'))
    install(sdk)
    said = run_test(sdk.path, "--only", "libraries")
    assert "nothing readable: the note is damaged" in said.only("N-CODE-015")["cause"]
    assert "E-TEST-001" not in said.codes
    good = library(tmp_path / "good.so", [bundle(entries)])
    listed = completed([sys.executable, "-m", "rocm_sdk", "code", str(path), str(good)])
    assert listed.returncode == 0, listed.stderr
    assert "rewritten: nothing readable: the note is damaged" in listed.stdout
    assert str(good) in listed.stdout


def test_retargeted_code(sdk: Site, tmp_path: Path) -> None:
    path = library(
        tmp_path / "librocrand.so.1",
        [bundle({"hipv4-amdgcn-amd-amdhsa--gfx1030": compiled_kernel(tmp_path, "gfx1030")})],
    )
    rewrite_file(
        str(path),
        str(sdk.path / LIBRARIES / "lib/librocrand.so.1"),
        Wish(retarget=(Pair("gfx1030", "gfx1031"),)),
    )
    install(sdk)
    found = run_test(sdk.path, "--only", "libraries").only("W-CODE-016")
    assert found["title"] == "librocrand.so.1 offers code of one target for another"
    assert "retarget gfx1030:gfx1031 (unofficial); made of" in found["cause"]

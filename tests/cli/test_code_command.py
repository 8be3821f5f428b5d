"""`rocm-sdk code` as its users call it."""

import json
import subprocess
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, compressed, library, objects
from sample_site import clean_environment

from rocm_sdk import _native

Result = subprocess.CompletedProcess[str]

PLAIN = bundle(objects("gfx1030", "gfx90a:xnack-", size=200_000))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a directory with a library with two bundles, one with two compressed ones, and one without GPU code.

    A damaged code object is there, too.
    """
    library(tmp_path / "libplain.so", [PLAIN, PLAIN])
    library(tmp_path / "libpacked.so", [compressed(PLAIN, 3), compressed(PLAIN, 2)])
    library(tmp_path / "libnone.so", [], "-Wl,--gc-sections")
    (tmp_path / "damaged.co").write_bytes(PLAIN[:500])
    return tmp_path


def call(script: Path, files: Path, *words: str) -> Result:
    command = [str(script), "code", *words]
    return completed(command, cwd=files, env=clean_environment())


def test_text(script: Path, files: Path) -> None:
    result = call(script, files, "libplain.so", "libpacked.so", "libnone.so")
    size = {name: (files / name).stat().st_size / 1000 for name in ("libplain.so", "libpacked.so", "libnone.so")}
    stored = (len(compressed(PLAIN, 3)) + len(compressed(PLAIN, 2))) / 1000
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"libplain.so   {size['libplain.so']:.1f} kB   2 bundles, not compressed",
        "  gfx90a:xnack- 400.0 kB   gfx1030 400.0 kB",
        f"libpacked.so   {size['libpacked.so']:.1f} kB   2 bundles, compressed: {stored:.1f} kB hold 800.0 kB",
        "  gfx90a:xnack- 400.0 kB   gfx1030 400.0 kB",
        f"libnone.so   {size['libnone.so']:.1f} kB   no GPU code",
    ]


def test_json(script: Path, files: Path) -> None:
    result = call(script, files, "--json", "libplain.so")
    document = json.loads(result.stdout)
    (code,) = document["files"]
    assert (result.returncode, document["schema"], code["path"]) == (0, 1, "libplain.so")
    assert code["targets"][1] == {"target": "gfx1030", "size": 400_000, "image_count": 2}
    assert code["bundles"][1]["images"][1]["object_target"] == "gfx90a:xnack-"


def test_what_cannot_be_read(script: Path, files: Path) -> None:
    """The others are still shown."""
    result = call(script, files, "damaged.co", "libplain.so", "nothing")
    assert result.returncode == 2  # status of `nothing`; damaged.co alone would give 1
    assert result.stdout.startswith("libplain.so")
    assert (
        "damaged.co: device code at byte 0: an entry of a bundle lies outside the bundle [E-LIB-006]" in result.stderr
    )
    assert "nothing: cannot open" in result.stderr


def test_the_library_that_decompresses_is_missing(script: Path, files: Path) -> None:
    """Code that is not compressed is still shown."""
    if "libzstd.so.1" in subprocess.check_output(["ldd", _native.__file__], text=True):
        pytest.skip("libelf of this system needs libzstd itself: nothing of the loader starts without it")
    (files / "libzstd.so.1").write_text("no library")
    command = [str(script), "code", "libpacked.so", "libplain.so"]
    variables = clean_environment() | {"LD_LIBRARY_PATH": str(files)}
    result = completed(command, cwd=files, env=variables)
    assert (result.returncode, result.stdout.splitlines()[0][:11]) == (1, "libplain.so")
    assert "libpacked.so needs libzstd.so.1" in result.stderr
    assert "[E-LIB-002]" in result.stderr
    assert "libzstd1" in result.stderr


def test_no_code_at_all(script: Path, files: Path) -> None:
    assert call(script, files, "libnone.so").returncode == 1


def test_names_are_made_harmless(script: Path, files: Path) -> None:
    name = "\x1b[31m.co"
    (files / name).write_bytes(bundle({"hipv4-amdgcn-amd-amdhsa--gfx\x1b[2J": b"x"}))
    result = call(script, files, name)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout

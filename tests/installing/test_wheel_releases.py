"""`rocm-sdk install WHEEL`: the release of ROCm that its files fit, and within it the one that its name says."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_devel import make_wheel
from sample_site import compile_library

from rocm_sdk.errors import BadArchiveError, RocmSdkError
from rocm_sdk.fit.verdicts.wheel_releases import releases_of_wheels

Run = Callable[..., subprocess.CompletedProcess[str]]


def wheel(directory: Path, name: str, *sonames: str) -> str:
    """Make a wheel with a library that needs these, and return its path."""
    stubs = directory / f"stubs-{name}"
    stubs.mkdir(parents=True)
    needed = tuple(compile_library(stubs / soname, soname) for soname in sonames)
    library = compile_library(stubs / "_ext.so", None, "", needed)
    project, version = name.split("-")
    return str(make_wheel(directory, project, {f"{project}/_ext.so": library.read_bytes()}, version))


ASKED = {
    "what its files fit": (("app-1", "libamdhip64.so.7", "libamd_smi.so.26"), (">=7.0,<7.15",)),
    "no end": (("app-1", "libamdhip64.so.7"), (">=7.0",)),
    "nothing is told": (("app-1", "libMIOpen.so.1"), ()),
    "the name first": (("cupy_rocm_7_0-14.2.0", "libamdhip64.so.7"), ("7.0", ">=7.0")),
    "the label first": (("app-1+rocm7.12.0", "libamdhip64.so.7"), ("7.12.0", ">=7.0")),
    "a name that the files do not fit": (("app_rocm_6_4-1", "libamdhip64.so.7"), (">=7.0",)),
    "a label with one number": (("app-1+rocm7", "libamdhip64.so.7"), ("7", ">=7.0")),
    "a label alone": (("app-1+rocm10.0.0",), ("10.0.0",)),
}


@pytest.mark.parametrize("case", ASKED)
def test_what_an_index_is_asked_for(tmp_path: Path, case: str) -> None:
    (name, *sonames), expected = ASKED[case]
    assert releases_of_wheels(["sdk", wheel(tmp_path, name, *sonames)]) == expected


def test_wheels_that_no_sdk_fits_together(tmp_path: Path) -> None:
    old = wheel(tmp_path, "old-1", "libamdhip64.so.6")
    new = wheel(tmp_path, "new-1", "libamdhip64.so.7")
    with pytest.raises(RocmSdkError) as refused:
        releases_of_wheels([old, new])
    assert refused.value.message == (
        "old-1-py3-none-any.whl is for ROCm 6.0 to 6.4, new-1-py3-none-any.whl for ROCm 7.0 or newer: no SDK fits both"
    )
    both = wheel(tmp_path, "both-1", "libamdhip64.so.7", "libamd_smi.so.27")
    assert releases_of_wheels([new, both]) == (">=10.0",)


def test_a_wheel_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a-1-py3-none-any.whl"
    path.write_bytes(b"no archive")
    with pytest.raises(BadArchiveError, match="a-1-py3-none-any"):
        releases_of_wheels([str(path)])


@pytest.mark.slow
def test_the_newest_release_that_fits(install: Run, tmp_path: Path) -> None:
    """The index of the tests has 10.0.0 and 10.0.1, and nothing that the name of the wheel says."""
    made = wheel(tmp_path / "wheels", "app_rocm_10_7-1", "libamdhip64.so.7", "libamd_smi.so.27")
    said = install(made, "--print")
    assert "rocm[libraries,device-gfx1100]==10.0.1" in said.stdout
    assert "the name of a wheel says ROCm 10.7, and no index has that; its files also fit ROCm >=10.0" in said.stderr
    assert "finds no solution" in said.stderr  # why it is not


@pytest.mark.always
def test_no_release_that_fits(install: Run, tmp_path: Path) -> None:
    """Nothing newer than the files fit is taken: jax-rocm7-pjrt needs the libamd_smi of ROCm 7."""
    made = wheel(tmp_path / "wheels", "app-1", "libamdhip64.so.7", "libamd_smi.so.26")
    said = install(made, "--print", status=1)
    assert "==10.0" not in said.stdout + said.stderr

"""1 and 2: on WSL2, the problem of the GPU says whether the SDK has librocdxg, and whether that can be opened."""

import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import Site, clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(site: Site, tmp_path: Path) -> Call:
    """Return a function that runs `rocm-sdk` on a machine with WSL2's device and no GPU that the kernel knows."""
    machine = tmp_path / "machine"
    (machine / "dev").mkdir(parents=True)
    (machine / "dev/dxg").touch()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        variables = clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_ROOTFS": str(machine)}
        return completed([SCRIPT, *words], env=variables)

    return run


# The SDK's state -> the statement, and the fix.
@pytest.mark.parametrize(
    ("kind", "said", "fix"),
    [
        ("none", "the SDK 7.10.0 has none", "Install a ROCm that supports WSL (librocdxg)"),
        ("good", "librocdxg.so.1 of the SDK 7.10.0 can be opened", "rocm-sdk run rocminfo"),
        ("refused", "librocdxg.so.1 of the SDK 7.10.0 cannot be opened: ", "rocm-sdk test --only libraries"),
    ],
)
def test_what_the_sdk_has(call: Call, site: Site, kind: str, said: str, fix: str) -> None:
    site.library("libhsa-runtime64.so.1")
    if kind != "none":
        absent = site.library("libdxcore.so") if kind == "refused" else None
        site.library("librocdxg.so.1", needed=(absent,) if absent is not None else ())
        if absent is not None:
            absent.unlink()
    for words in (("gpus",), ("test", "--only", "gpus"), ("gpus", "--arch"), ("gpus", "--health")):
        result = call(*words)
        text = " ".join((result.stdout + result.stderr).split())
        assert said in text, words
        assert fix in text, words
        assert ("needs libdxcore.so, which is not there" in text) == (kind == "refused"), words
    assert said in call("check-gpu").stderr


def test_without_an_sdk(call: Call, site: Site) -> None:
    (site.path / "rocm_sdk_core/_dist_info.py").unlink()
    (site.path / "rocm_sdk_core/__init__.py").unlink()
    assert "Install a ROCm that supports WSL" in call("gpus").stderr

"""What a killed installer leaves: packages without some of their files."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("installer", ["pip", "uv"])


@both
@pytest.mark.parametrize("lost", ["rocm_sdk_core_files/__init__.py", "METADATA", "RECORD"])
def test_half_a_package_is_named_with_a_fix(install: Run, python: Path, installer: str, lost: str) -> None:
    """The fix, and the same command again, make it whole; --print says it too."""
    words = ("sdk", "--installer", installer)
    install(*words, "--yes", python=python, status=None)
    assert "already has all of it" in install(*words, python=python).stdout
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    (dist_info,) = site.glob("rocm_sdk_core-*.dist-info")
    path = site / lost if "/" in lost else dist_info / lost
    path.unlink()
    said = install(*words, "--yes", python=python, status=1)
    assert f"rocm-sdk-core 10.0.1 lacks 1 of its files, as {path}" in said.stderr
    assert "nothing is changed" not in said.stdout
    assert f"lacks 1 of its files, as {path}" in install(*words, "--print", python=python).stderr
    fix, _, _ = said.stderr.splitlines()[-1].removeprefix("  fix: ").partition(", and run the command again")
    subprocess.run(["sh", "-c", fix], check=True, capture_output=True)
    assert not dist_info.exists()
    assert "lacks" not in install(*words, "--yes", python=python, status=None).stderr
    assert path.exists()
    assert "already has all of it" in install(*words, python=python).stdout


def test_what_is_written_and_removed_again_is_no_lack(install: Run, python: Path) -> None:
    """Caches of Python, rows without a digest, and packages of others."""
    install("sdk", "--yes", python=python, status=None)
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    (dist_info,) = site.glob("rocm_sdk_core-*.dist-info")
    rows = "rocm_sdk_core_files/__pycache__/x.pyc,,\nrocm_sdk_devel/_devel.tar.xz,sha256=x,1\n"
    with (dist_info / "RECORD").open("a") as record:
        record.write(rows)
    for name in ("other-1", "rocm_sdk_build-1"):  # a development tree of our own has no RECORD
        (site / f"{name}.dist-info").mkdir()
    assert "already has all of it" in install("sdk", python=python).stdout

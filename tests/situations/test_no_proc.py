"""A chroot or container without /proc: files are listed there, and what cannot be written says why."""

import sys
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, library, objects
from sample_site import clean_environment

COMMANDS = """
mount -t tmpfs none /proc || exit 77
"$@" && echo unexpected
fix=$("$@" 2>&1 | sed -n 's/^  fix: //p')
echo "fix: $fix"
sh -c "$fix" && "$@"
"""


def test_the_cause_and_the_fix(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942"))])
    code = [sys.executable, "-m", "rocm_sdk", "code", str(path)]
    words = [*code, "--keep", "gfx942", "--output", str(tmp_path / "new.so")]
    done = completed(["unshare", "--mount", "sh", "-c", COMMANDS, "sh", *words], env=clean_environment())
    if "unshare" in done.stderr or done.returncode == 77:
        pytest.skip(f"nothing may be mounted here: {done.stderr}")
    assert "new.so cannot be written without /proc: /proc is not mounted here" in done.stderr
    assert "[E-CODE-017]" in done.stderr
    assert "fix: mount -t proc proc /proc" in done.stdout
    assert "unexpected" not in done.stdout
    assert done.returncode == 0
    assert (tmp_path / "new.so").exists()

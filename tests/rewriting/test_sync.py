"""The order in which a new file reaches the disk: its content, then its name."""

import sys
from pathlib import Path

import pytest
from sample_device_code import bundle, objects
from system_calls import traced


@pytest.mark.parametrize("exists", [False, True], ids=["new", "replaced"])
def test_the_content_is_on_the_disk_before_the_name(tmp_path: Path, exists: bool) -> None:
    path, output = tmp_path / "x.co", tmp_path / "out/new.co"
    output.parent.mkdir()
    path.write_bytes(bundle(objects("gfx1030", "gfx942")))
    if exists:
        output.write_text("old")
    words = ["-m", "rocm_sdk", "code", str(path), "--keep", "gfx1030", "--output", str(output)]
    lines = traced(
        [sys.executable, *words], "fsync,linkat,rename,renameat,renameat2,write,pwrite64", tmp_path / "calls"
    )
    written = [number for number, line in enumerate(lines) if "write" in line and f"<{output.parent}/" in line]
    synced = [number for number, line in enumerate(lines) if " fsync(" in line and f"<{output.parent}/" in line]
    named = [number for number, line in enumerate(lines) if f'"{output}"' in line and line.endswith(" = 0")]
    assert (len(named), bool(written)) == (1, True)
    assert written[-1] < synced[0] < named[0]

"""The order of the steps that make a tree survive a power cut, as the kernel sees them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sample_devel import DevelSite
from system_calls import traced

CALLS = "rename,renameat,renameat2,unlink,unlinkat,syncfs,fsync,fdatasync,flock"


def traced_command(site: DevelSite, record: Path, *words: str) -> list[str]:
    """The calls of `rocm-sdk WORDS` that order what reaches the disk, one line each."""
    return traced([sys.executable, "-m", "rocm_sdk", *words], CALLS, record, site.environment())


def index(lines: list[str], pattern: str, start: int = 0) -> int:
    """Where the first call after `start` stands that the pattern fits."""
    found = next((i for i, line in enumerate(lines) if i >= start and re.search(pattern, line)), None)
    assert found is not None, (pattern, lines)
    return found


def test_the_archive_goes_when_the_tree_is_on_the_disk(devel_site: DevelSite, tmp_path: Path) -> None:
    lines = traced_command(devel_site, tmp_path / "calls", "init")
    locked = index(lines, r"flock\(.*LOCK_EX")
    recorded = index(lines, r'rename.*rocm_sdk_devel-[^"]*\.dist-info/RECORD"', locked)
    shown = index(lines, r'rename.*staging[^"]*/tree", .*/_rocm_sdk_devel"', recorded)
    synced = index(lines, r"syncfs\(", shown)
    assert index(lines, r'unlink.*/rocm_sdk_devel/_devel\.tar"') > synced


def test_a_store_lists_an_archive_when_its_files_are_on_the_disk(devel_site: DevelSite, tmp_path: Path) -> None:
    lines = traced_command(devel_site, tmp_path / "calls", "init", "--store", str(tmp_path / "store"))
    listed = index(lines, r'rename.*/store/trees/[^"]*"')
    assert index(lines, r"syncfs\(") < listed
    last_file = max((i for i, line in enumerate(lines) if re.search(r'/store/files/[^"]*"', line)), default=-1)
    assert last_file < listed

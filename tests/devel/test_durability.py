"""The order of the steps that make a tree survive a power cut, as the kernel sees them.

`tests/attack/power_cut.py` finds out what each of them is good for.
"""

import re
import sys
from pathlib import Path

from sample_devel import DevelSite, device_files
from system_calls import traced

CALLS = "write,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,syncfs,fsync,fdatasync,flock"


def traced_command(site: DevelSite, record: Path, *words: str) -> list[str]:
    """Return the calls of `rocm-sdk WORDS` that order the way of data to the disk, one line each."""
    return traced([sys.executable, "-m", "rocm_sdk", *words], CALLS, record, site.environment())


def index(lines: list[str], pattern: str, start: int = 0) -> int:
    """Return the index of the first call from `start` on that the pattern fits."""
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


def test_a_file_is_on_the_disk_before_its_name(devel_site: DevelSite, tmp_path: Path) -> None:
    """Otherwise RECORD, which nothing can make again, is empty after a power cut."""
    devel_site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    lines = traced_command(devel_site, tmp_path / "calls", "init")
    named = [i for i, line in enumerate(lines) if re.search(r'rename.*staging[^"]*/new-file"', line)]
    assert len(named) >= 6, "RECORDs, manifest, device links and stamp"
    for before, line in zip([0, *named], named, strict=False):
        calls = re.findall(r"\b(write|fsync)\([^,]*/new-file[/>]", "\n".join(lines[before:line]))
        assert set(calls) == {"write", "fsync"}, lines[line]
        assert calls[-1] == "fsync", lines[line]


def test_a_tree_is_on_the_disk_before_it_is_shown(devel_site: DevelSite, tmp_path: Path) -> None:
    """The manifest of a shown tree says that it is complete, also where a power cut took the data of other files."""
    lines = traced_command(devel_site, tmp_path / "calls", "init")
    stamped = index(lines, r'rename.*/\.rocm-sdk/stamp"')
    synced = index(lines, r"syncfs\(", stamped)
    assert index(lines, r'rename.*staging[^"]*/tree", .*/_rocm_sdk_devel"') > synced


def test_a_stamp_speaks_of_links_that_are_on_the_disk(devel_site: DevelSite, tmp_path: Path) -> None:
    """Otherwise no later call looks at them again."""
    devel_site.command("init")
    devel_site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    lines = traced_command(devel_site, tmp_path / "calls", "init")
    linked = max(i for i, line in enumerate(lines) if re.search(r'rename.*gfx942_\d\.co"', line))
    listed = index(lines, r'rename.*/device_links\.json"', linked)
    assert index(lines, r'rename.*/stamp"') > index(lines, r"syncfs\(", listed)


def test_links_that_no_list_has_do_not_come_back(devel_site: DevelSite, tmp_path: Path) -> None:
    devel_site.install("rocm-sdk-device-gfx942", device_files("gfx942", count=3))
    devel_site.command("init")
    devel_site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    lines = traced_command(devel_site, tmp_path / "calls", "init")
    removed = index(lines, r'unlink.*/gfx942_2\.co"')
    synced = index(lines, r"syncfs\(", removed)
    assert index(lines, r'rename.*/device_links\.json"') > synced


def test_a_store_has_its_marker_before_anything_else(devel_site: DevelSite, tmp_path: Path) -> None:
    """A directory with something else in it and no marker is never made a store."""
    lines = traced_command(devel_site, tmp_path / "calls", "init", "--store", str(tmp_path / "store"))
    written = index(lines, r'write\("[^"]*-partial-[^"/]*/{')
    marked = index(lines, r'rename.*/store/rocm-sdk-store\.json"', index(lines, r"fsync\(.*-partial-", written))
    synced = index(lines, r"fsync\(\d+<[^>]*/store>", marked)
    assert index(lines, r'mkdir.*/store/files"') > synced

"""The reading of a library on a file server: before, the loader asks the kernel for the whole blocks around."""

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_site import LIBRARIES, Site, clean_environment, run_python
from system_calls import traced

BLOCK = 1 << 17
PLAN = "import rocm_sdk; rocm_sdk.load_plan('amdhip64')"
SPARSE = "import rocm_sdk; rocm_sdk.preload_libraries('hipsparse')"
# As system_calls.traced writes them: pread64("PATH/BYTES", ...).
ADVICE = re.compile(r"fadvise64\(\d+<([^>]*\.so\.\d+)>, (\d+), (\d+), (\w+)\) = 0$")
READ = re.compile(r'pread64\("([^"]*?\.so\.\d+)/.*"(?:\.\.\.)?, (\d+), (\d+)\) = \d+$')
OPENED = re.compile(r"(\d+) +openat\(AT_FDCWD[^,]*, \"([^\"]+\.so\.\d+)\"")
SPREAD = "const char filling[1 << 20] = {1}; int hip(void) { return 1; }"  # its tables lie before and behind


def blocks(site: Site, record: Path) -> dict[str, tuple[list[int], set[int]]]:
    """Return blocks by the name of a library: asked-for ones in their order, and ones that the loader read."""
    found: dict[str, tuple[list[int], set[int]]] = {}
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    for line in traced([sys.executable, "-c", PLAN], "pread64,fadvise64", record, environment):
        if (match := ADVICE.search(line)) and match[1].startswith(str(site.path)):
            asked, read = found.setdefault(Path(match[1]).name, ([], set()))
            assert (int(match[2]) % BLOCK, int(match[3]), match[4]) == (0, BLOCK, "POSIX_FADV_WILLNEED")
            assert int(match[2]) // BLOCK not in read, "it is asked for before it is read"
            asked.append(int(match[2]) // BLOCK)
        elif (match := READ.search(line)) and match[1].startswith(str(site.path)):
            _, read = found.setdefault(Path(match[1]).name, ([], set()))
            offset, size = int(match[3]), int(match[2])
            read |= set(range(offset // BLOCK, (offset + size - 1) // BLOCK + 1))
    return found


def write_sdk(directory: Path) -> Site:
    site = Site(directory / "site-packages")
    hsa = site.library("libhsa-runtime64.so.1", "int hsa(void) { return 1; }")
    site.library("libamdhip64.so.7", SPREAD, (hsa,))
    return site


def has_block_device(path: Path) -> bool:
    return os.major(path.stat().st_dev) != 0


@pytest.fixture
def memory() -> Iterator[Path]:
    """Yield a directory on a file system without a block device, as file servers have."""
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK) or has_block_device(place):
        pytest.skip("/dev/shm is not a writable tmpfs")
    with tempfile.TemporaryDirectory(dir=place) as directory:
        yield Path(directory)


def test_each_block_is_asked_for_once(memory: Path, tmp_path: Path) -> None:
    found = blocks(write_sdk(memory), tmp_path / "strace")
    assert sorted(found) == ["libamdhip64.so.7", "libhsa-runtime64.so.1"]
    for asked, read in found.values():
        assert len(asked) == len(set(asked))
        assert read == set(asked)
    assert found["libhsa-runtime64.so.1"][0] == [0]
    assert max(found["libamdhip64.so.7"][0]) >= 8, "tables behind a megabyte"


def test_a_local_disk_is_read_as_it_is(tmp_path: Path) -> None:
    if not has_block_device(tmp_path):
        pytest.skip("the temporary directory is on no block device")
    found = blocks(write_sdk(tmp_path), tmp_path / "strace")
    assert sorted(found) == ["libamdhip64.so.7", "libhsa-runtime64.so.1"]
    assert [asked for asked, _ in found.values()] == [[], []]
    assert all(read for _, read in found.values())


def opens(
    site: Site, code: str, environment: dict[str, str], directory: Path
) -> tuple[list[tuple[str, Path, bool]], str]:
    """Return the opens of libraries of the SDK, and the thread that loads.

    An open has its thread, the path, and whether there is such a file.
    """
    lines = traced([sys.executable, "-c", code], "openat", directory / "strace", environment)
    found = [OPENED.match(line) for line in lines]
    wanted = [match for match in found if match and match[2].startswith(str(site.path))]
    return [(match[1], Path(match[2]), Path(match[2]).exists()) for match in wanted], lines[0].split()[0]


def write_tree(directory: Path, rpath: str) -> Site:
    """Write libraries that find each other by their RPATHs, in two directories."""
    site = Site(directory, rpath=rpath)
    hsa = site.library("libhsa-runtime64.so.1", "int hsa(void) { return 1; }")
    hip = site.library("libamdhip64.so.7", "int hip(void) { return 1; }", (hsa,))
    site.library("libhipsparse.so.4", "int sparse(void) { return 1; }", (hip,), LIBRARIES)
    return site


@pytest.mark.parametrize("rpath", ["rpath", "runpath", "none"])
@pytest.mark.parametrize("read_ahead", ["0", "1"])
def test_no_name_is_looked_for(rpath: str, read_ahead: str, tmp_path: Path) -> None:
    """Where each answer takes long, the linker is told the path of each file."""
    site = write_tree(tmp_path / "site-packages", rpath)
    environment = clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_READ_AHEAD": read_ahead}
    opened, loader = opens(site, SPARSE, environment, tmp_path)
    in_vain = [path for thread, path, exists in opened if thread == loader and not exists]
    names = ["libamdhip64.so.7", "libhipsparse.so.4", "libhsa-runtime64.so.1"]
    assert sorted({path.name for _, path, exists in opened if exists}) == names
    assert bool(in_vain) == (read_ahead == "0" and rpath != "none")


def test_a_refused_anchor_is_no_loss(tmp_path: Path) -> None:
    """The linker finds all by itself, so a system without memfd_create loads it by name."""
    site = write_tree(tmp_path / "site-packages", "rpath")
    code = """
import ctypes, resource, rocm_sdk
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
(loaded,) = rocm_sdk.preload_libraries("hipsparse")
assert "rocm_sdk-anchor" not in open("/proc/self/maps").read()
assert ctypes.CDLL(loaded.location.path).sparse() == 1
"""
    run_python(code, PYTHONPATH=str(site.path), ROCM_SDK_READ_AHEAD="1", check=True)


def test_each_file_of_a_list_is_opened_once_for_both(tmp_path: Path) -> None:
    """By a thread, or by the load, which takes what a thread has opened; and by the linker."""
    site = write_tree(tmp_path / "site-packages", "rpath")
    listed = site.path / "_rocm_sdk_core/lib/rocm-sdk.pages"
    run_python(SPARSE, PYTHONPATH=str(site.path), ROCM_SDK_RECORD_PAGES=str(listed), check=True)
    environment = clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_READ_AHEAD": "1"}
    opened, _ = opens(site, SPARSE, environment, tmp_path)
    counts = Counter(path.name for _, path, _ in opened)
    assert counts.pop("libhipsparse.so.4") <= 4, "the first file says whether its pages stay in memory"
    assert counts == {"libhsa-runtime64.so.1": 2, "libamdhip64.so.7": 2}


@pytest.mark.slow
def test_next_files_are_opened_meanwhile(tmp_path: Path) -> None:
    """Threads open what a library needs while the loader reads its tables; once, and nothing that it does not load."""
    site = Site(tmp_path / "site-packages")
    needed = tuple(site.library(f"libneeded{i}.so.1", f"int needed{i}(void) {{ return {i}; }}") for i in range(40))
    site.library("libamdhip64.so.7", SPREAD, needed)
    site.library("libother.so.1", "int other(void) { return 1; }")
    code = "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')"
    environment = clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_READ_AHEAD": "1"}
    opened, loader = opens(site, code, environment, tmp_path)
    by_threads = [path.name for thread, path, _ in opened if thread != loader]
    assert by_threads, "threads open files"
    assert len(by_threads) == len(set(by_threads))
    assert set(by_threads) <= {f"libneeded{i}.so.1" for i in range(40)}

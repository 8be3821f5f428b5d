"""Each single change to a sound installation is found; garbage in any file stops no check."""

import os
import random
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sample_devel import DevelSite, device_files
from sample_report import run_test

from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.subject_run import run
from rocm_sdk.installed.view import at

pytestmark = pytest.mark.slow

DEEP = Options(deep=True, seconds=5)


def codes_of(site: Path) -> Counter[str]:
    recorders: list[Recorder] = []
    for _ in run(at(str(site)), DEEP, recorders):
        pass
    return Counter(found.code for recorder in recorders for found in recorder.problems)


def hashed_files(site: Path) -> Iterator[Path]:
    """Yield the files that RECORD hashes and that are not empty."""
    for distribution in at(str(site)).distributions:
        for file in distribution.files:
            path = site / file.path
            if file.digest and path.stat().st_size > 0:
                yield path


def change_end(path: Path) -> None:
    """Give a file another content of the same length."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


CHANGES: dict[str, Callable[[Path], object]] = {
    "delete": Path.unlink,
    "truncate": lambda path: os.truncate(path, path.stat().st_size - 1),
    "change the end": change_end,
    "hide": lambda path: path.chmod(path.stat().st_mode & ~stat.S_IRUSR),
    "put a directory there": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_single_change_is_found(sample: Path, change: str) -> None:
    assert not [code for code in codes_of(sample) if code[0] == "E"]
    paths = list(hashed_files(sample))
    assert len(paths) > 25
    for path in paths:
        data, mode = path.read_bytes(), path.stat().st_mode
        CHANGES[change](path)
        codes = codes_of(sample)
        assert [code for code in codes if code[0] == "E"], f"{change} {path}"
        assert "E-TEST-001" not in codes, f"{change} {path}"
        if path.is_dir():
            path.rmdir()
        path.write_bytes(data)
        path.chmod(stat.S_IMODE(mode))
    assert not [code for code in codes_of(sample) if code[0] == "E"]


@pytest.mark.parametrize("seed", range(2))
def test_garbage_in_any_file_stops_no_subject(sample: Path, seed: int) -> None:
    """Random bytes at random places: found, or harmless, but never an error of the test itself."""
    chance = random.Random(seed)
    for path in sorted(path for path in sample.rglob("*") if path.is_file()):
        data = path.read_bytes()
        garbage = bytearray(data or b"\n")
        if seed == 0:
            garbage = bytearray(chance.randbytes(chance.choice((1, 100, 5000))))
        else:
            for _ in range(chance.choice((1, 8, 64))):
                garbage[chance.randrange(len(garbage))] = chance.randrange(256)
        path.write_bytes(garbage)
        assert codes_of(sample)["E-TEST-001"] == 0, path
        path.write_bytes(data)


def test_an_empty_directory_and_none(tmp_path: Path) -> None:
    assert codes_of(tmp_path) == {"E-PKG-001": 1}
    assert codes_of(tmp_path / "absent") == {"E-PKG-001": 1}


@pytest.mark.parametrize("name", ["rocm_sdk_core/_dist_info.py", "share/therock/dist_info.json", "METADATA", "RECORD"])
def test_garbage_in_what_the_loader_reads(sample: Path, name: str) -> None:
    """The command in a process that would use this installation: no exception leaves it, and all subjects run."""
    chance = random.Random(name)
    for path in sorted(path for path in sample.rglob("*") if str(path).endswith(name) and "devel" not in str(path)):
        data = path.read_bytes()
        for garbage in (b"", chance.randbytes(200), data.replace(b"5", b"\0"), data[: len(data) // 2]):
            path.write_bytes(garbage)
            said = run_test(sample, "--skip", "libraries,api")
            assert "E-TEST-001" not in said.codes, said.problems
            assert len(said.document["subjects"]) == 8
        path.write_bytes(data)


def test_garbage_in_an_extracted_tree(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    site.command("init")
    chance = random.Random(0)
    paths = sorted(path for path in site.tree.rglob("*") if path.is_file() and not path.is_symlink())
    assert len(paths) > 8
    for path in paths:
        data = path.read_bytes()
        for garbage in (b"", chance.randbytes(300), b"[" * 5000, b"{}", b"null", data[: len(data) // 2]):
            path.write_bytes(garbage)
            assert codes_of(site.path)["E-TEST-001"] == 0, (path, garbage[:20])
        path.write_bytes(data)

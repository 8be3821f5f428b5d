"""The memory and disk that making packages takes at most, from the sizes of their files, before anything is written.

docs/packaging.md has the formulas, and tests/builder/test_estimate.py compares them with real runs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

MB = 1_000_000
_BLOCK = 4096  # bytes of a file system, to which the space of a file is rounded up
_OWN_FILES = 64_000  # bytes of the files that each wheel has beside the artifacts' files
_PROGRAM = 16_384  # bytes of a small program that starts another one
_MEMBER = 512  # bytes that a member of a wheel takes beside its data: headers, row of RECORD
# Bytes of the interpreter with the modules that it needs; bytes for each file: entries, member, row of RECORD.
_PYTHON, _FILE = 34 * MB, 3_000
_MATERIALS = 6 * MB  # bytes of the modules that write the bill of materials
_COMPILER = 30 * MB  # bytes of cc1, which compiles the small programs
_PATCHELF = 2  # how often patchelf, which is started for some files, holds a file in memory
# Bytes of blocks in flight for each thread (base/wheels.py), of buffers, and of compressors: xz -6, zstd -12.
_THREAD, _BUFFERS = 10 * MB, 16 * MB
_COMPRESSORS = {"none": 0, "xz": 100 * MB, "zstd": 64 * MB}


class Load(NamedTuple):
    """The files from which a package is made: sizes in bytes."""

    sizes: Sequence[int]  # sizes of all files
    copied: Sequence[int] = ()  # sizes of changed files: libraries and programs that get a search path
    programs: int = 0  # small programs that are compiled
    compression: str = "none"  # compression of the development tree inside its wheel


class Cost(NamedTuple):
    """The cost of a package or a run: bytes, at most."""

    wheel: int
    staging: int  # removed before the next package is made
    installed: int  # bytes while the package is tested; 0: no test
    memory: int  # bytes of all processes of the run together, without the cache of files

    @property
    def disk(self) -> int:
        """The bytes on disk, at most: the wheel, and the larger of the staging and the installation for the test."""
        return self.wheel + max(self.staging, self.installed)


class Estimate(NamedTuple):
    """The estimate of a package."""

    name: str  # the short name
    file: str  # the path below the output
    artifacts: tuple[str, ...]
    cost: Cost


def cost_of(load: Load, *, jobs: int, deflates: bool, is_checked: bool) -> Cost:
    """Return the cost of a package alone.

    `jobs` is the number of threads; 0 stands for one for each processor that this process may use.
    """
    count = len(load.sizes) + load.programs
    small = load.programs * _PROGRAM + _OWN_FILES
    data = sum(load.sizes) + small
    # Data that does not get smaller is stored in pieces, each with a few bytes more.
    wheel = data + data // 1000 + _MEMBER * count
    staging = _on_disk(load.copied) + small
    installed = _on_disk(load.sizes) + small + _BLOCK * load.programs if is_checked else 0
    threads = jobs or len(os.sched_getaffinity(0))
    writing = _BUFFERS + (threads * _THREAD if deflates else 0) + _COMPRESSORS[load.compression]
    changing = _PATCHELF * max(load.copied, default=0) + (_COMPILER if load.programs else 0)
    testing = _PYTHON + _FILE * count if is_checked else 0
    return Cost(wheel, staging, installed, _PYTHON + _MATERIALS + _FILE * count + max(writing, changing, testing))


def cost_of_run(costs: Sequence[Cost]) -> Cost:
    """Return the cost of packages that one run makes, one after the other, and installs together."""
    return Cost(
        sum(each.wheel for each in costs),
        max((each.staging for each in costs), default=0),
        sum(each.installed for each in costs),
        max((each.memory for each in costs), default=0),
    )


def _on_disk(sizes: Sequence[int]) -> int:
    return sum(-(-size // _BLOCK) * _BLOCK for size in sizes)

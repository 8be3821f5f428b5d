"""The targets known to compute wrong results, and the releases reported to crash on a target, as problems.

Sources: unsloth (studio/ROCM_RDNA2_APU.md, 8412) of gfx1033; legacy-rocm-build 6595 of gfx1201; TheRock 5763 and 5985. A
report by a single person about one machine does not make a row, nor does one that was withdrawn.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk import _native
    from rocm_sdk.problems import Problem

    Release = tuple[int, int]

# fmt: off
# (target, first and last release or None, what is wrong without an error, who says so)
_FAULTS: tuple[tuple[str, Release | None, Release | None, str, str], ...] = (
    ("gfx1033", None,   None,   "training diverges: gradients differ from the gradients of the CPU and from run to run, losses become NaN, queues hang", "unsloth 8412, tried with 7.1, 7.2 and 7.15"),
    ("gfx1201", (7, 2), (7, 2), "fp32 matrix products with more than 2^19 rows are wrong without an error; fp16 and bf16 are right", "legacy-rocm-build 6595, tried with 7.2.1"),
)
# (target, first nightly: the last one is not known, what is reported, who reports it)
_NIGHTLIES = (
    ("gfx1150", "7.14.0a20260609", "they are reported to end by SIGSEGV while ROCm starts", "TheRock 5763"),
    ("gfx1151", "7.14.0a20260609", "they are reported to end by SIGSEGV while ROCm starts", "TheRock 5763 and 5985"),
)
# fmt: on


def processors_of(gpus: Iterable[_native.Gpu]) -> tuple[str, ...]:
    """Return the real processors of GPUs, and the processors that they are presented as.

    Code for another target does not cure a GPU.
    """
    return tuple(dict.fromkeys(name for gpu in gpus for name in (gpu.real_processor, gpu.processor)))


def known_faults(targets: Iterable[str], version: str | None) -> tuple[Problem, ...]:
    """Return a problem for each row of the tables that applies to a target in a release.

    version: the version of the SDK; None: not known.
    """
    processors = dict.fromkeys(target.partition(":")[0] for target in targets)
    release, nightly = release_of(version), _nightly_of(version or "")
    rows = [row for row in _FAULTS if row[0] in processors and _is_in(release, row[1], row[2])]
    reported = [row for row in _NIGHTLIES if row[0] in processors and _nightly_of(row[1]) <= nightly]
    if not rows and not reported:
        return ()
    from rocm_sdk.problems import problem  # here: most have none

    return (
        *(problem("W-GPU-034", target=row[0], detail=row[3], said_by=row[4]) for row in rows),
        *(problem("W-GPU-040", target=row[0], first=row[1], detail=row[2], said_by=row[3]) for row in reported),
    )


def release_of(version: str | None) -> Release | None:
    """Return major and minor of a version; None if it is not known."""
    parts = (version or "").split(".")[:2]
    return (int(parts[0]), int(parts[1])) if len(parts) > 1 and all(map(str.isdecimal, parts)) else None


def _nightly_of(version: str) -> tuple[int, ...]:
    """Return the numbers of a nightly's version, the date as the last one; () for another version."""
    release, _, date = version.partition("+")[0].partition("a")
    numbers = (*release.split("."), date)
    return tuple(map(int, numbers)) if len(date) == len("YYYYMMDD") and all(map(str.isdecimal, numbers)) else ()


def _is_in(release: Release | None, first: Release | None, last: Release | None) -> bool:
    """Return whether a release is between two others. To an unknown one, only rows for all releases apply."""
    if release is None:
        return first is None and last is None
    return (first is None or release >= first) and (last is None or release <= last)

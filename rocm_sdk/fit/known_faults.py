"""The targets that are known to compute wrongly, as problems."""

from __future__ import annotations

from rocm_sdk import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk.problems import Problem


def processors_of(gpus: Iterable[_native.Gpu]) -> tuple[str, ...]:
    """Return the real processors of GPUs, and the processors that they are presented as.

    Code for another target does not mend a GPU.
    """
    return tuple(dict.fromkeys(name for gpu in gpus for name in (gpu.real_processor, gpu.processor)))


def known_faults(targets: Iterable[str], version: str | None) -> tuple[Problem, ...]:
    """Return a problem for each row of the table that a target has in a release.

    version: the version of the SDK; None: not known.
    """
    processors = dict.fromkeys(target.partition(":")[0] for target in targets)
    parts = (version or "").split(".")[:2]
    release = (int(parts[0]), int(parts[1])) if len(parts) > 1 and all(map(str.isdecimal, parts)) else None
    rows = [row for row in _native.known_faults() if row[0] in processors and _is_in(release, row[1], row[2])]
    if not rows:
        return ()
    from rocm_sdk.problems import problem  # here: most have none

    return tuple(problem("W-GPU-034", target=row[0], detail=row[3], said_by=row[4]) for row in rows)


def _is_in(release: tuple[int, int] | None, first: tuple[int, int] | None, last: tuple[int, int] | None) -> bool:
    """Return whether a release is between two others. A release that is not known has only rows of all releases."""
    if release is None:
        return first is None and last is None
    return (first is None or release >= first) and (last is None or release <= last)

"""The table of ROCm's libraries without public source. A library without a row has not been looked at."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

State = Literal["closed", "open", "unknown"]


class ClosedSource(NamedTuple):
    """A library without public source. The versions are ROCm's; between them it is not known."""

    name: str  # linker name
    closed_until: tuple[int, int]  # the last version known to be closed
    open_from: tuple[int, int]  # the first version known to be open
    reason: str
    sources: tuple[str, ...]  # of these facts


# fmt: off
TABLE = (
    ClosedSource("libhsa-amd-aqlprofile64.so", (6, 0), (7, 1), "AQL profiler: a binary under AMD's EULA until its source was published in rocm-systems", ("https://github.com/ROCm/legacy-rocm-build/issues/1781", "https://github.com/felixonmars/archriscv-packages/pull/3540", "https://github.com/ROCm/rocm-systems/issues/4621")),  # noqa: E501
    ClosedSource("librocprof-trace-decoder.so", (7, 1), (7, 14), "decoder of thread traces: a binary in its repository until its source was published in rocm-systems", ("https://github.com/ROCm/TheRock/issues/4318", "https://github.com/ROCm/rocm-systems/pull/3576", "https://github.com/ROCm/TheRock/issues/7364")),  # noqa: E501
)
# fmt: on

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?!\d)", re.ASCII)


def row_of(linker_name: str) -> ClosedSource | None:
    """Return the row of a library, by its linker name ("libx.so"); None without one."""
    return next((row for row in TABLE if row.name == linker_name), None)


def state_of(row: ClosedSource, version: str | None) -> State:
    """Return whether the library is closed in the SDK of this version."""
    found = _VERSION.match(version or "")
    if found is None:
        return "unknown"
    release = (int(found[1]), int(found[2]))
    return "closed" if release <= row.closed_until else "open" if release >= row.open_from else "unknown"

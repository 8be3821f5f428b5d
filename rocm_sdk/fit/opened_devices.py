"""The opening of device files: only that gives the kernel's full answer, security modules and drivers included."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

from rocm_sdk import _native
from rocm_sdk.base.files import kernel_path
from rocm_sdk.base.processes import begin, own_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.problems import Problem

_SECONDS = 5.0  # an open may not return
_PROGRAM = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))
        print(0, flush=True)
    except OSError as error:
        print(error.errno, flush=True)
"""


def survey_opened() -> tuple[tuple[_native.Gpu, ...], tuple[Problem, ...]]:
    """Return the GPUs and their problems, after /dev/kfd and the render nodes of the usable ones were opened.

    The first device that does not open counts. Opening makes a KFD process and wakes GPUs. A frozen program, which has
    no interpreter, opens nothing, nor does one with more privileges than its user. Raises TopologyError.
    """
    gpus, found, _ = _native.survey_gpus()
    opens = not getattr(sys, "frozen", False) and (os.getuid(), os.getgid()) == (os.geteuid(), os.getegid())
    nodes = [kernel_path(gpu.render_node[1:]) for gpu in gpus if opens and gpu.usable and gpu.render_node]
    refused = _first_refused([kernel_path("dev/kfd"), *nodes]) if nodes else None
    return (gpus, found) if refused is None else _native.survey_gpus(refused=refused)[:2]


def _first_refused(paths: list[str]) -> tuple[str, int] | None:
    """Return the first device that does not open, and errno. A child opens them, and is left alone if it hangs."""
    child = begin(own_code(_PROGRAM, *paths), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        answers = child.communicate(timeout=_SECONDS)[0].split()
    except subprocess.TimeoutExpired as error:
        child.kill()
        answers = (error.stdout or b"").split()
    reasons = [*map(int, answers), *[errno.ETIMEDOUT] * (len(paths) - len(answers))]
    return next((each for each in zip(paths, reasons, strict=True) if each[1]), None)

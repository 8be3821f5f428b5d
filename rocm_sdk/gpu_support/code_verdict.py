"""The verdict on the GPU code of files: on which GPUs it runs, and what it lacks. `check` and `check-gpu` print it."""

from __future__ import annotations

from rocm_sdk import _native
from rocm_sdk.base.named_tuple import NamedTuple

from .code_problems import problems_on
from .coverage import with_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import Coverage
    from rocm_sdk.installed.installation import Installed
    from rocm_sdk.problems import Problem


class CodeVerdict(NamedTuple):
    """For each GPU that was asked for: runs is None if there is no code, for whichever GPU; lacks are its problems."""

    coverage: Coverage
    runs: tuple[bool | None, ...]
    lacks: tuple[tuple[Problem, ...], ...]


def judge_code(
    directories: tuple[str, ...], gpus: tuple[str, ...], installed: Installed | None, *, unofficial: bool = False
) -> CodeVerdict:
    """Judges the GPU code below directories. installed: the SDK that they are those of, for its packages, or None."""
    found = _native.coverage(directories, gpus, unofficial)
    places = range(len(gpus))
    lacks = tuple(problems_on(found, index, installed) for index in places)
    return CodeVerdict(found, tuple(_runs(found, index) for index in places), lacks)


def _runs(found: Coverage, index: int) -> bool | None:
    rows = [library.gpus[index] for library in with_code(found)]
    fails = any(on.verdict == "none" or on.missing_table is not None for on in rows)
    return not fails if rows else None

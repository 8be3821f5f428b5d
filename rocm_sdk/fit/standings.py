"""The GPUs of the machine that count: one judgement for `test`, `check-gpu`, `install` and the overview.

A GPU that a variable hides from programs lacks nothing. An integrated GPU without code, beside one that has code, is
not meant for programs. If that leaves no GPU, all of them count.
"""

from __future__ import annotations

from rocm_sdk import _native
from rocm_sdk.base.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocm_sdk.problems import Problem

COUNTS, HIDDEN, BESIDE = "counts", "hidden", "beside"
_INTEGRATED = "integrated"


class Standing(NamedTuple):
    """The standing of a GPU with programs.

    kind is COUNTS, HIDDEN by a variable, or BESIDE another target that has code.
    """

    kind: str
    because: str | None = None  # the variable, or the target


def standings(
    gpus: Sequence[_native.Gpu], hidden_by: Sequence[str | None], has_code: Callable[[_native.Gpu], bool]
) -> list[Standing]:
    """Return the standing of each GPU. hidden_by: the variable that hides it, as survey_gpus returns it."""
    seen = [gpu for gpu, variable in zip(gpus, hidden_by, strict=True) if variable is None]
    if not seen:
        return [Standing(COUNTS)] * len(gpus)
    other = next((gpu.processor for gpu in seen if gpu.gpu_class != _INTEGRATED and has_code(gpu)), None)
    return [_standing(gpu, variable, other, has_code) for gpu, variable in zip(gpus, hidden_by, strict=True)]


def _standing(
    gpu: _native.Gpu, variable: str | None, other: str | None, has_code: Callable[[_native.Gpu], bool]
) -> Standing:
    if variable is not None:
        return Standing(HIDDEN, variable)
    if other is not None and gpu.gpu_class == _INTEGRATED and not has_code(gpu):
        return Standing(BESIDE, other)
    return Standing(COUNTS)


def standings_of_targets(supported: Sequence[str]) -> dict[str, Standing]:
    """Return the standing of each target of this machine, as ROCm presents it.

    A target has the standing of its GPU that counts most. supported: the targets that have code. Raises TopologyError.
    """
    gpus, _, hidden_by = _native.survey_gpus()
    found: dict[str, Standing] = {}
    for gpu, standing in zip(
        gpus, standings(gpus, hidden_by, lambda gpu: gpu.target in supported or gpu.processor in supported), strict=True
    ):
        if gpu.target not in found or found[gpu.target].kind == HIDDEN:
            found[gpu.target] = standing
    return found


def counted(problems: tuple[Problem, ...], target: str, standing: Standing) -> tuple[Problem, ...]:
    """Return the problems of a GPU, depending on whether it counts.

    If it does not, its lacks become one problem with another code.
    """
    if standing.kind == COUNTS or not any(each.severity == "error" for each in problems):
        return problems
    return (problem_of(target, standing),)


def problem_of(target: str, standing: Standing) -> Problem:
    """Return the problem of a GPU without code that does not count."""
    from rocm_sdk.problems import problem  # here: most GPUs have what they need

    name = target.partition(":")[0]
    if standing.kind == HIDDEN:
        return problem("N-GPU-036", target=name, variable=standing.because)
    return problem("W-GPU-035", target=name, other=standing.because)

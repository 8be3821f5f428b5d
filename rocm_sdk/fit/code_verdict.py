"""The verdict on the GPU code of files: on which GPUs it runs, and what it lacks. `check` and `check-gpu` print it."""

from rocm_sdk import _native
from rocm_sdk.base.named_tuple import NamedTuple

from .coverage import needs_translation, supported_by_code, with_code
from .coverage_words import has_all
from .done_without import is_spare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import Coverage
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem


class CodeVerdict(NamedTuple):
    """The verdict for each GPU that was asked for.

    runs is None if it is not known, or if there is no code for any GPU; lacks are the GPU's problems. problems are
    those that do not concern one GPU. translates: whether comgr translates SPIR-V; None: it was not asked, or gave
    no answer.
    """

    coverage: "Coverage"
    runs: tuple[bool | None, ...]
    lacks: "tuple[tuple[Problem, ...], ...]"
    problems: "tuple[Problem, ...]" = ()
    translates: bool | None = None


def judge_code(
    directories: tuple[str, ...],
    gpus: tuple[str, ...],
    installed: "Installed | None",
    *,
    unofficial: bool = False,
    has_comgr: bool = False,
) -> CodeVerdict:
    """Judge the GPU code below directories, and return the verdict.

    installed: the SDK of the directories, for its packages, or None. has_comgr: whether HIP will use the comgr of the
    installed SDK, so that we may ask it.
    """
    found = _native.coverage(directories, gpus, unofficial)
    translates = None
    if needs_translation(found):
        from .comgr import comgr_translates_spirv  # here: most code asks nothing

        translates = comgr_translates_spirv() if has_comgr else None
        if translates is False:
            found = _native.coverage(directories, gpus, unofficial, False)
    places = range(len(gpus))
    lacks = tuple(_problems_on(found, index, installed) for index in places)
    runs = tuple(_runs(found, index, translates) for index in places)
    return CodeVerdict(found, runs, lacks, _cache_problems(found) if has_comgr else (), translates)


def as_counted(verdict: CodeVerdict, gpus: tuple[str, ...]) -> CodeVerdict:
    """Return the verdict on the GPUs of this machine, of which some may not count.

    gpus: the targets that were asked for. If a GPU does not count, its lacks become one problem that is not an error,
    and runs is True: nothing speaks against it.
    """
    if all(verdict.runs):
        return verdict
    from .standings import COUNTS, Standing, counted, standings_of_targets  # here: most GPUs have what they need

    of_targets = standings_of_targets(supported_by_code(verdict.coverage))
    standing = [of_targets.get(name, Standing(COUNTS)) for name in gpus]
    if not any(each.kind == COUNTS for each in standing):
        return verdict
    lacks = tuple(counted(*each) for each in zip(verdict.lacks, gpus, standing, strict=True))
    runs = tuple(run if each.kind == COUNTS else True for run, each in zip(verdict.runs, standing, strict=True))
    return verdict._replace(lacks=lacks, runs=runs)


def _runs(found: "Coverage", index: int, translates: bool | None) -> bool | None:
    """Return whether the code runs on the GPU that was asked for at `index`; None if it is not known.

    Code that the GPU does not need counts only if there is no other.
    """
    libraries = with_code(found)
    asked = [library for library in libraries if not is_spare(library, library.gpus[index])]
    rows = [library.gpus[index] for library in asked or libraries]
    if any(on.verdict == "none" or on.missing_table is not None for on in rows):
        return False
    return None if not rows or (translates is None and needs_translation(found, index)) else True


def _problems_on(found: "Coverage", index: int, installed: "Installed | None") -> "tuple[Problem, ...]":
    """Return the problems of the libraries on the GPU that was asked for at `index`."""
    if all(has_all(library, library.gpus[index]) for library in with_code(found)):
        return ()
    from .code_problems import problems_on  # here: most GPUs have what they need

    return problems_on(found, index, installed)


def _cache_problems(found: "Coverage") -> "tuple[Problem, ...]":
    """Return the problems of comgr with compressed code: its cache may mistake one bundle's code for another's."""
    if not any(library.compressed_count for library in found.libraries):
        return ()
    from .comgr import cache_problem  # here: most libraries have no compressed code

    return cache_problem()

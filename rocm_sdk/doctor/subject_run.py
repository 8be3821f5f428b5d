"""The run of the subjects of the self test, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from types import ModuleType
from typing import Final

from rocm_sdk.base.shadow import shadow_behind
from rocm_sdk.errors import LibraryAccessError
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems.cause_table import CHILD, MADE_OF, codes_of
from rocm_sdk.problems.subject_table import SUBJECTS, Subject

from .load_results import SilentError, begins
from .recorder import Options, Recorder
from .second_run import Wanted, seen_again
from .surroundings import Child, Surroundings

# A function of a subject: the untested part of an installation, as a sentence, if it has tested nothing; None: there is
# nothing.
Owed = Callable[[Installed], "str | None"]

_SUBJECT_FAILED: Final = "E-TEST-001"


def run(installation: Installed, options: Options, recorders: list[Recorder]) -> Iterator[Recorder]:
    """Run the subjects, and yield the results of each when it ends. An exception in a subject becomes a problem.

    Each recorder is in `recorders` from the start, so its results so far survive an interruption.
    """
    for name, row in SUBJECTS.items():
        if not _applies(row, installation) or not _is_wanted(name, row, installation, options):
            continue
        recorder = Recorder(name, row.unit, installation.site, known=installation.known)
        recorders.append(recorder)
        begin = perf_counter()
        try:
            module = import_module(f"{__package__}.subjects.{name}")
            module.check(installation, recorder, options)
            owed = _owed(module, installation, recorder, is_chosen=name in options.only)
            if owed is not None:
                recorder.bad("E-TEST-002", subject=name, detail=owed)
        except LibraryAccessError as error:  # directories that are nested too deep
            recorder.bad(error.code, error.path, detail=error.detail)
        except Exception as error:
            child = Child(name, perf_counter() - begin, SubjectAgain(installation.target, options.seconds))
            if isinstance(error, SilentError):  # without a library it begins, or hangs, at once
                child = Child(name, 1.0, begins)
            detail, shadow = f"{type(error).__name__}: {error}", shadow_behind(error)
            if shadow is None:
                recorder.bad(
                    _SUBJECT_FAILED,
                    None,
                    None,
                    child._replace(title=f"the check of {name}"),
                    subject=recorder.subject,
                    detail=detail,
                )
            else:
                recorder.bad("E-ENV-013", shadow.path, f"check {recorder.subject}", detail=detail, **shadow.facts)
        finally:
            recorder.seconds = perf_counter() - begin
            recorder.problems = [found for found in recorder.problems if _is_code_wanted(found.code, name, options)]
            recorder.children = [pair for pair in recorder.children if _is_child_wanted(pair[0].code, name, options)]
        yield recorder


@dataclass(frozen=True)
class SubjectAgain:
    """The repeated runs of failed subjects, in a separate process."""

    target: str | None
    limit: int  # seconds of each program

    def __call__(self, names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        """Return for each subject whether its check ends without an exception; all False without an answer in time."""
        seen = seen_again(Wanted(self.target, tuple(names), seconds=self.limit, explains=False), surroundings, seconds)
        failed = {subject for subject, code, _ in seen if code == _SUBJECT_FAILED} if seen is not None else set(names)
        return [name not in failed for name in names]


def _owed(module: ModuleType, installation: Installed, recorder: Recorder, *, is_chosen: bool) -> str | None:
    """Return what a subject should have tested but skipped without a reason; None if all is well.

    is_chosen: the user has chosen this subject, so nothing else tests the prefix.
    """
    if installation.prefix is not None and is_chosen and not recorder.count and not recorder.problems:
        return f"{installation.site} has nothing that it could test"
    if recorder.count or recorder.problems or recorder.not_tried or not hasattr(module, "owed"):
        return None
    owed: Owed = module.owed
    return owed(installation)


def _applies(row: Subject, installation: Installed) -> bool:
    if installation.prefix is not None:
        return bool(row.prefix_codes)
    return bool(row.codes) and (installation.is_current or not row.needs_this_process)


def _is_wanted(name: str, row: Subject, installation: Installed, options: Options) -> bool:
    """Return whether a subject runs: it or one of its codes is requested."""
    return name not in options.skip and (
        not options.only
        or name in options.only
        or any(
            row.may_report(code, of_prefix=installation.prefix is not None)
            for code in options.only
            if code not in SUBJECTS
        )
    )


def _is_code_wanted(code: str, name: str, options: Options) -> bool:
    wanted = {*options.only, *(MADE_OF[each] for each in options.only if each in MADE_OF)}
    is_requested = not wanted or name in wanted or code in wanted or code == _SUBJECT_FAILED
    return is_requested and code not in options.skip


def _is_child_wanted(code: str, name: str, options: Options) -> bool:
    """Return whether a failed program, or a possible cause of its failure, is asked about."""
    is_of_cause = bool(options.only & codes_of(CHILD)) and code not in options.skip
    return is_of_cause or _is_code_wanted(code, name, options)

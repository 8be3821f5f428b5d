"""The choice of the fixes that are tried, and the words about their results.

A fix that begins with a deletion or a move is tried before it is shown. If it does harm, or only deletes and could not
be tried, a sentence is shown instead. A fix that moves a name aside, installs, and then deletes loses nothing if the
installation fails: it is shown untried. `rocm-sdk test --prove` tries all fixes; one that leaves fewer libraries than
before is never shown.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby, takewhile

from rocm_sdk.base.value_text import one_line, size_text
from rocm_sdk.doctor.recorder import Options
from rocm_sdk.doctor.second_run import Wanted
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, problem

from .copies import FailedError, Overlay, RefusedError, Tested
from .places import Places, places_of

_ROOM = 64 << 20  # bytes that may change where names are removed
_OF_NAMES = ("rm ", "rmdir ", "mv ", "find ")  # programs that change names, but no contents
_SUBJECTS = ("packages", "files", "libraries", "devel")  # they see what a lost name breaks
# Programs of fixes that change files of the environment, or their own process, and nothing else.
_OF_ENVIRONMENT = re.compile(
    r"(\S*/)?(python[\d.]*|pip[\d.]*|uv|rm|rmdir|mkdir|mv|ln|find|chmod|rocm-sdk|rocm-sdk-build)|unset|export|ulimit|cd"
    r"|d=\$\(mktemp|\(tar"
)


# ---- fixes that change names


def with_tried_changes(installation: Installed, found: Sequence[Problem], options: Options) -> list[Problem]:
    """Return the problems, after a try of each fix that begins with a deletion or a move.

    The problems of an SDK without packages (a prefix, ROCM_SDK_FALLBACK) are returned as they are.
    """
    if installation.prefix is not None or installation.fallback is not None:
        return list(found)
    changes = _Changes(installation, options)
    return [changes.tried(each) if each.fix is not None and each.fix.startswith(_OF_NAMES) else each for each in found]


def _change_of(fix: str) -> tuple[str, bool]:
    """Return, as a line, the commands at the beginning of a fix that change names, and whether nothing follows.

    Raises RefusedError for a line that has more than plain commands.
    """
    words = shlex.shlex(fix, posix=True, punctuation_chars="&")
    words.whitespace_split = True
    try:
        parts = [tuple(group) for is_end, group in groupby(words, "&&".__eq__) if not is_end]
    except ValueError as error:
        raise RefusedError(f"its line cannot be read: {error}") from error
    commands = list(takewhile(lambda part: f"{part[0]} " in _OF_NAMES, parts))
    return " && ".join(shlex.join(each) for each in commands), len(commands) == len(parts)


class _Changes:
    """The tries to remove and to move names."""

    def __init__(self, installation: Installed, options: Options) -> None:
        self._installation = installation
        self._wanted = Wanted(installation.target, _SUBJECTS, tuple(options.skip), seconds=options.seconds)
        self._site = os.path.realpath(installation.site)

    def tried(self, found: Problem) -> Problem:
        deed, state = ("moving", "after it") if str(found.fix).startswith("mv ") else ("removing", "without it")
        try:
            line, is_all = _change_of(str(found.fix))
            before, after = self._before, self._overlay.tested(line)
        except RefusedError as error:
            if found.facts.get("aside") is not None:
                return found._replace(tried=one_line(f"not tried: {error}"))
            return self._without_deletion(found, f"{deed} it was not tried: {error}")
        except FailedError as error:
            return self._without_deletion(found, f"{deed} it fails here: {error}")
        harm = _harm(before, after) if is_all else _loss(before, after)
        if harm is not None:
            safe = self._without_deletion(found, f"in a copy {state}, {harm}")
            is_loss = _loss(before, after) is not None
            return _without_command(safe) if is_loss and safe.fix == found.fix else safe
        told = _success(before, after) if is_all else f"{state}, {_loaded(before, after)}; no more was tried"
        return found._replace(tried=f"in a copy: {told}")

    @cached_property
    def _overlay(self) -> Overlay:
        return Overlay(self._wanted, Places((self._site,), (), {}), room=_ROOM, has_network=False)

    @cached_property
    def _before(self) -> Tested:
        return self._overlay.tested(None)

    def _without_deletion(self, found: Problem, reason: str) -> Problem:
        """Return the problem with a fix that deletes nothing, or unchanged with the result of the try."""
        site, known = self._installation.site, self._installation.known
        told = problem(found.code, found.path, site, known, **{**found.facts, "untried": reason})
        return told._replace(breaks=found.breaks, tried=one_line(reason) if told.fix == found.fix else None)


def _without_command(found: Problem) -> Problem:
    """Return a problem whose fix, as a try shows, does harm; its page becomes the fix.

    The page says what else can be done.
    """
    return found._replace(fix=f"rocm-sdk explain {found.code}", is_command=True)


def _harm(before: Tested, after: Tested) -> str | None:
    """Return what is worse after a fix, or has not changed; None if all is well."""
    if (loss := _loss(before, after)) is not None:
        return loss
    if worse := sorted(after.problems - before.problems):
        return f"there is another problem: {' '.join(worse[0])}"
    return "the problem stays" if after.problems >= before.problems else None


def _loss(before: Tested, after: Tested) -> str | None:
    """Return words for the libraries that no longer load; None if all load."""
    is_less = after.loaded < before.loaded
    return f"{after.loaded:,} libraries load instead of {before.loaded:,}" if is_less else None


def _success(before: Tested, after: Tested) -> str:
    return f"the problem is gone; {_loaded(before, after)}"


def _loaded(before: Tested, after: Tested) -> str:
    changed = f" ({before.loaded:,} before)" if after.loaded != before.loaded else ""
    return f"libraries that load: {after.loaded:,}{changed}"


# ---- all fixes


class Proof:
    """The tries of the fixes of problems, each in its own overlay."""

    def __init__(self, installation: Installed, options: Options, *, has_network: bool) -> None:
        self._has_network = has_network
        self._places = places_of(installation.site)
        self._bytes = sum(file.size or 0 for each in installation.distributions for file in each.files)
        self._wanted = Wanted(
            installation.target, tuple(options.only), tuple(options.skip), deep=options.deep, seconds=options.seconds
        )

    @property
    def plan(self) -> str:
        """The plan as a sentence, which is printed before the tries begin."""
        network = "the network" if self._has_network else "local wheels and the installer's cache"
        return (
            f"each fix is tried in a copy of {', '.join(self._places.changed)}, with {network}; "
            f"a copy takes up to {size_text(self._bytes)} of {self._places.scratch}"
        )

    def tried(self, found: Problem) -> Problem:
        """Return the problem, with the result of trying its fix; unchanged if there is none, or only words."""
        if found.fix is None or not found.is_command:
            return found
        outcome, is_loss = self._outcome(found, found.fix)
        told = found._replace(tried=one_line(outcome))
        return _without_command(told) if is_loss else told

    def _outcome(self, found: Problem, fix: str) -> tuple[str, bool]:
        """Return the result of a try, and whether fewer libraries load after it."""
        if not all(_OF_ENVIRONMENT.fullmatch(part.split(maxsplit=1)[0]) for part in fix.split("&&")):
            return "not tried: it changes more than this environment", False
        if self._bytes > (free := self._places.free):
            needed = size_text(self._bytes)
            return f"not tried: {self._places.scratch} has {size_text(free)}, and a copy may take {needed}", False
        try:
            before = self._before
            if (found.code, found.title) not in before.problems:
                return "not tried: a copy does not have this problem", False
            after = self._overlay.tested(fix)
        except RefusedError as error:
            return f"not tried: {error}", False
        except FailedError as error:
            hint = "" if self._has_network else " (without a network; --prove=network has it)"
            return f"in a copy it fails{hint}: {error}", False
        harm = _harm(before, after)
        told = f"in a copy: {harm if harm is not None else _success(before, after)}"
        return told, _loss(before, after) is not None

    @cached_property
    def _overlay(self) -> Overlay:
        return Overlay(self._wanted, self._places, room=None, has_network=self._has_network)

    @cached_property
    def _before(self) -> Tested:
        return self._overlay.tested(None)

    # ---- the original

    def difference(self, before: Mapping[str, tuple[int, ...]]) -> list[str]:
        """Return the paths of the original that differ from an earlier survey."""
        now = self._places.survey()
        return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))

    def survey(self) -> dict[str, tuple[int, ...]]:
        """Return the state of the original: for each name the facts that would show a change."""
        return self._places.survey()

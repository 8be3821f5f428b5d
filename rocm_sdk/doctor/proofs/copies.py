"""The copy of an installation in which a fix is tried: an overlay over the same paths. The original stays unchanged."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.namespaces import mounts
from rocm_sdk.base.processes import find_program, own_code, run
from rocm_sdk.base.scratch import scratch_directory
from rocm_sdk.doctor.children import last_line
from rocm_sdk.doctor.second_run import Wanted, answer, question

from .overlay_process import Plan
from .places import Places

_PREFIX = "rocm-sdk-copy-"
_SECONDS = 60.0  # for a fix and a test of the copy; more with an installer
_SECONDS_OF_INSTALLER = 1800.0
_KEEPER = "from rocm_sdk.doctor.proofs.overlay_process import main; main()"
_OF_FIX = 125  # the exit status if the fix fails


class RefusedError(Exception):
    """The error for a fix that could not be tried. The text says why."""


class FailedError(Exception):
    """The error for a fix that ended with an error. The text has its last words."""


class Tested(NamedTuple):
    """The findings of a test of a copy."""

    problems: frozenset[tuple[str, str]]  # code and title of errors and warnings
    loaded: int  # libraries


class Overlay:
    """The installation itself, whose changes are thrown away."""

    def __init__(self, wanted: Wanted, places: Places, *, room: int | None, has_network: bool) -> None:
        """Keep the facts. room: as of Plan."""
        self._wanted = wanted
        self._places = places
        self._room = room
        self._has_network = has_network

    def tested(self, fix: str | None) -> Tested:
        """Run the fix, if any, by a shell in a new overlay; return the findings of a test.

        fix: a line of a shell; None: none. Raise RefusedError and FailedError.
        """
        shell = find_program("bash") or find_program("sh")
        if shell is None:
            raise RefusedError("there is no shell")
        test = question(self._wanted)
        # The fix may print something; a comment at its end ends with the line.
        script = f'{{ {fix or ":"}\n}} >&2 || exit {_OF_FIX}\nexec "$@"'
        directories = _outermost((*self._places.changed, *self._places.shims, *self._places.caches.values()))
        with scratch_directory(Path(self._places.scratch), _PREFIX) as scratch:
            place = scratch / "changes"
            place.mkdir()
            plan = Plan(
                parent=os.getpid(),
                scratch=str(place),
                room=self._room,
                directories=directories,
                has_network=self._has_network,
                variables=self._variables(place),
                command=(shell, "-c", script, shell, *test),
            )
            try:
                done = run(
                    own_code(_KEEPER),
                    given=json.dumps(plan._asdict()),
                    seconds=_SECONDS if self._room is not None else _SECONDS_OF_INSTALLER,
                )
            except (OSError, TimeoutError) as error:
                raise RefusedError(str(error)) from error
            if done.returncode == _OF_FIX:
                raise FailedError(last_line(done.stderr))
            document = answer(done)
            if document is None:
                raise RefusedError(f"the copy could not be tested: {last_line(done.stderr)}")
            if "refused" in document:
                raise RefusedError(f"this system refuses {document['refused']}")
            problems = ((each["code"], each["title"]) for each in document["problems"] if each["severity"] != "note")
            counts = (each["count"] - each["failed"] for each in document["subjects"] if each["subject"] == "libraries")
            return Tested(frozenset(problems), sum(counts))

    def _variables(self, scratch: Path) -> dict[str, str]:
        """Return variables for writable caches, comgr's too, and to make installers end if there is no network."""
        variables = {} if self._has_network else {"UV_OFFLINE": "1", "PIP_RETRIES": "0"}
        if os.environ.keys().isdisjoint({"AMD_COMGR_CACHE_DIR", "XDG_CACHE_HOME"}):  # otherwise they are tested
            variables["AMD_COMGR_CACHE_DIR"] = str(scratch / "comgr")
        return variables if "uv" in self._places.caches else {**variables, "UV_CACHE_DIR": str(scratch / "uv")}


def _outermost(directories: Sequence[str]) -> tuple[str, ...]:
    """Return the real paths that exist, without those inside another one.

    Raise RefusedError if there are mounts below one.
    """
    places = sorted({os.path.realpath(each) for each in directories if os.path.isdir(each)})
    kept = [each for each in places if not any(each.startswith(f"{other}/") for other in places)]
    try:
        points = [point for point, _ in mounts()]
    except OSError as error:
        raise RefusedError(f"{error.filename}: {error.strerror}") from error
    for point in points:
        over = next((each for each in kept if point.startswith(f"{each}/")), None)
        if over is not None:
            raise RefusedError(f"a file system is mounted in {over}: {point}")
    return tuple(kept)

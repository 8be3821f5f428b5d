"""The ways to run the code of a proof without privileges, and the choice of one that works here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from rocm_sdk.base import processes
from rocm_sdk_build.base.errors import PackagingError

from .namespaces import CHANGED, COPIES, MAPPED, OWN
from .root import Root

SECONDS = 1800
_PROBE_SECONDS = 60
_KEEPER = "from rocm_sdk_build.closure.proving.namespaces import main; main()"
_MEMORY, _MEMORY_OF_FILES = 4 << 30, 4  # address space: bytes, and a multiple of the files' sizes
_WITHOUT = "--no-proof leaves it out"


class Way(NamedTuple):
    """A row of WAYS.

    `for_root` says who may use the way. `remark` says what the proof lacks in this way; None: the proof lacks
    nothing.
    """

    name: str
    for_root: bool
    is_safe: bool
    remark: str | None


WAYS = (
    Way(MAPPED, for_root=True, is_safe=True, remark=None),
    Way(CHANGED, for_root=True, is_safe=True, remark=None),
    Way(OWN, for_root=False, is_safe=True, remark=None),
    Way(
        COPIES,
        for_root=True,
        is_safe=False,
        remark="without privileges: the code ran as user 65534 in a chroot without namespaces (--proof=unsafe), "
        "and could use the network and reach other processes of this user",
    ),
)


def find_way(place: Path, *, may_be_unsafe: bool) -> Way:
    """Return the first way that works here.

    `place` is an empty directory, where an empty root is mounted. Raise PackagingError if there is no way; the error
    names the steps that this system refuses.
    """
    refusals = []
    for way in WAYS:
        if way.for_root == (os.geteuid() == 0) and (way.is_safe or may_be_unsafe):
            if not way.is_safe:
                return way
            answer = _ask(_plan(way, place, Root(place, for_others=False), (), {}), _PROBE_SECONDS)
            if answer.get("ready"):
                return way
            refusals.append(answer.get("refused", "no answer"))
    what = (
        f"the closure cannot be tried here: this system gives no namespaces to run its code in without privileges "
        f"({'; '.join(dict.fromkeys(refusals))})"
    )
    unsafe = "; --proof=unsafe runs the code without them" if os.geteuid() == 0 else ""
    raise PackagingError(what, f"{_WITHOUT}{unsafe}; docs/closure-proof.md says what is needed")


def run_confined(
    way: Way, place: Path, root: Root, command: tuple[str, ...], variables: dict[str, str]
) -> dict[str, Any]:
    """Run a command in the root, which appears at `place`, an empty directory; return its last line, which is JSON."""
    return _ask(_plan(way, place, root, command, variables), SECONDS)


def _plan(way: Way, place: Path, root: Root, command: tuple[str, ...], variables: dict[str, str]) -> dict[str, Any]:
    return {
        "way": way.name,
        "root": os.path.realpath(place),
        "parent": os.getpid(),
        # Deeper places are mounted later.
        "parts": sorted(((source, at) for at, source in root.parts.items()), key=lambda each: each[1].count("/")),
        "links": [("dev/shm", "/tmp"), *root.links.items()],
        "texts": list(root.texts.items()),
        "ldconfig": processes.find_program("ldconfig", "/sbin", "/usr/sbin"),
        "command": command,  # without a command the keeper answers whether the way works
        "variables": variables,
        "memory": _MEMORY + _MEMORY_OF_FILES * root.size,
        "seconds": SECONDS,
    }


def _ask(plan: dict[str, Any], seconds: int) -> dict[str, Any]:
    try:
        done = processes.run(processes.own_code(_KEEPER), given=json.dumps(plan), seconds=seconds)
    except TimeoutError as error:
        raise PackagingError(f"trying the closure takes longer than {seconds} seconds", _WITHOUT) from error
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError) as error:
        told = done.stderr.strip()[-2000:] or f"exit status {done.returncode}"
        raise PackagingError(f"the closure cannot be tried: {told}", _WITHOUT) from error
    if not isinstance(answer, dict):
        raise PackagingError("the closure cannot be tried: no answer", _WITHOUT)
    return answer

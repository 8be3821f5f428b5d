"""The behaviour of the installed SDK's comgr that its file does not show: it is asked in a process of its own.

The process needs no GPU. HIP and ROCr decide for themselves too which code they try, but only where there is a GPU.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.problems import Problem

_SECONDS = 20.0


def comgr_tries_other_processors() -> bool | None:
    """Return whether comgr finds code for gfx1030 if it is asked for gfx1031, as patched ones do.

    The result is None if that is unknown.
    """
    return _ask("others")


def comgr_translates_spirv() -> bool | None:
    """Return whether comgr has the translator without which HIP runs no SPIR-V; None if that is unknown."""
    return _ask("spirv")


def comgr_knows(target: str) -> bool | None:
    """Return whether comgr has a target in its list, without which HIP cannot use the GPU; None if that is unknown."""
    return _ask("knows", target)


def cache_problem() -> tuple[Problem, ...]:
    """Return the problem of comgr with compressed code: its cache may take one bundle's code for another's."""
    if os.environ.get("AMD_COMGR_CACHE") == "0" or not _ask("mixes"):
        return ()
    from rocm_sdk.problems import problem  # here: most have none

    return (problem("W-CODE-018"),)


def _ask(*question: str) -> bool | None:
    from rocm_sdk.base.processes import module_command, run  # here: most code asks nothing

    try:
        done = run(module_command("rocm_sdk.fit.ask_comgr", *question), seconds=_SECONDS)
    except OSError:
        return None
    return {"yes": True, "no": False}.get(done.stdout.strip()) if done.returncode == 0 else None

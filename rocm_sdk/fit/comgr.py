"""What the installed SDK's comgr does, which its file does not show: it is asked in a separate process.

The process needs no GPU. HIP and ROCr also decide by themselves which code they try, but only if there is a GPU.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.problems import Problem

_SECONDS = 20.0


def comgr_tries_other_processors() -> bool | None:
    """Return whether comgr, asked for gfx1031, finds code for gfx1030, as patched ones do.

    The result is None if that is unknown.
    """
    return _ask("others")


def comgr_translates_spirv() -> bool | None:
    """Return whether comgr has the translator that HIP needs to run SPIR-V; None if that is unknown."""
    return _ask("spirv")


def comgr_knows(target: str) -> bool | None:
    """Return whether comgr's list has a target, without which HIP cannot use the GPU; None if that is unknown."""
    return _ask("knows", target)


def cache_problem() -> tuple[Problem, ...]:
    """Return the problem of comgr with compressed code: its cache may mistake one bundle's code for another's."""
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

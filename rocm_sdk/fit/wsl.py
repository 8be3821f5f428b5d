"""The state of the SDK's librocdxg, through which ROCm finds the GPU behind WSL2's /dev/dxg.

The module says whether the SDK has the library, and whether it can be opened. When the C library looks at the machine,
it does not know the SDK.
"""

from __future__ import annotations

import os

from rocm_sdk import _native
from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.processes import own_code, run
from rocm_sdk.errors import RocmSdkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import Code
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem

_CODE: Code = "W-GPU-020"
# The targets of the GPUs in librocdxg's own list of PCI ids, in the one release that is known.
_KNOWN = {"gfx1100", "gfx1101", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201"}
_SWITCHES = ("HSA_OVERRIDE_GFX_VERSION", "LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS")
_MORE_IDS = "share/rocdxg/dids.conf"  # rows "id,major,minor,stepping"
_BEHIND = "its GPU is behind /dev/dxg, where ROCm finds it through librocdxg"
_SECONDS = 20.0
_OPEN = """
import rocm_sdk
try:
    rocm_sdk.preload_libraries("rocdxg")
except rocm_sdk.RocmSdkError as error:
    raise SystemExit(error.detail.partition(": ")[2] or error.detail)
"""


def explained(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems of a machine; that of WSL2 says what the SDK of this process has for it."""
    return tuple(_of_wsl(each) if each.code == _CODE else each for each in problems)


def unseen(named: Iterable[str]) -> tuple[str, ...]:
    """Return a note on the targets that a user names and that ROCm may not see here; () if it is not WSL2."""
    is_asked = any(value and name.startswith(_SWITCHES) for name, value in os.environ.items())
    if is_asked or not os.path.exists(f"{os.environ.get('ROCM_SDK_ROOTFS', '')}/dev/dxg"):
        return ()
    from rocm_sdk.installed.view import current
    from rocm_sdk.problems import problem

    path = os.path.join(current().core_directory, _MORE_IDS)
    try:
        text = read_beginning(path, 1 << 16).decode(errors="replace")
    except OSError:
        text = ""
    rows = {tuple(word.strip() for word in line.partition("#")[0].split(",")[1:]) for line in text.splitlines()}
    lacking = {row.name: (row.major, row.minor, row.stepping) for row in _native.targets() if row.name not in _KNOWN}
    names = dict.fromkeys(map(_native.canonical_target, named))
    left = [name for name in names if name in lacking and tuple(map(str, lacking[name])) not in rows]
    note = problem("N-GPU-041", path, target=", ".join(left))
    return (f"{note.title}: {note.cause} [{note.code}]",) if left else ()


def _of_wsl(found: Problem) -> Problem:
    from rocm_sdk.installed.view import current
    from rocm_sdk.problems import problem

    installed = current()
    try:
        path = installed.sdk.locate("rocdxg").path
        version = installed.sdk.facts()["version"]
    except RocmSdkError:  # there is no SDK
        return found
    if path is None:
        detail = f"{_BEHIND}, and the SDK {version} has none"
        return problem(_CODE, found.path, **found.facts | {"detail": detail})
    reason = _refusal(installed)
    state = "can be opened" if reason is None else "cannot be opened"
    detail = f"{_BEHIND}; {path} of the SDK {version} {state}{f': {reason}' if reason else ''}"
    return problem(
        _CODE,
        found.path,
        **found.facts | {"detail": detail, "soname": os.path.basename(path), "reason": state if reason else None},
    )


def _refusal(installed: Installed) -> str | None:
    """Return why the library cannot be opened, in a separate process; None if it can."""
    import sys

    if getattr(sys, "frozen", False) or not installed.is_current:
        return None
    try:
        done = run(own_code(_OPEN), seconds=_SECONDS)
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"the process ended with {done.returncode}"

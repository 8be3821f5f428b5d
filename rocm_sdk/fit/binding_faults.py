"""The symbols that bind to a file other than the one that their library was built for, as facts of a problem."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from rocm_sdk import Binding
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.catalog import rows_of
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, problem

_FAULTS = {"other-function", "other-object"}
_ALWAYS_GLOBAL = "amdhip64"


def binding_faults(
    references: Iterable[Binding],
    installed: Installed,
    needing: str | None = None,
    made_global: Callable[[str], bool] | None = None,
) -> Iterator[Problem]:
    """Yield a problem for each library with each file that answers it; the number of symbols is in the problem.

    needing: the program that has the other file, if one is known. made_global: for a process, whether the loader made a
    library with this short name global there. Libraries that other code made global stay global, whatever
    ROCM_SDK_ISOLATE says: in that case, the library that calls their functions has to be loaded first.
    """
    faults: dict[tuple[str, str], list[Binding]] = {}
    for each in references:
        if each.verdict in _FAULTS and each.bound_to is not None:
            faults.setdefault((each.library, each.bound_to), []).append(each)
    for (library, bound_to), found in faults.items():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        facts = {"library": os.path.basename(library), "symbol": found[0].symbol, "more": more, "other": bound_to}
        shortname, first, names = _shortname_of(bound_to, installed), None, None
        if made_global is not None and (shortname is None or not made_global(shortname)):
            rows = (row[0] for row in rows_of(os.path.basename(library)))
            first = next((shortname for shortname in rows if _own_path(shortname, installed) is not None), None)
            names = ", ".join(f'"{each}"' for each in (first, shortname) if each is not None)
            shortname = None
        yield problem(
            "W-BIND-001",
            library,
            instead=found[0].instead,
            needing=needing,
            shortname=shortname,
            first=first,
            names=names,
            **facts,
        )


def _shortname_of(path: str, installed: Installed) -> str | None:
    """Return the name by which ROCM_SDK_ISOLATE keeps a library of the SDK out of the global scope.

    The result is None if ROCM_SDK_ISOLATE cannot do that.
    """
    name = os.path.basename(path)
    rows = (row[0] for row in rows_of(name) if row[0] != _ALWAYS_GLOBAL)
    return next((shortname for shortname in rows if _is_of_sdk(shortname, path, installed)), None)


def _is_of_sdk(shortname: str, path: str, installed: Installed) -> bool:
    """Return whether the loader would load this very file: it does not decide about the scope of others."""
    own = _own_path(shortname, installed)
    return own is not None and os.path.realpath(own) == os.path.realpath(path)


def _own_path(shortname: str, installed: Installed) -> str | None:
    """Return the file that the loader loads by this name; None if there is none."""
    if not installed.is_current:
        return None
    try:
        return installed.sdk.locate(shortname).path
    except (ModuleNotFoundError, RocmSdkError):
        return None

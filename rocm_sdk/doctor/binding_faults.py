"""Symbols that bind to another file than the library was built for, as facts of a problem."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from rocm_sdk import Binding
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.catalog import rows_of
from rocm_sdk.installed.installation import Installed
from rocm_sdk.problems import Problem, problem

_FAULTS = {"other-function", "other-object"}
_ALWAYS_GLOBAL = "amdhip64"


def binding_faults(
    references: Iterable[Binding], installed: Installed, needing: str | None = None
) -> Iterator[Problem]:
    """One problem for each library with each file that answers it; the number of symbols is in it.

    needing: the program that has the other file, if one is known.
    """
    faults: dict[tuple[str, str], list[Binding]] = {}
    for each in references:
        if each.verdict in _FAULTS and each.bound_to is not None:
            faults.setdefault((each.library, each.bound_to), []).append(each)
    for (library, bound_to), found in faults.items():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        facts = {"library": os.path.basename(library), "symbol": found[0].symbol, "more": more, "other": bound_to}
        yield problem(
            "W-BIND-001",
            library,
            instead=found[0].instead,
            needing=needing,
            shortname=_shortname_of(bound_to, installed),
            **facts,
        )


def _shortname_of(path: str, installed: Installed) -> str | None:
    """The name by which ROCM_SDK_ISOLATE keeps a library of the SDK out of the global scope; None: it cannot."""
    name = os.path.basename(path)
    rows = (row[0] for row in rows_of(name) if row[0] != _ALWAYS_GLOBAL)
    return next((shortname for shortname in rows if _is_of_sdk(shortname, path, installed)), None)


def _is_of_sdk(shortname: str, path: str, installed: Installed) -> bool:
    """Whether the loader would load just this file: it decides nothing about the scope of others."""
    if not installed.is_current:
        return False
    try:
        own = installed.sdk.locate(shortname).path
    except (ModuleNotFoundError, RocmSdkError):
        return False
    return own is not None and os.path.realpath(own) == os.path.realpath(path)

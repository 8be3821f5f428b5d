"""The problems that follow from another one, according to the table.

The module imports next to nothing: `rocm-sdk gpus` uses it, too.
"""

import os

from rocm_sdk.problems.cause_table import (
    ANY,
    BELOW,
    DISTRIBUTION,
    ENTRY,
    FACTS,
    FIX,
    INIT_FILE,
    LINKED,
    MOUNT,
    MOVED,
    NAME,
    SONAME,
    VARIABLE,
    codes_of,
    explains,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm_sdk.problems import Problem

# The relations between two problems that have nothing to do with a program.
_RELATIONS = (ANY, BELOW, NAME, INIT_FILE, DISTRIBUTION, ENTRY, MOUNT, FIX, VARIABLE, SONAME, MOVED, FACTS, LINKED)


def place_of(found: "Problem") -> str:
    """Return the file that a problem is about; for a tool that does not start, the program behind it."""
    return os.path.normpath(found.facts.get("program", found.path or ""))


def without_followers(problems: "Sequence[Problem]") -> "list[Problem]":
    """Return the problems without those that, according to the table, follow from another one."""
    codes = frozenset().union(*map(codes_of, _RELATIONS))
    causes = [found for found in problems if found.code in codes]
    left = (found for found in problems if not any(_follows(found, cause) for cause in causes))
    return [_with_updates(found, problems) for found in left]


def _with_updates(cause: "Problem", problems: "Sequence[Problem]") -> "Problem":
    """Return a cause whose fix, if it replaces a file, also renews links to the file."""
    codes = explains(cause.code, LINKED)
    links = (found for found in problems if found.code in codes and _are_related(found, cause, LINKED))
    updates = dict.fromkeys(found.fix for found in links if "update" in found.facts and found.fix is not None)
    if any("leads" in found.facts and _follows(found, cause) for found in problems):
        updates["rocm-sdk init"] = None  # links to a package that is installed again
    if cause.fix is None or not cause.is_command:
        return cause
    return cause._replace(fix=" && ".join((cause.fix, *updates)))


def _follows(found: "Problem", cause: "Problem") -> bool:
    return any(found.code in explains(cause.code, each) and _are_related(found, cause, each) for each in _RELATIONS)


def _are_related(found: "Problem", cause: "Problem", relation: str) -> bool:
    own, other = str(found.path), str(cause.path)
    return {
        ANY: True,
        BELOW: f"{place_of(found)}/".startswith(f"{other}/") and found is not cause,
        NAME: found.facts.get("name") == os.path.basename(other),
        INIT_FILE: os.path.join(other, "__init__.py") == own or os.path.join(own, "__init__.py") == other,
        DISTRIBUTION: cause.facts.get("distribution")
        in {found.facts.get(name) for name in ("distribution", "package")},
        ENTRY: other.startswith(f"{own}/"),
        MOUNT: place_of(found).startswith(f"{cause.facts.get('directory')}/"),
        VARIABLE: found.facts.get("variable") in {cause.path, cause.facts.get("variable")},
        SONAME: own == os.path.join(os.path.dirname(other), cause.facts.get("soname", "")),
        FIX: found.fix == cause.fix,
        MOVED: f"{own}/".startswith(f"{cause.facts.get('moved')}/"),
        LINKED: f"{found.facts.get('linked')}/".startswith(f"{other}/"),
        FACTS: (os.path.basename(other) == "_dist_info.py" or cause.facts.get("moved", "").endswith(".dist-info"))
        and cause.facts.get("distribution") in {"rocm-sdk-core", found.facts.get("distribution")},
    }[relation]

"""The ownership of the files that both distributions install. `rocm-sdk adopt` and `rocm-sdk test` begin here."""

from __future__ import annotations

import posixpath
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk.base.own_wheels import install_command
from rocm_sdk.installed.record import Row

from . import metadata, own_files
from .distribution import AdoptionError, Installed, find, holds, rows_in

THEIRS = "rocm"
OURS = "rocm_sdk_loader"
WHOLE_RECORD = "RECORD.whole"  # of ours after an undone adoption: RECORD with the names that `rocm` owns alone
WHOLE_ENTRY_POINTS = "entry_points.whole"  # the same: ours with the command, which pip would remove with ours
SITE = Path(__file__).parents[2]  # the site-packages directory that this copy is installed in


class State(NamedTuple):
    """The state of a site-packages directory. Names are RECORD's, relative to the directory."""

    ours: Installed
    theirs: Installed | None  # None: `rocm` is not installed there
    shared: tuple[str, ...]  # names that both claim
    damaged: tuple[str, ...]  # our files that are missing or differ from what was installed
    is_required: bool  # `rocm` requires rocm-sdk-loader, as it does after an adoption
    has_command: bool  # `rocm` lists the command rocm-sdk as its own: pip would remove it with `rocm`

    @property
    def problem(self) -> str | None:
        """The problem, in a sentence; None if each file has one owner, and ours are as they were installed."""
        ours = self.ours.distribution.requirement
        theirs = "" if self.theirs is None else self.theirs.distribution.requirement
        if theirs and self.shared:
            return f"{theirs} and {ours} claim the same files: {_shortened(self.shared)}"
        if self.damaged:
            return f"files of {ours} are missing or were overwritten: {_shortened(self.damaged)}"
        if theirs and (self.has_command or not self.is_required):
            return f"{theirs} is adopted incompletely"
        return None

    @property
    def fix(self) -> str:
        """The command that solves the problem, and works even if the package is damaged."""
        return "python -m rocm_sdk.adoption" if self.damaged else "rocm-sdk adopt"


def find_theirs(site: Path) -> Installed | None:
    """Return AMD's distribution `rocm`; None if it is not installed, or an empty placeholder.

    Nothing is shared with a placeholder.
    """
    found = find(site, THEIRS)
    return None if found is None or found.distribution.is_placeholder else found


def state(site: Path = SITE) -> State:
    """Read the distributions `rocm` and ours in a site-packages directory, and return their state; change nothing.

    Raises AdoptionError if ours is not installed there as a regular installation.
    """
    ours, theirs = own(site), find_theirs(site)
    if ours is None or "rocm_sdk/__init__.py" not in ours.rows_by_name():
        raise AdoptionError(
            f"{site}: rocm-sdk-loader is not installed there from a wheel (it is editable, or not installed)",
            f"install it: {install_command('rocm-sdk-loader')}",
            str(site),
        )
    damaged = tuple(name for name, row in ours.rows_by_name().items() if _is_damaged(site, name, row))
    if theirs is None:
        return State(ours, None, (), damaged, is_required=False, has_command=False)
    return State(
        ours,
        theirs,
        tuple(name for name in theirs.rows_by_name() if name in ours.rows_by_name()),
        damaged,
        is_required=metadata.requires_loader((theirs.dist_info / "METADATA").read_bytes()),
        has_command=metadata.has_command(entry_points(theirs)),
    )


def own(site: Path) -> Installed | None:
    """Return our distribution, with the rows that it was installed with; None if it is not installed there."""
    ours = find(site, OURS)
    if ours is None:
        return None
    try:
        return ours._replace(rows=rows_in(ours.dist_info / WHOLE_RECORD))
    except FileNotFoundError:
        return ours


def entry_points(distribution: Installed) -> bytes:
    """Return the entry_points.txt of a distribution; empty if there is none."""
    try:
        return (distribution.dist_info / "entry_points.txt").read_bytes()
    except FileNotFoundError:
        return b""


def compiled_names(name: str) -> str:
    """Return the beginning of the names of a module's compiled files."""
    path = PurePosixPath(name)
    return f"{path.parent}/__pycache__/{path.stem}."


def _is_damaged(site: Path, name: str, row: Row) -> bool:
    path = site / name
    if not row.digest or PurePosixPath(name).parts[0].endswith(".dist-info"):
        return False
    if own_files.is_script(name) and not own_files.is_script_directory(path.parent):
        return False
    return not holds(path, row)


def _shortened(names: tuple[str, ...]) -> str:
    sources = [name for name in names if posixpath.splitext(name)[1] != ".pyc"]
    shown = [posixpath.basename(name) if name.startswith("..") else name for name in sources[:3]]
    return ", ".join(shown) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")

"""The debug information of a package's libraries and programs, which goes into a package of its own (`--split-debug`).

Debuggers find it by build ID, below a directory of each package: `_rocm_debug_core/lib/debug/.build-id`. So two
packages may have the debug information of one file.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocm_sdk_build.code.debug_split import Debuggable, debuggable, split
from rocm_sdk_build.inputs.catalog import is_same_file
from rocm_sdk_build.inputs.file_kind import Kind

from .package import PlacedFile

DIRECTORY = "lib/debug"


def find_debuggable(files: Iterable[PlacedFile]) -> tuple[dict[Path, Debuggable], dict[str, str]]:
    """Return the files that lose their debug information, and the paths of files that keep it, with the reason."""
    found: dict[Path, Debuggable] = {}
    first: dict[str, Path] = {}  # build ID -> source
    kept = {}
    for file in files:
        if file.link or file.facts.kind is Kind.DATA or file.source in found:
            continue
        facts = debuggable(file.source)
        if facts is None:
            continue
        other = first.setdefault(facts.build_id, file.source)
        if not facts.build_id:
            kept[file.path] = "it has no build ID (cc -Wl,--build-id)"
        elif other != file.source and not is_same_file(other, file.source):
            kept[file.path] = f"it has the build ID of {other}"
        else:
            found[file.source] = facts
    return found, kept


def strip(source: Path, target: Path, debug: Path) -> None:
    """Write a file without its debug information, and the information; the owner of the new file may write to it."""
    debug.parent.mkdir(parents=True, exist_ok=True)
    split(source, target, debug, debug.name)
    target.chmod(stat.S_IMODE(source.stat().st_mode) | stat.S_IWUSR)
    debug.chmod(0o644)


def debug_members(found: Mapping[Path, Debuggable], directory: str, scratch: Path) -> dict[str, Path]:
    """Return the files with the debug information, by their names below `directory`.

    The files are below `scratch`; what is not there, since an earlier run has made the other package, is written.
    """
    members = {}
    for source, facts in found.items():
        debug = scratch / facts.place
        if not debug.exists():
            rest = scratch / "stripped"
            strip(source, rest, debug)
            rest.unlink()
        members[f"{directory}/{DIRECTORY}/{facts.place}"] = debug
    return dict(sorted(members.items()))

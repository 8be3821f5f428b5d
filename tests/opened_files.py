"""How often a command opens the files of an SDK, by inode and over all its threads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from system_calls import traced

_OPENED = re.compile(r'openat\([^"]*"([^"]+)", ([^)]*)\) = \d')
_CHILD = re.compile(r"^(?:\d+ +)?(?:vfork|fork|clone3?)\(.*\) = (\d+)")


class Opens(NamedTuple):
    """How often each file was opened, by its path in the SDK; links count for their files."""

    libraries: Counter[str]
    metadata: Counter[str]


def opens(command: list[str], sdk: Path, record: Path, env: Mapping[str, str] | None = None) -> Opens:
    """What a command that succeeds opens below the directory `sdk`, without the programs that it starts."""
    libraries, metadata = Counter[str](), Counter[str]()
    children = set()
    root = sdk.resolve()
    for line in traced(command, "openat,vfork,fork,clone,clone3", record, env):
        child, process = _CHILD.search(line), line.split(maxsplit=1)[0]
        if child is not None and "CLONE_THREAD" not in line:
            children.add(child[1])
        found = _OPENED.search(line)
        if found is None or process in children or "O_DIRECTORY" in found[2]:
            continue
        path = Path(found[1]).resolve()
        if path.is_relative_to(root):
            counts = libraries if ".so" in path.name else metadata
            counts[path.relative_to(root).as_posix()] += 1
    return Opens(libraries, metadata)

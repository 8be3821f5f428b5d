"""The choice between two sets of metadata of one distribution: the files fit one of the two."""

from __future__ import annotations

import os

from .distributions import Distribution
from .record import RecordedFile, has_digest

_COMPARED = 1 << 20  # bytes: the contents of smaller files are compared, of larger ones the sizes


def without_twins(distributions: list[Distribution], site: str) -> tuple[list[Distribution], list[Distribution]]:
    """Return the distributions, one of each name, and the others of the same names, which the files fit less."""
    by_name: dict[str, list[Distribution]] = {}
    for each in distributions:
        by_name.setdefault(each.name, []).append(each)
    kept = [
        found[0] if len(found) == 1 else max(found, key=lambda each: _fit(each, site)) for found in by_name.values()
    ]
    return kept, [each for each in distributions if each not in kept]


def _fit(each: Distribution, site: str) -> tuple[float, bool]:
    """Return the share of the files of RECORD that are there as it says, and whether the metadata has no fault.

    Files of the metadata itself do not count: they may be faultless.
    """
    own = f"{os.path.basename(each.directory)}/"
    files = [file for file in each.files if not file.path.startswith(own) and not file.path.endswith(".pyc")]
    share = sum(_is_as_recorded(file, site) for file in files) / len(files) if files and each.has_metadata else -1.0
    return share, each.fault is None


def _is_as_recorded(file: RecordedFile, site: str) -> bool:
    path = os.path.join(site, file.path)
    try:
        size = os.stat(path).st_size
        if file.size is not None and size != file.size:
            return False
        return size > _COMPARED or not file.digest or has_digest(path, file.digest)
    except (OSError, ValueError):
        return False

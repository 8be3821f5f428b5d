"""The subject `files`: the files that the packages' RECORD lists exist, unchanged and usable."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from rocm_sdk.devel import layout
from rocm_sdk.doctor.file_faults import ASIDE, fault_of
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.directory_walk import walk
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.page_list import PAGE_LIST
from rocm_sdk.installed.record import RecordedFile
from rocm_sdk.installed.view import Installed

# Directories whose files other programs write.
_NOT_OWNED = frozenset({"__pycache__", ".devel_links"})

# Removed after the extraction; RECORD still lists them, as pip wrote it.
_FACTS = "_dist_info.py"
_ARCHIVES = frozenset(f"{layout.MODULE}/{name}" for name in layout.ARCHIVES)


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check each file of each distribution; with `deep`, its content, too."""
    is_extracted = layout.tree_state(installation.site) in {layout.EXTRACTED, layout.LOST}  # `devel` reports a lost one
    with options.progress("reading files", sum(len(each.files) for each in installation.distributions)) as step:
        for distribution in installation.distributions:
            for file in distribution.files:
                if not _is_of_tree(file) and not (is_extracted and file.path in _ARCHIVES):
                    _check_file(installation, distribution, file, recorder, options.deep)
                step(file.path)
    for directory in installation.platform_directories:  # an extraction has its own list
        name = os.path.basename(directory)
        if "devel" in name or not any(path.startswith(f"{name}/") for path in installation.owners):
            continue
        strangers = sorted(_strangers(installation, directory))
        if strangers:
            more = f"; so are {len(strangers) - 1:,} more" if len(strangers) > 1 else ""
            recorder.bad("W-PKG-019", strangers[0], more=more)
    _check_writable(installation, recorder)


def owed(installation: Installed) -> str | None:
    """Return the untested part of an installation, if nothing was tested; None if there is none."""
    count = len(installation.owners)
    return f"RECORD lists {count:,} files, and none was looked at" if count else None


def _is_of_tree(file: RecordedFile) -> bool:
    """Return whether the extraction wrote a file: the subject `devel` has a better list of such files."""
    return not file.digest and file.path.startswith(layout.TREE_PREFIX)


def _path_of(installation: Installed, file: RecordedFile) -> str:
    """Return the path of a file.

    `pip install --target` puts scripts into the directory, and does not correct RECORD.
    """
    path = os.path.normpath(os.path.join(installation.site, file.path))  # site-packages may be a link
    if file.path.startswith("../") and not os.path.lexists(path):
        moved = os.path.join(installation.site, "bin", os.path.basename(path))
        return moved if os.path.lexists(moved) else path
    return path


def _check_writable(installation: Installed, recorder: Recorder) -> None:
    """Report libraries that every user may replace, and directories where every user may replace them."""
    libraries = [each.path for each in installation.shared_objects]
    places = {installation.site, *installation.platform_directories, *map(os.path.dirname, libraries)}
    found = sorted(path for path in (*places, *libraries) if _is_open(path))
    if found:
        more = f", and so are {len(found) - 1:,} more" if len(found) > 1 else ""
        top = os.path.commonpath([path if path in places else os.path.dirname(path) for path in found])
        recorder.bad("W-FILE-010", found[0], more=more, directory=top)


def _is_open(path: str) -> bool:
    """Return whether every user may replace a file, or files in a directory."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IWOTH) and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)


def _strangers(installation: Installed, directory: str) -> Iterator[str]:
    for root, directories, names in walk(directory):
        directories[:] = [name for name in directories if name not in _NOT_OWNED]
        for name in names:
            path = os.path.join(root, name)
            relative = os.path.relpath(path, installation.site)
            is_own = name.endswith((".pyc", ASIDE)) or _is_page_list(relative)
            if not is_own and relative not in installation.owners:
                yield path


def _is_page_list(name: str) -> bool:
    """Return whether a file below site-packages is a page list of `rocm-sdk init --record-pages`.

    Whoever brought the list does not matter.
    """
    return name.partition("/")[2] == PAGE_LIST


def _says_another_version(installation: Installed, distribution: Distribution, file: RecordedFile) -> bool:
    """Return whether a file has a package's facts, and they differ from those in its metadata."""
    module, _, name = file.path.rpartition("/")
    said = installation.said_by(module).get("version") if name == _FACTS else None
    return said is not None and said != distribution.version


def _check_file(
    installation: Installed, distribution: Distribution, file: RecordedFile, recorder: Recorder, deep: bool
) -> None:
    if _is_page_list(file.path):
        recorder.good(file.path)
        return
    path = _path_of(installation, file)
    fault = fault_of(path, file, deep or _says_another_version(installation, distribution, file))
    if fault is None:
        recorder.good(file.path)
    elif not file.path.endswith(".pyc") or os.path.lexists(path):  # a cache, which Python writes again
        recorder.bad(fault[0], path, name=os.path.basename(path), **(distribution.facts | fault[1]))

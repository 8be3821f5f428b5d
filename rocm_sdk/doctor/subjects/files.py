"""Subject `files`: whether the files that the packages' RECORD lists exist, unchanged and usable."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocm_sdk.base.files import chunks_of, open_file, read_beginning
from rocm_sdk.base.walking import walk
from rocm_sdk.devel import layout
from rocm_sdk.doctor.options import Options
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.installation import Installed
from rocm_sdk.installed.record import RecordedFile, digest_text

if TYPE_CHECKING:
    from rocm_sdk._native import Code

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_SIZE = 1024  # bytes: a pointer is smaller
_PROGRAM_DIRECTORIES = ("/bin/", "/libexec/")
_PROGRAM_MAGICS = (b"\x7fELF", b"#!")
_MODULES = (".pm", ".so")  # endings of files there that begin like programs but are not programs

# Directories whose files other programs write.
_NOT_OWNED = frozenset({"__pycache__", ".devel_links"})

# The algorithms that RECORD may use (PEP 427).
_ALGORITHMS = frozenset({"sha256", "sha384", "sha512"})

# Removed after the extraction; RECORD still lists them, as pip wrote it.
_ARCHIVES = frozenset(f"{layout.MODULE}/{name}" for name in layout.ARCHIVES)

Fault = tuple["Code", dict[str, object]]  # and facts


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Checks each file of each distribution; with `deep` its content too."""
    is_extracted = layout.tree_state(installation.site) == layout.EXTRACTED
    for distribution in installation.distributions:
        for file in distribution.files:
            if not _is_of_tree(file) and not (is_extracted and file.path in _ARCHIVES):
                _check_file(installation, distribution, file, recorder, options.deep)
    _check_unowned(installation, recorder)


def owed(installation: Installed) -> str | None:
    """What it has to test, if it has tested nothing."""
    count = len(installation.owners)
    return f"RECORD lists {count:,} files, and none was looked at" if count else None


def _is_of_tree(file: RecordedFile) -> bool:
    """Whether the extraction wrote it: the subject `devel` has a better list of those."""
    return not file.digest and file.path.startswith(layout.TREE_PREFIX)


def _path_of(installation: Installed, file: RecordedFile) -> str:
    """The path of a file. `pip install --target` puts scripts into the directory, and does not correct RECORD."""
    path = os.path.join(installation.site, file.path)
    if file.path.startswith("../") and not os.path.lexists(path):
        moved = os.path.join(installation.site, "bin", os.path.basename(path))
        return moved if os.path.lexists(moved) else path
    return path


def _check_unowned(installation: Installed, recorder: Recorder) -> None:
    """Reports files in platform directories that no RECORD lists. What an extraction wrote has its own list."""
    for directory in installation.platform_directories:
        name = os.path.basename(directory)
        if "devel" in name or not any(path.startswith(f"{name}/") for path in installation.owners):
            continue
        strangers = sorted(_strangers(installation, directory))
        if strangers:
            more = f"; so are {len(strangers) - 1:,} more" if len(strangers) > 1 else ""
            recorder.bad("W-PKG-019", strangers[0], more=more)


def _strangers(installation: Installed, directory: str) -> Iterator[str]:
    for root, directories, names in walk(directory):
        directories[:] = [name for name in directories if name not in _NOT_OWNED]
        for name in names:
            path = os.path.join(root, name)
            if os.path.relpath(path, installation.site) not in installation.owners and not name.endswith(".pyc"):
                yield path


def _check_file(
    installation: Installed, distribution: Distribution, file: RecordedFile, recorder: Recorder, deep: bool
) -> None:
    path = _path_of(installation, file)
    problem: Fault | None
    try:
        problem = _problem_of(path, file, os.stat(path), deep)
    except (FileNotFoundError, NotADirectoryError):
        if file.path.endswith(".pyc"):
            return  # a cache, which Python writes again
        problem = "E-FILE-001", {}
    except OSError as error:
        problem = "E-FILE-007", {"detail": error.strerror}
    except ValueError as error:  # a name that no file can have
        problem = "E-FILE-007", {"detail": error}
    if problem is None:
        recorder.good(file.path)
    else:
        code, more = problem
        recorder.bad(code, path, name=os.path.basename(path), **(distribution.facts | more))


def _problem_of(path: str, file: RecordedFile, found: os.stat_result, deep: bool) -> Fault | None:
    """What is wrong with an existing file."""
    if not stat.S_ISREG(found.st_mode):
        return "E-FILE-007", {"detail": "it is not a regular file"}
    mode: dict[str, object] = {"mode": f"{stat.S_IMODE(found.st_mode):04o}"}
    if not found.st_mode & stat.S_IRUSR:
        return "E-FILE-004", mode
    if found.st_size < _LFS_SIZE and _starts_with(path, _LFS_POINTER):
        return "E-FILE-006", {}
    if file.size is not None and found.st_size != file.size:
        return "E-FILE-002", {"found": found.st_size, "wanted": file.size}
    if not found.st_mode & stat.S_IXUSR and _is_program(file.path, path):
        return "E-FILE-005", mode
    if deep and file.digest and not _has_digest(path, file.digest):
        return "E-FILE-003", {}
    return None


def _is_program(name: str, path: str) -> bool:
    """Whether it is in a directory of programs, and begins like one."""
    is_in_place = any(part in f"/{name}" for part in _PROGRAM_DIRECTORIES)
    return is_in_place and not name.endswith(_MODULES) and _starts_with(path, *_PROGRAM_MAGICS)


def _starts_with(path: str, *beginnings: bytes) -> bool:
    return read_beginning(path, max(map(len, beginnings))).startswith(beginnings)


def _has_digest(path: str, digest: str) -> bool:
    """Whether the content has this digest: "sha256=" and base64 without padding. False for other algorithms."""
    algorithm = digest.partition("=")[0]
    if algorithm not in _ALGORITHMS:
        return False
    content = hashlib.new(algorithm)
    with open_file(path) as file:
        for chunk in chunks_of(file):
            content.update(chunk)
    return digest_text(content) == digest

"""Copies of this package's files, in an archive that the build puts beside this module.

Files that another distribution overwrote are restored from it without a network.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import zipfile
from pathlib import Path

SCRIPT = "scripts/rocm-sdk"  # its name in the archive; an installer rewrites the first line
_ARCHIVE = Path(__file__).with_name("own_files.zip")


def read(name: str) -> bytes | None:
    """The content of one of our files, named as in RECORD; None if there is no copy, as for compiled files."""
    try:
        with zipfile.ZipFile(_ARCHIVE) as archive:
            if not is_script(name):
                return archive.read(name)
            _, _, body = archive.read(SCRIPT).partition(b"\n")
            return b"#!" + os.fsencode(sys.executable) + b"\n" + body
    except (FileNotFoundError, KeyError, zipfile.BadZipFile):
        return None


def is_script(name: str) -> bool:
    """Whether it is the command, in the scripts directory outside of site-packages."""
    return name.startswith("../") and name.endswith("/bin/rocm-sdk")


def is_script_directory(directory: Path) -> bool:
    """Whether it has this interpreter's commands. `pip install --target` writes paths that lead elsewhere."""
    schemes = (sysconfig.get_path("scripts", scheme) for scheme in sysconfig.get_scheme_names())
    return os.path.realpath(directory) in map(os.path.realpath, schemes)

"""Copies of our own files, in an archive that the build puts beside this module: what another distribution overwrote is
restored without a network."""

from __future__ import annotations

import os
import sys
import sysconfig
import zipfile
from pathlib import Path

SCRIPT = "scripts/rocm-sdk"  # its name in the archive; an installer rewrites the first line
_ARCHIVE = Path(__file__).with_name("own_files.zip")


def read(name: str) -> bytes | None:
    """The content of a file of ours, named as in RECORD; None where there is no copy, as of compiled files."""
    try:
        with zipfile.ZipFile(_ARCHIVE) as archive:
            if not is_script(name):
                return archive.read(name)
            _, _, body = archive.read(SCRIPT).partition(b"\n")
            return b"#!" + os.fsencode(sys.executable) + b"\n" + body
    except (FileNotFoundError, KeyError, zipfile.BadZipFile):
        return None


def is_script(name: str) -> bool:
    """Whether it is the command, in the directory of scripts outside of site-packages."""
    return name.startswith("../") and name.endswith("/bin/rocm-sdk")


def is_script_directory(directory: Path) -> bool:
    """Whether this interpreter's commands lie there. `pip install --target` writes names that lead elsewhere."""
    schemes = (sysconfig.get_path("scripts", scheme) for scheme in sysconfig.get_scheme_names())
    return os.path.realpath(directory) in map(os.path.realpath, schemes)

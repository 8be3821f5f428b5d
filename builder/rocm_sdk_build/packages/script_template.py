"""Starts the programs of this package: from the development tree where that is extracted, else from the package itself.

The functions below the table are the entry points of console scripts.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

PLATFORM_DIRECTORY = DEVEL_DIRECTORY = CORE_DIRECTORY = ""


def start(path: str, expands: bool) -> None:
    """Becomes the program, with the arguments unchanged. expands: it needs the development tree."""
    site = Path(__file__).resolve().parent.parent
    root = site / PLATFORM_DIRECTORY
    if DEVEL_DIRECTORY and importlib.util.find_spec("rocm_sdk_devel") is not None:
        devel = site / DEVEL_DIRECTORY
        if not (devel / "__init__.py").exists() and expands:
            done = subprocess.run([sys.executable, "-m", "rocm_sdk", "init", "--quiet"], check=False)
            if done.returncode:
                sys.exit(f"{sys.argv[0]}: the development tree cannot be extracted: rocm-sdk init says why")
        if (devel / "__init__.py").exists():
            root = devel
    if CORE_DIRECTORY:
        add_to_list("LD_LIBRARY_PATH", root / "lib", site / CORE_DIRECTORY / "lib/rocm_sysdeps/lib")
        add_to_list("PYTHONPATH", root / "libexec/rocprofiler-compute")
    program = root / path
    try:
        os.execv(program, [str(program), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{sys.argv[0]}: {program}: {error.strerror}")


def add_to_list(name: str, *directories: Path) -> None:
    """Puts the directories that exist before those that the variable has."""
    old = [entry for entry in os.environ.get(name, "").split(":") if entry]
    new = [str(directory) for directory in directories if directory.exists() and str(directory) not in old]
    if new:
        os.environ[name] = ":".join(new + old)


# The values of this package.

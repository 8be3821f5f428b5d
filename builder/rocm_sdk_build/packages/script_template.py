"""The starter of this package's programs: from the development tree if it is extracted, else from the package itself.

The functions below the table are the entry points of console scripts.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

PLATFORM_DIRECTORY = DEVEL_DIRECTORY = CORE_DIRECTORY = ""

# The program of `python -m rocm_sdk`, but without modules of the current directory, which may be another user's.
# PYTHONSAFEPATH has this effect since Python 3.11; older interpreters import nothing before the first line.
_LOADER = """
import sys
if not getattr(sys.flags, "safe_path", False):
    del sys.path[0]
import runpy
runpy.run_module("rocm_sdk", run_name="__main__", alter_sys=True)
"""


def start(path: str, expands: bool) -> None:
    """Become the program, with the arguments unchanged; with `expands` the program needs the development tree."""
    site = Path(__file__).resolve().parent.parent
    root = site / PLATFORM_DIRECTORY
    if DEVEL_DIRECTORY and importlib.util.find_spec("rocm_sdk_devel") is not None:
        devel = site / DEVEL_DIRECTORY
        if not (devel / "__init__.py").exists() and expands:
            command = [sys.executable, "-c", _LOADER, "init", "--quiet"]
            done = subprocess.run(command, env=environment_of_loader(), check=False)
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


def environment_of_loader() -> dict[str, str]:
    """Return the environment, without entries that make modules and libraries of files of the current directory."""
    made = {**os.environ, "PYTHONSAFEPATH": "1"}
    for name, separator in (("PYTHONPATH", ":"), ("LD_LIBRARY_PATH", ";")):
        entries = made.get(name, "").replace(separator, ":").split(":")
        made[name] = ":".join(entry for entry in entries if entry.startswith(("/", "$ORIGIN", "${ORIGIN}")))
    return made


def add_to_list(name: str, *directories: Path) -> None:
    """Put the directories that exist before the entries of the variable."""
    old = [entry for entry in os.environ.get(name, "").split(":") if entry]
    new = [str(directory) for directory in directories if directory.exists() and str(directory) not in old]
    if new:
        os.environ[name] = ":".join(new + old)


# The values of this package.

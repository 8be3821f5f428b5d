"""Virtual environments with pip."""

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from stored_builds import stored

_SCRIPT = "#!/bin/sh\nexec '{python}' -m pip \"$@\"\n"


def environment_with_pip(directory: Path) -> Path:
    """Makes an environment with the pip that Python brings, which is unpacked once; the interpreter in it."""
    venv.create(directory, symlinks=True)
    python = directory / "bin/python"
    (site,) = directory.glob("lib/python*/site-packages")
    site.rmdir()
    stored(site, "the pip that Python brings", _unpack_pip)
    for name in ("pip", "pip3"):
        (directory / "bin" / name).write_text(_SCRIPT.format(python=python))
        (directory / "bin" / name).chmod(0o755)
    return python


def _unpack_pip(site: Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-m", "venv", made], check=True)
        (unpacked,) = Path(made).glob("lib/python*/site-packages")
        shutil.copytree(unpacked, site)

"""Virtual environments, with and without pip, and the installers that change them."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

from stored_builds import stored

UV = str(Path(sysconfig.get_path("scripts"), "uv"))
_SCRIPT = "#!/bin/sh\nexec '{python}' -m pip \"$@\"\n"


def empty_environment(directory: Path) -> Path:
    """Make an environment without a package, and return its interpreter."""
    venv.create(directory, symlinks=True)
    return directory / "bin/python"


def installer_command(installer: str, python: str | Path, action: str) -> list[str]:
    """Return the beginning of a command that changes an interpreter's environment: by uv, or by the pip of the tests.

    pip runs by this file, as pip itself starts it for `--python`, but once and not twice. The pip that Python brings
    may be older: tests of input that any pip must take use that (`environment_with_pip`).
    """
    if installer == "uv":
        return [UV, "pip", action, "--python", str(python)]
    pip = importlib.util.find_spec("pip")
    assert pip is not None
    assert pip.origin is not None
    return [str(python), str(Path(pip.origin).with_name("__pip-runner__.py")), "--disable-pip-version-check", action]


def environment_with_pip(directory: Path) -> Path:
    """Make an environment with the pip that Python brings, which is unpacked once; return its interpreter."""
    python = empty_environment(directory)
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

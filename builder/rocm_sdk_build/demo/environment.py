"""The keeper of a virtual environment that has exactly the given wheels.

Only wheels that are not there yet are installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rocm_sdk.base.processes import module_command, run
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheel_name import wheel_name

_PIP = ("pip", "--disable-pip-version-check", "--quiet", "--python")
_INSTALL = ("install", "--no-index", "--no-deps", "--force-reinstall", "--no-warn-script-location")


class Environment:
    """A virtual environment in `directory`.

    The environment is made, or made anew if it belongs to another Python.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self._state = self._directory / "installed-wheels.json"
        self.python = self._directory / "bin/python"
        if self._read_state().get("python") != _python_identity():
            _run(module_command("venv", "--clear", "--without-pip", str(self._directory)))
            self._write_state({"python": _python_identity()})

    def install(self, wheels: Sequence[Path]) -> list[Path]:
        """Install the wheels as they are, without dependencies; return the wheels that were not there already."""
        state = self._read_state()
        known = {wheel_name(wheel).base: _file_identity(wheel) for wheel in wheels}
        changed = [wheel for wheel in wheels if state.get(base := wheel_name(wheel).base) != known[base]]
        if changed:
            gone = {wheel_name(wheel).base for wheel in changed}
            self._write_state({name: value for name, value in state.items() if name not in gone})
            _run(module_command(*_PIP, str(self.python), *_INSTALL, *map(str, changed)))
            self._write_state({**state, **known})
        return changed

    def run(self, script: Path, *arguments: str) -> str:
        """Run a script with the environment's Python alone; return its standard output.

        The standard error of the script (warnings, the lines of ROCM_SDK_VERBOSE) is passed on. Raise PackagingError if
        the script fails.
        """
        return _run([str(self.python), "-I", str(script), *arguments], show_errors=True)

    def _read_state(self) -> dict[str, str]:
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return {str(name): str(value) for name, value in state.items()} if self.python.exists() else {}

    def _write_state(self, state: dict[str, str]) -> None:
        self._state.write_text(json.dumps(state, indent=2), encoding="utf-8")


def _python_identity() -> str:
    return f"{sys.version.split()[0]} {sys.base_prefix}"


def _file_identity(wheel: Path) -> str:
    facts = wheel.stat()
    return f"{wheel.name} {facts.st_size} {facts.st_mtime_ns}"


def _run(command: list[str], *, show_errors: bool = False) -> str:
    result = run(command, variables={"PIP_ROOT_USER_ACTION": "ignore"})
    if result.returncode:
        ending = f"signal {-result.returncode}" if result.returncode < 0 else f"exit status {result.returncode}"
        output = (result.stderr or result.stdout).strip() or "no output"
        raise PackagingError(f"{' '.join(command)}: {ending}:\n{output}")
    if show_errors:
        sys.stderr.write(result.stderr)
    return result.stdout

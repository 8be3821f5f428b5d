"""The pytest plugin of a measured run (`--reach DIRECTORY`): a row for each case, with its reach and its cost."""

import base64
import ctypes
import json
import os
import zlib
from collections.abc import Generator
from pathlib import Path

import pytest
from suite_costs import spent

_NATIVE = "rocm_sdk/_native.abi3.so"


class Measuring:
    """A worker's hooks: each case gets a map, and its results are written when the case ends."""

    def __init__(self, directory: Path, root: Path) -> None:
        import reach_recorder  # tests/tier/recorder.py, which the measured run puts into the environment

        self.recorder = reach_recorder.Recorder()
        self.native = ctypes.CDLL(str(root / _NATIVE))
        self.process = os.getpid()
        self.rows = directory / f"cases-{self.process}.jsonl"
        self.current = directory / "current" / str(self.process)
        self.maps = directory / "maps"
        self.failed = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        name = self.maps / f"{self.process}"
        name.touch()
        name.chmod(0o666)
        os.truncate(name, self.recorder.size)
        self.recorder.use(str(name))
        self.native.reach_use(os.fsencode(name))
        self.current.write_text(str(name), encoding="utf-8")
        self.failed, before = False, spent()
        try:
            return (yield)
        finally:
            row = {"case": item.nodeid.removeprefix("tests/"), "seconds": round(spent() - before, 4)}
            self._write(row | {"failed": self.failed, "reach": self._take()})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def _take(self) -> dict[str, str]:
        """Return what the maps of the case have, and remove them: a late child writes in vain."""
        taken = {}
        for path in sorted(self.maps.glob(f"{self.process}*")):
            part, _, module = path.name.partition(".")
            if part == str(self.process):
                taken[module] = base64.b85encode(zlib.compress(path.read_bytes())).decode()
                path.unlink()
        return taken

    def _write(self, row: dict[str, object]) -> None:
        with self.rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def register(config: pytest.Config, directory: str) -> None:
    """Measure in this process, if it runs cases."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Measuring(Path(directory), config.rootpath))

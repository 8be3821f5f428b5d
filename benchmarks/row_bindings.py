"""The row `bindings`: following what each symbol of the SDK's libraries binds to, beside loading them."""

from __future__ import annotations

import json
import subprocess

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, figure, ratio
from .stage import Stage

# The program measures both in one process: loaded libraries stay, so loading is measured once a process.
FORESEE = """
import json, re, time
import rocm_sdk
from rocm_sdk.installed.view import current

def peak():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1]) * 1024

names = tuple(current().locations)
with open("/proc/self/clear_refs", "w") as peaks:
    peaks.write("5")
before = peak()
rocm_sdk.bindings(*names)
memory = peak() - before
start = time.perf_counter()
found = rocm_sdk.bindings(*names)
seconds = time.perf_counter() - start
start = time.perf_counter()
rocm_sdk.preload_libraries(*names)
loading = time.perf_counter() - start
start = time.perf_counter()
rocm_sdk.process_bindings()
print(json.dumps([seconds, memory, found.reference_count, loading, time.perf_counter() - start]))
"""


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row, each from processes that follow and then load all libraries of the SDK."""
    environment = stage.environment(Shape.NONE)
    command = [environment.python, "-I", "-c", FORESEE]
    runs = [json.loads(subprocess.check_output(command)) for _ in range(stage.rounds(7))]
    seconds, memory, references, loading, reading = (list(each) for each in zip(*runs, strict=True))
    return [
        figure("references that are followed", "", [references[0]]),
        figure("following them", "ms", [each * 1e3 for each in seconds], Target("at most", 150)),
        figure("memory that it takes", "MB", [each / 1e6 for each in memory], Target("at most", 100)),
        ratio("following them, in times of loading the libraries", seconds, loading),
        figure("reading what the process has bound", "ms", [each * 1e3 for each in reading]),
    ]

"""`rocm-sdk gpus --watch`, as its users call it, while a machine changes."""

import json
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from ended import assert_refused
from programs import completed
from sample_machine import GIB, TOPOLOGY, Machine, machine_of
from sample_site import clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
_DEVICE = "sys/bus/pci/devices/0000:c1:00.0"
_PROCESSES = "sys/class/kfd/kfd/proc"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = machine_of(tmp_path / "machine")
    machine.gpu(1, "gfx942", memory=192 * GIB, location_id=0xC100, device_id=0x74A1, unique_id=0xAB)
    machine.gpu(2, "gfx942", memory=192 * GIB, location_id=0x0F00, device_id=0x74A1, unique_id=0xAC)
    machine.write(f"{_DEVICE}/power/runtime_status", "active\n")
    machine.write(f"{_DEVICE}/ras/umc_err_count", "ue: 0\nce: 7\nde: 0\n")
    machine.write(f"{_DEVICE}/mem_info_vram_used", "0\n")
    return machine


@contextmanager
def watching(machine: Machine, *words: str) -> Iterator[IO[str]]:
    """Yield the stream that the command prints to; Ctrl-C ends the command."""
    command = [sys.executable, str(SCRIPT), "gpus", "--watch", "0.05", *words]
    environment = clean_environment() | {"ROCM_SDK_ROOTFS": str(machine.root)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield process.stdout
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def wait_for_begin(output: IO[str]) -> None:
    """Wait for the table, which the command prints after its first look."""
    assert output.readline().startswith("node  target ")
    assert ["gfx942" in output.readline() for _ in range(2)] == [True, True]


def test_each_change_is_a_line(machine: Machine) -> None:
    with watching(machine) as output:
        wait_for_begin(output)
        machine.write(f"{_DEVICE}/ras/umc_err_count", "ue: 2\nce: 7\nde: 0\n")
        line = output.readline()
        assert line[8:].startswith(
            "  node 1: errors: bad, 2 uncorrected (umc_err_count), 7 corrected, 0 deferred [W-GPU"
        )
        assert line.endswith("(before: good, no uncorrected error; 7 corrected, 0 deferred)\n")
        machine.write("proc/812/comm", "python3\n")
        machine.write(f"{_PROCESSES}/812/vram_40001", "3000000000\n")
        assert output.readline()[8:] == "  node 1: process: 812 python3\n"
        machine.write(f"{_DEVICE}/mem_info_vram_used", "1000000\n")  # too little for a line
        machine.write(f"{_DEVICE}/mem_info_vram_used", "3000000000\n")
        assert output.readline()[8:] == "  node 1: memory: 3.0 GB used (before: 0 bytes used)\n"
        shutil.rmtree(machine.root / _PROCESSES / "812")
        assert output.readline()[8:] == "  node 1: process: gone (before: 812 python3)\n"
        shutil.rmtree(machine.root / TOPOLOGY / "nodes/2")
        assert output.readline()[8:].startswith("  node 2: GPU: gone (before: gfx942 ")


def test_lines_of_json(machine: Machine) -> None:
    with watching(machine, "--json") as output:
        assert json.loads(output.readline())["watched"] == [1, 2]
        machine.write(f"{_PROCESSES}/812/queues/0/gpuid", "40002\n")
        change = json.loads(output.readline())
        assert change.pop("time").startswith("20")
        assert change == {"node": 2, "what": "process", "before": None, "now": "812"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--watch", "0"], "not a number of seconds, 0.05 or more: 0"),
        (["--watch", "x"], "not a number of seconds, 0.05 or more: x"),
        (["--watch", "1", "--arch"], "--watch goes with --json only"),
        (["--watch", "1", "--health"], "--watch goes with --json only"),
    ],
)
def test_wrong_usage(machine: Machine, words: list[str], said: str) -> None:
    environment = clean_environment() | {"ROCM_SDK_ROOTFS": str(machine.root)}
    assert_refused(completed([str(SCRIPT), "gpus", *words], env=environment, timeout=60), 2, said)


def test_no_gpu(tmp_path: Path) -> None:
    environment = clean_environment() | {"ROCM_SDK_ROOTFS": str(tmp_path)}
    result = completed([str(SCRIPT), "gpus", "--watch", "1"], env=environment, timeout=60)
    assert_refused(result, 1, "this machine has no AMD GPU")

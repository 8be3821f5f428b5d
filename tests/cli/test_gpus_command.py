"""`rocm-sdk gpus` as its users call it."""

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused
from own_terminal import terminal_output
from programs import completed
from sample_machine import GIB, TOPOLOGY, Machine, machine_of
from sample_site import clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Result = subprocess.CompletedProcess[str]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine with an MI300X and an APU.

    The number of the APU comes before the other as text, after it as a number.
    """
    machine = machine_of(tmp_path / "machine")
    machine.gpu(2, "gfx942", memory=192 * GIB, location_id=0xC100, device_id=0x74A1, unique_id=0xAB)
    machine.gpu(10, "gfx1036", memory=GIB // 2, location_id=0x0F00, device_id=0x164E)
    return machine


def call(machine: Machine, *words: str, **variables: str) -> Result:
    return completed(
        [str(SCRIPT), *words], env=clean_environment() | {"ROCM_SDK_ROOTFS": str(machine.root)} | variables, timeout=60
    )


def test_the_table(machine: Machine) -> None:
    names = "1.0.0\n164E,\t00,\tAMD Radeon Graphics\n74A1,\t00,\tAMD Instinct MI300X\n"
    machine.write("usr/share/libdrm/amdgpu.ids", names)
    for address in ("0000:c1:00.0", "0000:0f:00.0"):
        machine.write(f"sys/bus/pci/devices/{address}/revision", "0x00\n")
    result = call(machine, "gpus", HIP_VISIBLE_DEVICES="0")
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "node  target   PCI             memory  usable  GPU",
        "2     gfx942   0000:c1:00.0  206.2 GB  yes     AMD Instinct MI300X",
        "10    gfx1036  0000:0f:00.0  536.9 MB  no      AMD Radeon Graphics",
        "node 10: hidden by HIP_VISIBLE_DEVICES=0",
    ]
    assert result.stderr == ""


def test_targets_for_scripts(machine: Machine) -> None:
    """Real targets of all GPUs, whatever the environment hides or presents otherwise."""
    variables = {"HSA_OVERRIDE_GFX_VERSION": "9.0.10", "HIP_VISIBLE_DEVICES": "1"}
    result = call(machine, "gpus", "--arch", **variables)
    assert (result.returncode, result.stdout, result.stderr) == (0, "gfx942\ngfx1036\n", "")
    result = call(machine, "gpus", "--arch", "--visible", **variables)
    assert (result.returncode, result.stdout, result.stderr) == (0, "gfx90a\n", "")
    result = call(machine, "gpus", "--visible", "--arch", ROCR_VISIBLE_DEVICES="1,0")
    assert (result.returncode, result.stdout) == (0, "gfx1036\ngfx942\n")


def test_an_override_is_shown(machine: Machine) -> None:
    result = call(machine, "gpus", HSA_OVERRIDE_GFX_VERSION_2="10.3.0")
    assert "10    gfx1030  " in result.stdout or "10    gfx1036  " in result.stdout
    result = call(machine, "gpus", HSA_OVERRIDE_GFX_VERSION="10.3.0")
    assert "node 10: real gfx1036, presented as gfx1030" in result.stderr
    assert "refuses a version of another major number" in result.stderr, "the other GPU is of gfx9"
    result = call(machine, "gpus", HSA_OVERRIDE_GFX_VERSION_2="10.3.0", ROCR_VISIBLE_DEVICES="1,,0")
    assert "refuses" not in result.stderr
    assert "ROCR_VISIBLE_DEVICES makes ROCm abort each program: " in result.stderr
    assert result.returncode == 1


def test_a_phase_that_needs_a_gpu(machine: Machine) -> None:
    def required(**variables: str) -> tuple[int, str, str]:
        result = call(machine, "gpus", "--require", **variables)
        return result.returncode, result.stdout, result.stderr

    assert required() == (0, "", "")
    assert required(HIP_VISIBLE_DEVICES="1")[0] == 0
    status, said, why = required(HIP_VISIBLE_DEVICES="-1")
    assert (status, said) == (1, "")
    assert "node 2: hidden by HIP_VISIBLE_DEVICES=-1" in why
    (machine.root / "dev/dri/renderD138").unlink()
    assert required() == (0, "", ""), "the other one can be used"
    result = call(machine, "gpus", "--require=all")
    assert (result.returncode, result.stdout) == (1, "")
    assert "[N-GPU-037]" in result.stderr
    assert_refused(call(machine, "gpus", "--require=some"), 2, "there is no 'some' among one, all")
    (machine.root / "dev/kfd").unlink()
    assert "[W-GPU-016]" in required()[2]


def test_json_says_all(machine: Machine) -> None:
    result = call(machine, "gpus", "--json", ROCR_VISIBLE_DEVICES="0,7")
    answer = json.loads(result.stdout)
    assert (answer["schema"], len(answer["gpus"])) == (1, 2)
    assert answer["gpus"][0]["memory"] == 192 * GIB
    assert answer["gpus"][1]["hip_index"] is None
    assert [found["code"] for found in answer["problems"]] == ["W-GPU-024"]
    assert '"7" is not the number of a device' in result.stderr


def test_all_facts_for_people(machine: Machine) -> None:
    result = call(machine, "gpus", "--all")
    assert "node 2: AMD Instinct MI300X\n" in result.stdout
    assert "  uuid             GPU-00000000000000ab\n" in result.stdout
    assert "  why not          -\n" in result.stdout
    for line in (
        "memory           206.2 GB",
        "vendor id        0x1002",
        "device id        0x74a1",
        "usable           yes",
    ):
        assert f"  {line}\n" in result.stdout
    assert "  unique id        0x00000000000000ab\n" in result.stdout
    assert "  hive id          -\n" in result.stdout
    for word in ("True", "False", "None"):
        assert word not in result.stdout


def test_equal_gpus_are_one_line(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.write("usr/share/libdrm/amdgpu.ids", "1.0.0\n74A1,\t00,\tAMD Instinct MI300X\n")
    for node in range(1, 65):
        machine.gpu(node, "gfx942", memory=192 * GIB, device_id=0x74A1, location_id=node << 8)
        machine.write(f"sys/bus/pci/devices/0000:{node:02x}:00.0/revision", "0x00\n")
    machine.gpu(65, "gfx1036", memory=GIB // 2, device_id=0x164E)
    result = call(machine, "gpus")
    assert (result.returncode, result.stderr) == (0, "")
    *_, other = lines = result.stdout.splitlines()
    assert lines[0] == "64 x gfx942 AMD Instinct MI300X, 206.2 GB each, usable"
    assert (len(lines), other.startswith("gfx1036 ")) == (2, True)
    assert other.endswith(", 536.9 MB, usable")
    assert len(call(machine, "gpus", "-v").stdout.splitlines()) == 66


def test_a_reason_of_equal_gpus_is_said_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in range(1, 9):
        machine.gpu(node, "gfx942")
        (machine.root / f"dev/dri/renderD{128 + node}").unlink()
    heading, *rows, why = call(machine, "gpus").stdout.splitlines()
    assert (heading.split()[:3], len(rows)) == (["node", "target", "PCI"], 8)
    assert why.startswith(f"each GPU: {machine.root}/dev/dri/renderD*: missing, although the kernel sees the GPU")
    (machine.root / "dev/kfd").unlink()
    said = call(machine, "gpus").stderr
    assert "rocm-sdk: /dev/kfd is not there: the kernel sees the GPU [W-GPU-016]" in said


def test_a_note_is_said_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in (1, 2, 3):
        machine.gpu(node, "gfx1100")
    machine.gpu(4, "gfx1101")
    result = call(machine, "gpus", HSA_OVERRIDE_GFX_VERSION="10.3.0")
    notes = [line for line in result.stderr.splitlines() if "presented as" in line]
    assert notes == [
        "rocm-sdk: nodes 1, 2, 3: real gfx1100, presented as gfx1030",
        "rocm-sdk: node 4: real gfx1101, presented as gfx1030",
    ]
    assert len(set(result.stderr.splitlines())) == len(result.stderr.splitlines())


def test_an_obstacle_of_many_gpus_is_one_problem(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in range(1, 65):
        machine.gpu(node, "gfx942")
    shutil.rmtree(machine.root / "dev")
    result = call(machine, "gpus")
    assert len(result.stderr.splitlines()) == 2, "without /dev/kfd there are no render nodes either"
    machine.write("dev/kfd")
    result = call(machine, "gpus")
    assert len(result.stderr.splitlines()) == 2
    assert "a GPU has no render node (and 63 more): " in result.stderr
    assert "; also renderD130, renderD131 ... [W-GPU-018]\n" in result.stderr


@pytest.mark.parametrize("words", [[], ["--arch"], ["--json"], ["--all"], ["--visible"], ["--arch", "--visible"]])
def test_no_gpu_is_status_1_with_the_reason(tmp_path: Path, words: list[str]) -> None:
    result = call(Machine(tmp_path / "empty"), "gpus", *words)
    assert_failed(result, 1, "the kernel's compute driver knows no GPU", "lspci")
    assert (result.stdout == "") == (words != ["--json"])


def test_no_usable_gpu_is_status_1_with_the_reason(machine: Machine) -> None:
    (machine.root / "dev/kfd").unlink()
    result = call(machine, "gpus")
    assert result.returncode == 1
    assert "/dev/kfd: missing" in result.stdout
    assert "--device=/dev/kfd" in result.stderr
    assert call(machine, "gpus", "--arch").returncode == 0


def test_a_reason_is_said_once(machine: Machine) -> None:
    (machine.root / "dev/kfd").unlink()
    said = call(machine, "gpus").stdout
    assert said.count("/dev/kfd: missing") == 1
    assert "\neach GPU: " in said
    overview = call(machine).stdout
    assert overview.count("/dev/kfd: missing") == 1
    assert ", not usable, for the same reason\n" in overview


def test_a_damaged_topology_is_one_message(machine: Machine) -> None:
    machine.write(f"{TOPOLOGY}/nodes/10/properties", "simd_count ten\n")
    for words in (["--arch"], [], ["--json"]):
        result = call(machine, "gpus", *words)
        assert_refused(result, 1, f"{machine.root}/{TOPOLOGY}/nodes/10/properties")
        assert "Traceback" not in result.stderr


def test_it_needs_no_sdk_and_starts_no_process(machine: Machine, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-e", "trace=execve,fork,vfork,clone,clone3", "-o", str(trace)]
    result = completed(
        [*command, sys.executable, str(SCRIPT), "gpus", "--arch"],
        env=clean_environment() | {"ROCM_SDK_ROOTFS": str(machine.root)},
    )
    if "PTRACE" in result.stderr:
        pytest.skip(f"strace may not trace here: {result.stderr.splitlines()[0]}")
    assert result.stdout == "gfx942\ngfx1036\n"
    calls = [line for line in trace.read_text().splitlines() if "exited" not in line]
    assert len(calls) == 1, calls


def test_the_condition_of_the_gpus(machine: Machine) -> None:
    device = "sys/bus/pci/devices/0000:c1:00.0"
    machine.write(f"{device}/power/runtime_status", "active\n")
    machine.write(f"{device}/ras/umc_err_count", "ue: 0\nce: 7\nde: 0\n")
    machine.write("sys/bus/pci/devices/0000:0f:00.0/power/runtime_status", "suspended\n")
    result = call(machine, "gpus", "--health")
    assert (result.returncode, result.stderr) == (0, "")
    heading, first, second, *rest = result.stdout.splitlines()
    assert heading == "node  PCI             memory  state  found"
    assert first.startswith("2     0000:c1:00.0  206.2 GB  good   power: awake; ")
    assert "; errors: no uncorrected error; 7 corrected, 0 deferred" in first
    assert second == "10    0000:0f:00.0  536.9 MB  fact   power: asleep, rest not read"
    assert rest[:2] == ["", "node  check  state    found"]
    machine.write(f"{device}/ras/umc_err_count", "ue: 2\nce: 7\nde: 0\n")
    result = call(machine, "gpus", "--health", "--json")
    assert_failed(result, 1, "counted errors that it could not correct")
    health = json.loads(result.stdout)["health"]
    (bad,) = [each for each in health if each["state"] == "bad"]
    assert (bad["check"], bad["node"], bad["problem"]["code"]) == ("errors", 2, "W-GPU-032")
    assert call(machine, "gpus", "--health", "--arch").returncode == 2


def test_a_table_fits_a_terminal(machine: Machine) -> None:
    """The reason goes on below; in a pipe it stays one line."""
    (machine.root / "dev/kfd").unlink()
    words = [sys.executable, str(SCRIPT), "gpus", "-v"]
    environment = clean_environment() | {"ROCM_SDK_ROOTFS": str(machine.root), "COLUMNS": "80"}
    lines = terminal_output(words, environment, status=1).splitlines()
    assert all(len(line) <= 80 or len(line.split()) == 1 for line in lines), "a long path is not broken"
    piped = call(machine, "gpus", "-v").stdout
    assert max(map(len, piped.splitlines())) > 80
    (first, *_) = [line for line in piped.splitlines() if " no " in line]
    assert "".join(first.partition(" no ")[2].split()) in "".join("".join(lines).split())


def test_the_condition_of_no_gpu(tmp_path: Path) -> None:
    result = call(Machine(tmp_path / "machine"), "gpus", "--health")
    assert_refused(result, 1, "the kernel's compute driver knows no GPU")


def add_process(machine: Machine, number: int, name: str, queue: int | None = None, **memory: int) -> None:
    """Add a process as KFD shows it: its memory of each GPU, and its queues."""
    place = f"sys/class/kfd/kfd/proc/{number}"
    for gpu, size in memory.items():
        machine.write(f"{place}/vram_{gpu.removeprefix('gpu')}", f"{size}\n")
    if queue is not None:
        machine.write(f"{place}/queues/0/gpuid", f"{queue}\n")
    machine.write(f"proc/{number}/comm", f"{name}\n")


def test_the_processes_on_each_gpu(machine: Machine) -> None:
    """A process which opened the driver and uses nothing is not shown, and the name of a process obeys nothing."""
    add_process(machine, 812, "python3", gpu40002=3_000_000_000, gpu40010=0)
    add_process(machine, 97, "idle", gpu40002=0, gpu40010=0)
    add_process(machine, 901, "a\x1bb", queue=40010)
    lines = call(machine, "gpus").stdout.splitlines()
    assert lines[-4:] == [
        "",
        "node  process   memory  name",
        "2         812   3.0 GB  python3",
        "10        901  0 bytes  a\\x1bb",
    ]
    said = call(machine, "gpus", "--query", "node,processes", "--format", "csv,noheader").stdout
    assert said == "2,812\n10,901\n"


def test_fields_for_scripts(machine: Machine) -> None:
    machine.write("sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_used", "1234567\n")
    result = call(machine, "gpus", "--query", "processor,memory,used, usable", "--format", "csv")
    assert result.stdout.splitlines() == [
        "processor,memory,used,usable",
        f"gfx942,{192 * GIB},1234567,true",
        f"gfx1036,{GIB // 2},,true",
    ]
    why = call(machine, "gpus", "--query", "why_not", HIP_VISIBLE_DEVICES="1,0,").stdout
    assert why.splitlines()[0] == "why_not"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--query", "targt"], "there is no field 'targt'\n  fix: did you mean target?\n"),
        (["--query", "target", "--format", "xml"], "there is no form 'xml'"),
        (["--format", "csv"], "--format is the form of --query"),
        (["--query", "target", "--health"], "--health goes with --json only"),
    ],
)
def test_wrong_fields(machine: Machine, words: list[str], said: str) -> None:
    assert_refused(call(machine, "gpus", *words), 2, said)

"""The faults that newcomers saw on a terminal of 80 columns: broken words, pages of dashes, one reason eight times."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_machine import GIB, Machine
from sample_report import install
from sample_site import Site, clean_environment

Call = Callable[..., subprocess.CompletedProcess[str]]
COLUMNS = 80


class Terminal:
    """A terminal of 80 columns, on which a command prints its answer and its messages."""

    def __init__(self, command: list[str], **environment: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        variables = {name: value for name, value in clean_environment().items() if name not in {"COLUMNS", "CI"}}
        variables |= {"TERM": "xterm"} | environment
        self._start = time.monotonic()
        streams = {"stdin": subprocess.DEVNULL, "stdout": slave, "stderr": slave}
        with subprocess.Popen(command, env=variables, **streams) as process:
            os.close(slave)
            self.first_after, self.raw = self._read()
            self.status = process.wait()
        os.close(self._master)

    def _read(self) -> tuple[float, str]:
        """Return the seconds until something is shown, and the whole text."""
        shown, first = b"", -1.0
        while True:
            try:
                chunk = os.read(self._master, 1 << 16)
            except OSError:  # the other side of the terminal is closed
                chunk = b""
            if first < 0:
                first = time.monotonic() - self._start
            if not chunk:
                return first, shown.decode().replace("\r\n", "\n")
            shown += chunk

    @property
    def lines(self) -> list[str]:
        """The lines without colours, and without lines that were erased."""
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.raw)
        return [line.rpartition("\x1b[K")[2] for line in text.splitlines()]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine with eight MI300X whose render nodes a container lacks."""
    machine = Machine(tmp_path / "machine")
    machine.write("usr/share/libdrm/amdgpu.ids", "1.0.0\n74A1,\t00,\tAMD Instinct MI300X\n")
    for node in range(1, 9):
        machine.gpu(node, "gfx942", memory=192 * GIB, device_id=0x74A1)
        device = f"sys/bus/pci/devices/0000:{node:02x}:00.0"
        for name, text in (
            ("revision", "0x00"),
            ("power/runtime_status", "active"),
            ("mem_info_vram_used", f"{node}000000000"),
            ("ras/umc_err_count", "ue: 0\nce: 7\nde: 0" if node != 3 else "ue: 0\nce: 9\nde: 0"),
        ):
            machine.write(f"{device}/{name}", f"{text}\n")
        (machine.root / f"dev/dri/renderD{128 + node}").unlink()
    return machine


@pytest.fixture
def show(script: Path, sdk: Site, machine: Machine) -> Callable[..., Terminal]:
    """Return a function that runs `rocm-sdk` on such a terminal, on the machine of eight GPUs."""
    install(sdk)

    def run(*words: str, **environment: str) -> Terminal:
        variables = {"PYTHONPATH": str(sdk.path), "ROCM_SDK_ROOTFS": str(machine.root)} | environment
        return Terminal([str(script), *words], **variables)

    return run


Show = Callable[..., Terminal]


def _broken(line: str) -> list[str]:
    """Return the words of a line without the label in front of it.

    The label stays beside its value: "place    /a/path".
    """
    return re.sub(r"^[a-z]+ {2,}(?=\S)", "", line).split()


@pytest.mark.parametrize(
    "command",
    ["", "gpus", "gpus --health", "info", "list", "tree", "tree hipsparse", "check-gpu", "path nope", "env x"],
)
@pytest.mark.parametrize("has_sdk", [True, False], ids=["with an SDK", "without"])
def test_lines_are_broken_between_words(
    show: Show, call: Call, machine: Machine, command: str, *, has_sdk: bool
) -> None:
    """Each word of what a pipe gets is whole on the terminal, and a line that is too long is one word."""
    variables = {} if has_sdk else {"PYTHONPATH": ""}
    shown = show(*command.split(), **variables)
    long = [line for line in shown.lines if len(line) > COLUMNS and len(_broken(line)) > 1]
    assert long == []
    piped = call(*command.split(), ROCM_SDK_ROOTFS=str(machine.root), **variables)
    assert shown.status == piped.returncode
    if command not in {"list", "gpus"}:  # which say less on a terminal
        words = {word for word in (piped.stdout + piped.stderr).split() if len(word) > 1}
        assert words <= {word for line in shown.lines for word in line.split()}


@pytest.mark.parametrize("command", ["gpus", "info", "gpus --health"])
def test_eight_gpus_are_eight_rows(show: Show, command: str) -> None:
    lines = show(*command.split()).lines
    rows = [line for line in lines if re.match(r"[1-8]  .*0000:0[1-8]:00\.0  206\.2 GB  [1-8]\.0 GB  ", line)]
    assert len(rows) == 8
    text = " ".join(" ".join(lines).split())
    if command != "gpus --health":
        assert text.count("missing, although the kernel sees the GPU") == 1, "a reason is said once"


def test_list_is_no_page_of_dashes(show: Show) -> None:
    lines = show("list").lines
    rows = [line.split()[0] for line in lines if ".so." in line]
    assert (lines[0].split()[0], rows) == ("library", ["amdhip64", "hipsparse", "rocsparse"])
    assert any(line.startswith("not installed, of libraries: rpp, ") for line in lines)
    without = show("list", PYTHONPATH="").lines
    assert without[0] == "no library is installed here: rocm-sdk install installs them"
    assert not any(" - " in line or line.endswith("-") for line in without)


def test_tree_draws_what_brought_each_file_in(show: Show) -> None:
    lines = show("tree", "hipsparse").lines
    names = [line.partition(".so")[0] for line in lines if ".so" in line and "anchor" not in line]
    assert names == ["libhipsparse", "└─ librocsparse", "   └─ libamdhip64"]
    ascii_only = show("tree", "hipsparse", PYTHONIOENCODING="ascii").lines
    assert [line for line in ascii_only if line.startswith("   `- libamdhip64")] != []


def test_quiet_means_problems_only(call: Call, sdk: Site) -> None:
    install(sdk)
    loud, quiet = call("test", "--only", "packages"), call("test", "--only", "packages", "-q")
    assert (loud.returncode, quiet.returncode, quiet.stdout) == (0, 0, "")
    (sdk.path / "rocm_sdk_core-7.10.0.dist-info/METADATA").unlink()
    quiet = call("test", "--only", "packages", "-q")
    assert re.match(r"[EW]-[A-Z]+-\d{3}  ", quiet.stdout)
    assert "checks" not in quiet.stdout
    assert "Exit status" not in quiet.stdout


@pytest.mark.parametrize("value", ["", ","])
def test_only_of_nothing_is_refused(call: Call, value: str) -> None:
    done = call("test", "--only", value)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rocm-sdk: --only names no subject\n  fix: name some of packages, files, ")

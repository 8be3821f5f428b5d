"""The GPUs that HIP shows, by our answer and by HIP's: `hip_visibility.tsv` has the answers of real HIP."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_machine import GIB, Machine, machine_of
from sample_runtime import TEXTS_OF_643, runtime
from sample_site import Site

import rocm_sdk

SRAM_ECC = 1 << 26  # of the property `capability`: all four GPUs of the emulator have it
ABORTS = "W-GPU-033"

# Settings whose answer differs on purpose from the answer of HIP 6.4.3.
DIFFERENT = {
    "HSA_OVERRIDE_GFX_VERSION=9.5.0": "ROCm 7.0 knows gfx950, and which ROCm will run is not known here",
    "HSA_OVERRIDE_GFX_VERSION=12.5.0": "newer ROCm knows gfx1250, and which ROCm will run is not known here",
}


def rows() -> Iterator[tuple[str, str]]:
    """Yield the settings and HIP's answer of each row; blanks and tabs of a value count."""
    text = Path(__file__).with_name("hip_visibility.tsv").read_text("utf-8")
    for line in text.removesuffix("\n").split("\n"):
        if not line.startswith("#"):
            settings, _, answer = line.rpartition("\t")
            yield settings, answer


ROWS = tuple(rows())


@pytest.fixture(scope="module")
def four_gpus(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return the machine of the file's header: GPU n is node n + 1."""
    machine = machine_of(tmp_path_factory.mktemp("machine"))
    numbers = {"gfx1100": 0x1122334455667788, "gfx942": 0xABCDEF0123456789, "gfx1030": 0xABCD00000000001A}
    for node, (target, number) in enumerate(numbers.items(), 1):
        memory = (8 if target == "gfx1030" else 16) * GIB
        machine.gpu(node, target, memory=memory, unique_id=number, location_id=(node + 2) << 8, capability=SRAM_ECC)
    machine.gpu(4, "gfx90a", unique_id=0, domain=1, location_id=0x2303, capability=SRAM_ECC)
    return machine


@pytest.fixture(scope="module")
def site_of_debian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SDK with a runtime that shows the texts of Debian's 6.4.3."""
    site = Site(tmp_path_factory.mktemp("site"))
    runtime(site, *TEXTS_OF_643)
    return site.path


def answer(machine: Machine) -> str:
    """Return our answer as the file writes HIP's."""
    if ABORTS in (found.code for found in rocm_sdk.check_gpu_access(root=machine.root)):
        return "aborts"
    seen = sorted((gpu.hip_index, gpu) for gpu in rocm_sdk.gpus(root=machine.root) if gpu.hip_index is not None)
    return " ".join(f"{gpu.node - 1}:{gpu.target}" for _, gpu in seen) or "none"


@pytest.mark.parametrize(("settings", "hip"), ROWS, ids=[repr(settings) for settings, _ in ROWS])
def test_our_answer_is_that_of_hip(
    four_gpus: Machine, site_of_debian: Path, monkeypatch: pytest.MonkeyPatch, settings: str, hip: str
) -> None:
    monkeypatch.syspath_prepend(str(site_of_debian))
    for setting in re.split(" (?=[A-Z0-9_]+=)", settings) if settings else ():
        name, _, value = setting.partition("=")
        monkeypatch.setenv(name, value)
    assert (answer(four_gpus) == hip) == (settings not in DIFFERENT), DIFFERENT.get(settings, "")


def test_each_difference_is_a_row() -> None:
    assert len(ROWS) == 152
    assert DIFFERENT.keys() <= {settings for settings, _ in ROWS}

"""Our verdict that GPU code runs, against real HIP: `hip_verdicts.tsv` has the answers of HIP."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_device_code import bundle, code_object, compressed, library

from rocm_sdk import coverage

RUNS = {"exact", "compatible", "generic"}
SPIRV = "amdgcnspirv"
# The processors of the file as e_flags has them, EF_AMDGPU_MACH. Source: LLVM's User Guide for AMDGPU, "e_flags".
# fmt: off
PROCESSORS = {
    "gfx900":          0x2C,
    "gfx908":          0x30,
    "gfx90a":          0x3F,
    "gfx942":          0x4C,
    "gfx1010":         0x33,
    "gfx1030":         0x36,
    "gfx1100":         0x41,
    "gfx1101":         0x46,
    "gfx1200":         0x48,
    "gfx9-generic":    0x51,
    "gfx10-1-generic": 0x52,
    "gfx10-3-generic": 0x53,
    "gfx11-generic":   0x54,
    "gfx12-generic":   0x59,
    "gfx9-4-generic":  0x5F,
}
# fmt: on
# Bits of e_flags: a feature that code leaves open, code for it off, code for it on.
XNACK = {"": 0x100, "-": 0x200, "+": 0x300}
SRAMECC = {"": 0x400, "-": 0x800, "+": 0xC00}
HAVE_XNACK = {"gfx900", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx9-generic", "gfx10-1-generic", "gfx9-4-generic"}
HAVE_SRAMECC = {"gfx908", "gfx90a", "gfx942", "gfx9-4-generic"}


def rows() -> Iterator[tuple[str, str, bool]]:
    """Yield the targets of a file, a GPU, and whether HIP launched its kernel there."""
    for line in Path(__file__).with_name("hip_verdicts.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            targets, gpu, answer = line.split("\t")
            assert answer in ("runs", "hipErrorInvalidDeviceFunction")
            yield targets, gpu, answer == "runs"


ROWS = tuple(rows())
GPUS = tuple(dict.fromkeys(gpu for _, gpu, _ in ROWS))


def image(target: str) -> bytes:
    """Return a code object as the compiler marks it."""
    processor, *features = target.split(":")
    modes = {feature[:-1]: feature[-1] for feature in features}
    flags = PROCESSORS[processor]
    flags |= XNACK[modes.get("xnack", "")] if processor in HAVE_XNACK else 0
    flags |= SRAMECC[modes.get("sramecc", "")] if processor in HAVE_SRAMECC else 0
    is_generic = processor.endswith("-generic")
    return code_object(flags | (1 << 24 if is_generic else 0), abi=4 if is_generic else 3)


def entry(target: str) -> tuple[str, bytes]:
    if target == SPIRV:
        return "hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", bytes.fromhex("03022307") + bytes(60)
    return f"hipv4-amdgcn-amd-amdhsa--{target}", image(target)


@pytest.mark.parametrize("targets", dict.fromkeys(targets for targets, _, _ in ROWS))
def test_what_we_say_is_what_hip_did(tmp_path: Path, targets: str) -> None:
    words = targets.split()
    plain = bundle(dict(entry(word) for word in words if word != "compressed"))
    library(tmp_path / "libx.so", [compressed(plain, 2) if "compressed" in words else plain])
    found = coverage(GPUS, tmp_path)
    (row,) = found.libraries
    assert found.faults == ()
    said = {on.gpu: on.verdict for on in row.gpus}
    wanted = {gpu: runs for of, gpu, runs in ROWS if of == targets}
    assert len(wanted) == len(GPUS)
    if targets == SPIRV:
        # SPIR-V is translated on the machine, by a comgr with a translator; the comgr of the file has none.
        assert set(said.values()) == {"compiled at first use"}
        assert not any(wanted.values())
    else:
        assert {gpu: verdict in RUNS for gpu, verdict in said.items()} == wanted

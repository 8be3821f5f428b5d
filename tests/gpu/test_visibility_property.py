"""The grammars of the visibility variables, held against straightforward models of what ROCr and HIP do."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sample_machine import Machine

import rocm_sdk

# The third GPU has no serial number, two share the beginning of theirs.
UNIQUE_IDS = (0xAB12000000000001, 0xAB12000000000002, 0, 0x0C00000000000003)
UUIDS = tuple(f"GPU-{number:016x}" if number else "GPU-XX" for number in UNIQUE_IDS)
NUMBER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")


def rocr_index(token: str) -> int | None:
    """strtol with base 0 that must take the whole token."""
    match = NUMBER.fullmatch(token)
    if match is None:
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    size = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return -size if sign == "-" else size


def rocr_device(token: str) -> int | None:
    if not token.startswith("G"):
        index = rocr_index(token)
        return index if index is not None and 0 <= index < len(UUIDS) else None
    if not 5 <= len(token) <= 20:
        return None
    found = [i for i, uuid in enumerate(UUIDS) if UNIQUE_IDS[i] and uuid.upper().startswith(token)]
    return found[0] if len(found) == 1 else None


def rocr(value: str) -> list[int]:
    chosen: list[int] = []
    for raw in value.split(",")[: len(UUIDS)]:
        device = rocr_device(raw.strip(" ").upper())
        if device is None or device in chosen:
            break
        chosen.append(device)
    return chosen


def hip_device(token: str) -> int | None:
    if "GPU-" in token:
        return next((i for i, uuid in enumerate(UUIDS) if token in uuid), None)
    canonical = token.isascii() and token.isdigit() and token == str(int(token))
    return int(token) if canonical and int(token) < len(UUIDS) else None


def hip(value: str) -> list[int]:
    if not value:
        return list(range(len(UUIDS)))
    chosen: list[int] = []
    for token in value.removesuffix(",").split(","):
        device = hip_device(token)
        if device is None:
            break
        if device not in chosen:
            chosen.append(device)
    return chosen


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory() as directory:
        machine = Machine(Path(directory) / "machine")
        for node, number in enumerate(UNIQUE_IDS):
            machine.gpu(node, "gfx942", unique_id=number)
        yield machine


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def order(machine: Machine, name: str, value: str) -> list[int]:
    with variable(name, value):
        seen = {gpu.hip_index: gpu.node for gpu in rocm_sdk.gpus(root=machine.root) if gpu.hip_index is not None}
    return [seen[index] for index in range(len(seen))]


TOKENS = st.one_of(
    st.sampled_from(
        ["0", "1", "2", "3", "4", "00", "01", "010", "0x1", "0X2", "0x", "-1", "+1", "", " 1", "2 ", "1 2"]
    ),
    st.sampled_from([*UUIDS, *(uuid[:8] for uuid in UUIDS), UUIDS[0].upper(), UUIDS[0].lower(), UUIDS[3][:7], "GPU-"]),
    st.text("0123456789abxXGPU-+ ", max_size=6),
)
VALUES = st.lists(TOKENS, max_size=6).map(",".join)


@pytest.mark.parametrize(("name", "model"), [("ROCR_VISIBLE_DEVICES", rocr), ("HIP_VISIBLE_DEVICES", hip)])
@given(value=VALUES)
@example(value="2,0")
@example(value="0,,1")
@example(value="99999999999999999999999999")
@example(value="0,1,2,3,")
def test_the_order_is_that_of_the_model(
    machine: Machine, name: str, model: Callable[[str], list[int]], value: str
) -> None:
    assert order(machine, name, value) == model(value)


@given(outer=VALUES.filter(bool), inner=VALUES)
def test_hip_numbers_what_rocr_leaves(machine: Machine, outer: str, inner: str) -> None:
    left = rocr(outer)
    with variable("ROCR_VISIBLE_DEVICES", outer):
        seen = order(machine, "HIP_VISIBLE_DEVICES", inner)
    assert set(seen) <= set(left)
    if inner.isdigit() and inner == str(int(inner)):
        assert seen == left[int(inner) : int(inner) + 1]

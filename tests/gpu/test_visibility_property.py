"""The grammars of the visibility variables, held against straightforward models of what ROCr and HIP do."""

import ctypes
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
C = ctypes.CDLL(None)
C.strtol.restype = ctypes.c_long


def rocr_index(token: str) -> int | None:
    """Return the index by strtol with base 0, or None if it does not take the whole token; 32 bits are kept."""
    text, end = ctypes.c_char_p(token.encode("ascii")), ctypes.c_char_p()
    number: int = C.strtol(text, ctypes.byref(end), 0)
    return ctypes.c_int32(number).value if not end.value else None


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
    for raw in value.removesuffix(",").split(",")[: len(UUIDS)] if value else ():
        if not (token := raw.strip(" ").upper()):
            return []  # ROCr aborts
        device = rocr_device(token)
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
    if quoted := re.fullmatch(' *"(.*)" *', value):
        value = quoted[1]
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
    st.text('0123456789axXGPU-+ "', max_size=6),
    st.integers(-(2**65), 2**65).map(str),
    st.sampled_from([0, 1 << 32, -1 << 32, 1 << 63, -1 << 63]).flatmap(
        lambda base: st.integers(base - 5, base + 5).map(str)
    ),
)
LISTS = st.lists(TOKENS, max_size=6).map(",".join)
VALUES = st.one_of(LISTS, st.tuples(st.sampled_from(["", " "]), LISTS).map(lambda each: f'{each[0]}"{each[1]}"'))


@pytest.mark.parametrize(("name", "model"), [("ROCR_VISIBLE_DEVICES", rocr), ("HIP_VISIBLE_DEVICES", hip)])
@given(value=VALUES)
@example(value="2,0")
@example(value="0,,1")
@example(value="99999999999999999999999999")
@example(value="0,1,2,3,")
@example(value="4294967297,-4294967296")
@example(value='"1"')
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


def check_override(machine: Machine, value: str) -> None:
    parts, behind = [ctypes.c_uint() for _ in range(3)], ctypes.c_char()
    found = C.sscanf(value.encode(), b"%u.%u.%u%c", *map(ctypes.byref, parts), ctypes.byref(behind))
    major, minor, stepping = (part.value for part in parts)
    with variable("HSA_OVERRIDE_GFX_VERSION", value):
        gpu, *_ = rocm_sdk.gpus(root=machine.root)
    if found != 3 or major > 63 or max(minor, stepping) > 255:
        assert "is not major.minor.stepping" in str(gpu.why_not)
    elif major == minor == stepping == 0:
        assert (gpu.overridden, gpu.processor) == (False, "gfx942")
    else:
        assert (gpu.overridden, gpu.processor) == (True, f"gfx{major}{minor}{stepping:x}")


# Decimal, never octal; blanks and signs before each number; 32 bits of a number count.
OVERRIDES = (
    *(
        "9.0.10",
        "63.255.255",
        "64.0.0",
        "10.256.0",
        "10.3.256",
        "010.03.00",
        " 10.3.0",
        "+10.3.0",
        "10. 3.\t0",
        "10.3.-0",
    ),
    *("\n10.3.+0", "11.0.0 ", "10 .3.0", "10.3", "10.3.", "10.3.0.", "10..0", ".3.0", "10.-3.0", "9.0.a", "gfx1030"),
    *("10,3,0", "0x9.0.0", "+-9.0.0", "9.0.10\n", "+ 10.3.0", "9.4.2.1", "-9.4.2", "10.3.+", ""),
)


@pytest.mark.parametrize("value", OVERRIDES)
def test_an_override_of_each_form(machine: Machine, value: str) -> None:
    check_override(machine, value)


@given(
    value=st.one_of(
        st.tuples(*[st.tuples(st.sampled_from(["", " ", "+", "-", "\t+"]), st.integers(0, 70).map(str))] * 3).map(
            lambda parts: ".".join(blank + number for blank, number in parts)
        ),
        st.text("0123456789.+- x\t", max_size=12),
    )
)
@example(value="4294967306.3.0")
@example(value="-4294967286.3.0")
@example(value="99999999999999999999.3.0")
@example(value="18446744073709551626.3.0")
def test_an_override_is_what_sscanf_reads(machine: Machine, value: str) -> None:
    check_override(machine, value)

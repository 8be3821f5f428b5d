"""`rocm-sdk explain`: the pages of codes, whose examples are what real problems say."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from sample_site import CORE, Site

from rocm_sdk.problems import ENTRIES, example, in_general

if TYPE_CHECKING:
    from rocm_sdk._native import Code

Call = Callable[..., subprocess.CompletedProcess[str]]
HIP = f"{CORE}/lib/libamdhip64.so.7"


def form(code: Code) -> str:
    """Return a pattern for each message of a code, with a group for each fact."""
    entry = ENTRIES[code]
    parts = re.split(r"\{[a-z_]+(?:\|[^}]*)?\}", f"{entry.title}: {entry.cause}")
    return "(.*)".join(map(re.escape, parts))


def test_examples_are_what_real_problems_say(call: Call, sdk: Site) -> None:
    (sdk.path / HIP).rename(sdk.path / f"{CORE}/lib/libamdhip64.so.8")
    (sdk.path / f"{CORE}/lib/libhiprtc.so.7").write_bytes(b"no library")
    sdk.write("~ocm_sdk_device/file", "")
    variables = {"HIP_USE_RUNTIME_UNBUNDLER": "1", "ROCM_SDK_PRELOAD_LIBRARIES": "miopn", "ROCM_SDK_ROOTFS": "/none"}
    problems = json.loads(call("test", "--json", **variables).stdout)["problems"]
    assert {each["code"] for each in problems} > {"E-LIB-006", "W-LIB-010", "W-ENV-002", "E-ENV-007", "N-ENV-006"}
    for each in problems:
        real, shown = f"{each['title']}: {each['cause']}", example(each["code"])
        assert re.fullmatch(form(each["code"]), real)
        assert re.fullmatch(form(each["code"]), shown)


def test_a_page_and_its_document_have_the_example(call: Call) -> None:
    page = " ".join(call("explain", "E-LIB-006", COLUMNS="60").stdout.split())
    assert f"For example: {example('E-LIB-006')} Fix" in page
    assert json.loads(call("explain", "E-LIB-006", "--json").stdout)["example"] == example("E-LIB-006")
    (listed,) = (x for x in json.loads(call("explain", "--json").stdout)["codes"] if x["code"] == "E-LIB-006")
    assert listed["example"] == example("E-LIB-006")


def test_an_example_of_an_error(call: Call) -> None:
    error = call("check-gpu", "--gpu", "gfx94").stderr
    assert f"rocm-sdk: {example('E-GPU-005').partition(': ')[2]} [E-GPU-005]\n" in error


@pytest.mark.parametrize("code", ENTRIES)
def test_an_example_has_values_for_its_facts(code: Code) -> None:
    said = re.fullmatch(form(code), example(code))
    general = re.fullmatch(form(code), f"{in_general(code).title}: {in_general(code).cause}")
    assert said is not None
    assert general is not None
    names = re.findall(r"\{([a-z_]+)(\|)?[^}]*\}", f"{ENTRIES[code].title}: {ENTRIES[code].cause}")
    for (name, words), value, unknown in zip(names, said.groups(), general.groups(), strict=True):
        assert words or not value or value != unknown, name


def test_the_name_of_a_library_is_no_target(call: Call) -> None:
    assert "gfx" not in call("explain", "E-API-004").stdout


def test_codes_are_listed_by_subject_and_number(call: Call) -> None:
    codes = [line.split()[0].split("-")[1:] for line in call("explain").stdout.splitlines()]
    assert codes == sorted(codes)
    assert len(codes) == len(ENTRIES)

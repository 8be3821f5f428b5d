"""The rules by which the installed runtime reads the variables: its file shows them, or their lack there is said."""

from pathlib import Path

import pytest
from sample_machine import Machine
from sample_runtime import MESSAGE, NAMES, TEXTS_OF_643, runtime
from sample_site import Site

import rocm_sdk
from rocm_sdk import _native
from rocm_sdk.cli import main

NEWER = "ROCm since May 2026"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(str(site.path))
    return site


@pytest.fixture
def two_gpus(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.gpu(1, "gfx1100")
    machine.gpu(2, "gfx1030")
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))


def seen() -> list[int]:
    return [gpu.node for gpu in rocm_sdk.gpus() if gpu.hip_index is not None]


@pytest.mark.parametrize(
    ("texts", "strtol", "rules"),
    [
        (TEXTS_OF_643, "__isoc23_strtol", (True, True, None)),
        ((*NAMES, MESSAGE), "strtol", (False, True, None)),
        ((*TEXTS_OF_643, "HSA_OVERRIDE_GFX_VERSION: gfx%u cannot be gfx%u"), "strtol", (False, False, None)),
        (("something else",), "strtol", (False, False, None)),
        (("Agent creation failed.\\nThe GPU node uses a deprecated doorbell type\\n",), "strtol", (False, False, True)),
        (("The GPU node uses unsupported doorbell type ",), "strtol", (False, False, False)),
    ],
    ids=["6.4.3", "without assertions, older glibc", "another message", "topology read elsewhere", "7.0", "after 4936"],
)
def test_the_rules_of_a_runtime(
    site: Site, texts: tuple[str, ...], strtol: str, rules: tuple[bool | None, ...]
) -> None:
    assert _native.runtime_rules(runtime(site, *texts, strtol=strtol)) == rules


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(("value", "nodes"), [("0b1", [2]), ("+0B0", [1]), ("0b", []), ("0b2", []), ("0b10", [])])
def test_binary_numbers(site: Site, monkeypatch: pytest.MonkeyPatch, value: str, nodes: list[int]) -> None:
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", value)
    assert seen() == []
    runtime(site, *TEXTS_OF_643)
    assert seen() == nodes
    runtime(site, *TEXTS_OF_643, strtol="strtol")
    assert seen() == []


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("value", ["9.0.10", ""], ids=["another major version", "empty"])
def test_the_newer_rule_is_told_where_it_may_hold(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", value)
    main(["gpus"])
    assert NEWER in capsys.readouterr().err
    runtime(site, *TEXTS_OF_643)
    main(["gpus"])
    assert NEWER not in capsys.readouterr().err

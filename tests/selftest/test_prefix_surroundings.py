"""What programs of a prefix fail by comes from the shell: they run again without it, and it is named."""

from pathlib import Path

import pytest
from sample_prefix import CLANG, Stage, sound_stage

# As a clang that is told where the device libraries are.
_ASKED = """
case "$CCC_OVERRIDE_OPTIONS $*" in
*--rocm-device-lib-path=*-###*) echo ' "-mlink-builtin-bitcode" "/other/ocml.bc"'; exit ;;
esac
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = sound_stage(tmp_path / "stage")
    stage.file("lib/llvm/bin/clang", CLANG.replace("\n", _ASKED, 1), 0o755)
    stage.file("bin/hipconfig", '#!/bin/sh\ntest -z "$HIP_PLATFORM" || exit 3\n', 0o755)
    return stage


@pytest.mark.parametrize(
    ("name", "value", "broken"),
    [
        ("CCC_OVERRIDE_OPTIONS", "+--rocm-device-lib-path=/other", "E-PREFIX-010"),
        ("HIP_PLATFORM", "nvidia", "E-TOOL-001"),
    ],
)
def test_a_variable_is_the_cause(stage: Stage, name: str, value: str, broken: str) -> None:
    assert stage.test().status == 0
    said = stage.test(**{name: value})
    found = said.only("E-ENV-010")
    assert found["fix"] == f"unset {name}"
    assert broken not in said.codes
    assert said.status == 1

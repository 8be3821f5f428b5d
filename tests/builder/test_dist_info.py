"""The text of `_dist_info.py`: values stay values, and the template's defaults are replaced by the appended lines."""

from typing import Any

import pytest

from rocm_sdk_build.packages.dist_info import SdkFacts, python_text


@pytest.mark.parametrize("version", ["5.2.3", "1'\nraise SystemExit('no')\n'", '"""', "\\", "${HOME}{version}"])
def test_values_are_written_as_literals(version: str) -> None:
    values: dict[str, Any] = {}
    exec(
        compile(python_text("libraries", SdkFacts(version, ("gfx90a", "gfx1030"), "gfx90a")), "_dist_info.py", "exec"),
        values,
    )
    assert values["__version__"] == version
    assert values["PY_PACKAGE_SUFFIX_NONCE"] == ""
    assert values["AVAILABLE_TARGET_FAMILIES"] == ["gfx90a", "gfx1030"]
    assert values["DEFAULT_TARGET_FAMILY"] == "gfx90a"
    assert values["THIS_PACKAGE_ENTRY"].dist_package_template == "rocm-sdk-libraries"
    assert not values["THIS_PACKAGE_ENTRY"].is_target_specific


def test_an_sdk_without_device_code_has_no_family() -> None:
    values: dict[str, Any] = {}
    exec(compile(python_text("core", SdkFacts("5.2.3", (), None)), "_dist_info.py", "exec"), values)
    assert values["AVAILABLE_TARGET_FAMILIES"] == []
    assert values["DEFAULT_TARGET_FAMILY"] == "DEFAULT"

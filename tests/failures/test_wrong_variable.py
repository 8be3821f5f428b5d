"""Variables with values that nobody can mean."""

from collections.abc import Callable
from typing import Any

from sample_report import install
from sample_site import LIBRARIES, Site


def test_a_family_that_does_not_exist(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """It is not a package that could be installed."""
    linked_site.write("rocm_sdk_core/_dist_info.py", "__version__ = '7.10.0'\nAVAILABLE_TARGET_FAMILIES = ['gfx942']\n")
    (linked_site.path / LIBRARIES).rename(linked_site.path / f"{LIBRARIES}_gfx942")
    call = "initialize_process(preload_shortnames=['rccl'])"
    outcome = attempt(linked_site, call, ROCM_SDK_TARGET_FAMILY="bogus")
    assert (outcome.error, outcome.code) == ("PackageNotInstalledError", "E-ENV-008")
    assert outcome.fix.startswith("unset ROCM_SDK_TARGET_FAMILY  # or set it as documented: ")
    assert "gfx942" in outcome.fix
    outcome = attempt(linked_site, call, ROCM_SDK_TARGET_FAMILY="gfx1100")
    assert outcome.code == "E-PKG-014"
    assert "rocm-sdk-libraries-gfx1100==7.10.0  # or unset ROCM_SDK_TARGET_FAMILY" in outcome.fix


def test_a_library_that_does_not_exist(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """One code and one fix, not two interleaved."""
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process()", ROCM_SDK_PRELOAD_LIBRARIES="amdhip46")
    assert (outcome.error, outcome.code) == ("EnvironmentOverrideError", "E-ENV-007")
    assert outcome.message.endswith("unknown ROCm library name 'amdhip46'")
    unset = "unset ROCM_SDK_PRELOAD_LIBRARIES  # or correct it"
    assert outcome.fix == f"{unset}, or: rocm-sdk list  # prints all names: did you mean amdhip64?"

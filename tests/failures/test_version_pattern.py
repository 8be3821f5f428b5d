"""A program was compiled for another release of the SDK, and says so."""

from collections.abc import Callable
from typing import Any

import pytest
from sample_site import Site


@pytest.mark.parametrize("pattern", ["'6.*'", "re.compile(r'6[.]')", "'7.10'"])
def test_it_says_both_versions(linked_site: Site, attempt: Callable[..., Any], pattern: str) -> None:
    call = f"initialize_process(check_version=__import__('re') and {pattern}, fail_on_version_mismatch=True)"
    outcome = attempt(linked_site, call.replace("re.compile", "__import__('re').compile"))
    assert (outcome.error, outcome.code) == ("VersionMismatchError", "E-PKG-015")
    words = outcome.message.partition(", and ")
    assert words[0].startswith("The program was compiled against a ROCm version matching '")
    assert words[2] == "the installed SDK has version 7.10.0"
    assert outcome.fix
    warned = attempt(linked_site, call.replace("re.compile", "__import__('re').compile").replace("True", "False"))
    assert warned.message == f"{outcome.message}; {outcome.fix}"

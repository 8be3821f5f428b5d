"""A library that an SDK may lack is absent, or one of a newer release: nothing is wrong."""

from collections.abc import Callable
from typing import Any

from sample_report import install, run_test
from sample_site import Site


def test_nothing_is_said(linked_site: Site, attempt: Callable[..., Any]) -> None:
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    install(linked_site)
    assert attempt(linked_site, "find_libraries('rocdxg')").error == ""
    said = run_test(linked_site.path, "--only", "files,libraries,api")
    assert (said.status, said.codes) == (0, set())
    assert "hipfile: no package of this SDK has it" in said.subject("api")["not_tried"]

"""A file of the SDK was renamed, by hand or by a packaging tool."""

from collections.abc import Callable
from typing import Any

from sample_report import install, reinstalls, run_test
from sample_site import Site


def test_renamed_away(linked_site: Site, attempt: Callable[..., Any]) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    path.rename(path.with_name("hip.bak"))
    outcome = attempt(linked_site, "find_libraries('amdhip64')")
    assert (outcome.error, outcome.code) == ("LibraryNotFoundError", "E-FILE-001")
    assert "libamdhip64.so" in outcome.message
    assert reinstalls(outcome.fix, "rocm-sdk-core==7.10.0")
    said = run_test(linked_site.path, "--only", "files,api")
    assert said.only("E-FILE-001")["path"] == str(path)
    assert said.only("E-FILE-001")["fix"] == outcome.fix
    assert "check api: amdhip64" in said.only("E-FILE-001")["breaks"]


def test_renamed_to_another_version(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    path.rename(path.with_name("libamdhip64.so.8"))
    found = run_test(linked_site.path, "--only", "libraries").only("W-LIB-010")
    assert found["title"] == "libamdhip64.so.8 says that it is libamdhip64.so.7"

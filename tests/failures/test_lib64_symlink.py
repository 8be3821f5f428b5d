"""lib64 of a virtual environment is a link to lib, and sys.path has both."""

from collections.abc import Callable
from typing import Any

from sample_report import install, run_test
from sample_site import Site


def test_it_is_one_place(linked_site: Site, attempt: Callable[..., Any]) -> None:
    linked_site.library("libamdhip64.so.7")
    install(linked_site)
    link = linked_site.path.with_name("lib64")
    link.symlink_to(linked_site.path)
    both = f"{linked_site.path}:{link}"
    outcome = attempt(linked_site, "find_libraries('amdhip64')", PYTHONPATH=both)
    assert (outcome.error, outcome.message) == ("", "")
    said = run_test(linked_site.path, "--only", "packages", PYTHONPATH=both)
    assert said.status == 0
    assert said.only("N-PKG-009")["path"] == str(link)
    assert "W-PKG-005" not in said.codes

"""Libraries with initial-exec TLS have used up the reserve of the process."""

from collections.abc import Callable
from typing import Any

from sample_report import install, run_test
from sample_site import Site


def test_the_cause_is_named(linked_site: Site, attempt: Callable[..., Any]) -> None:
    source = "__thread char big[1 << 20]; char *use(void) { return big; }"
    linked_site.library("libamdhip64.so.7", source, flags=("-ftls-model=initial-exec",))
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-018")
    assert "it takes 1048576 bytes" in outcome.message
    assert "glibc.rtld.optional_static_tls" in outcome.fix
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-018")
    assert "glibc.rtld.optional_static_tls" in found["fix"]

"""A constructor kills the program that loads libraries for the test: what it had in hand does not count as checked."""

import os

import pytest
from sample_report import install, run_test
from sample_site import Site

KILLS = """
#include <signal.h>
#include <unistd.h>
__attribute__((constructor)) static void kill_the_parent(void) { kill(getppid(), SIGKILL); }
"""


@pytest.fixture
def killing(linked_site: Site) -> Site:
    linked_site.library("librocprofiler-sdk.so.1", KILLS)
    for number in range(8):
        linked_site.library(f"libother{number}.so.1")
    install(linked_site)
    return linked_site


def test_it_is_named_and_the_others_are_loaded(killing: Site) -> None:
    said = run_test(killing.path, "--only", "libraries")
    assert said.codes == {"E-LIB-021"}
    titles = {found["title"] for found in said.problems}
    assert "librocprofiler-sdk.so.1 could not be checked" in titles
    assert len(titles) <= len(os.sched_getaffinity(0))  # what was in hand
    (found,) = (found for found in said.problems if found["title"].startswith("librocprofiler-sdk"))
    assert "was killed by SIGKILL while it loaded this one and perhaps others" in found["cause"]
    assert found["fix"] == "rocm-sdk test --only libraries"
    assert said.subject("libraries")["count"] == 9


def test_the_exit_status_says_so(killing: Site) -> None:
    assert run_test(killing.path, "--only", "libraries").status == 1

"""A full disk or an interrupted copy left a part of a library."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, reinstalls, run_test
from sample_site import Site


@pytest.mark.parametrize("size", [0, 3, 50, 300, -1])
def test_it_is_damaged(linked_site: Site, attempt: Callable[..., Any], size: int) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    path.write_bytes(path.read_bytes()[:size])
    said = run_test(linked_site.path, "--only", "files,libraries")
    found = said.only("E-LIB-006")
    assert found["path"] == str(path)
    assert any(each.startswith("check E-FILE-002: ") for each in found["breaks"])
    if size < 0:  # the table of sections alone has lost a byte: it loads
        return
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("BadLibraryError", "E-LIB-006")
    assert str(path) in outcome.message
    assert found["title"] == "libamdhip64.so.7 is damaged"
    assert found["fix"] == outcome.fix
    assert reinstalls(outcome.fix, "rocm-sdk-core==7.10.0")


def test_words_in_the_path_do_not_make_it_one_for_another_machine(tmp_path: Path) -> None:
    site = Site(tmp_path / "a library for tests/site-packages", rpath="rpath")
    path = site.library("libamdhip64.so.7")
    install(site)
    content = bytearray(path.read_bytes())
    content[62:64] = (999).to_bytes(2, "little")  # e_shstrndx
    path.write_bytes(content)
    found = run_test(site.path, "--only", "libraries").only("E-LIB-006")
    assert "names of its sections" in found["cause"]

"""A library asks for an executable stack, which glibc refuses from 2.41 on."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from sample_report import install, run_test
from sample_site import Site


def test_it_is_said(linked_site: Site, attempt: Callable[..., Any]) -> None:
    path = linked_site.library("libamdhip64.so.7", flags=("-Wl,-z,execstack",))
    install(linked_site)
    said = run_test(linked_site.path, "--only", "libraries")
    assert said.only("N-LIB-014")["path"] == str(path)
    assert f"patchelf --clear-execstack {path}" in said.only("N-LIB-014")["fix"]
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    is_refused = tuple(map(int, platform.libc_ver()[1].split("."))) >= (2, 41)
    assert outcome.code == ("E-LIB-015" if is_refused else "")
    assert said.codes == ({"N-LIB-014", "E-LIB-015"} if is_refused else {"N-LIB-014"})

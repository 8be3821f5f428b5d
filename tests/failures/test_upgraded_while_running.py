"""The SDK was upgraded while a program runs that uses it."""

from __future__ import annotations

from collections.abc import Callable

from sample_report import install, run_test
from sample_site import Site


def test_the_replaced_files_are_named(linked_site: Site, program: Callable[..., int]) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    process = program(linked_site.path, "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')")
    assert run_test(linked_site.path, "--pid", str(process)).codes == set()
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    said = run_test(linked_site.path, "--pid", str(process))
    found = said.only("E-PROC-003")
    assert found["path"] == str(path)
    assert found["fix"] == "start the program again"

"""The SDK was upgraded while a program runs that uses it."""

from collections.abc import Callable
from pathlib import Path

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
    assert found["fix"] == "by hand: start the program again"


def test_a_name_that_was_away_for_a_while(linked_site: Site, program: Callable[..., int]) -> None:
    """As on a file server, whose client drops names and reads them again: the kernel then says "(deleted)"."""
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    process = program(linked_site.path, "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')")
    other = linked_site.path.parent / "other"
    other.hardlink_to(path)
    path.unlink()
    path.hardlink_to(other)
    assert f"{path} (deleted)\n" in Path(f"/proc/{process}/maps").read_text()
    assert run_test(linked_site.path, "--pid", str(process)).codes == set()

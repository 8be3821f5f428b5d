"""A program opens libamd_smi.so by its bare name, which wheels do not have on the linker's path."""

from sample_site import Site

OPEN = "; import ctypes; print(ctypes.CDLL('libamd_smi.so').answer())"


def test_it_is_found_unless_that_is_switched_off(linked_site: Site) -> None:
    linked_site.library("libamd_smi.so.26", "int answer(void) { return 42; }")
    prepare = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['amd_smi']{})"
    assert linked_site.output(prepare.format("") + OPEN) == "42"
    result = linked_site.run(prepare.format(", unversioned_names=False") + OPEN, check=False)
    assert "libamd_smi.so: cannot open shared object file" in result.stderr

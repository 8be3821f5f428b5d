"""pip was interrupted while it removed a package."""

from sample_report import install, run_test
from sample_site import Site


def test_what_is_left_is_named(linked_site: Site) -> None:
    install(linked_site)
    half = linked_site.path / "~rocm_sdk_libraries"
    half.mkdir()
    stray = linked_site.write("_rocm_sdk_libraries_gfx90a/lib/kernels.dat", "data")
    said = run_test(linked_site.path, "--only", "packages")
    assert {found["path"] for found in said.problems} == {str(half), str(stray.parents[1])}
    assert said.codes == {"W-PKG-007"}
    assert said.status == 0

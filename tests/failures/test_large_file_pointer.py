"""A database of kernels is a pointer of Git LFS: the package was built without the large files."""

from sample_report import install, run_test
from sample_site import CORE, Site


def test_the_file_is_named(linked_site: Site) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"
    path = linked_site.write(f"{CORE}/share/miopen/db/gfx942.kdb", pointer)
    install(linked_site)
    found = run_test(linked_site.path, "--only", "files").only("E-FILE-006")
    assert found["path"] == str(path)
    assert "rocm-sdk-core==7.10.0" in found["fix"]

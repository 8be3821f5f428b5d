"""rocm-sdk-build was killed while it made the SDK of an environment smaller, file by file."""

import json

from sample_closure import closure
from sample_report import install, run_test
from sample_site import Site


def test_it_is_named_alone(linked_site: Site) -> None:
    """The files of two states that follow from it are not reported one by one."""
    path = linked_site.library("libhsa-runtime64.so.1")
    install(linked_site)
    path.unlink()
    journal = linked_site.path / ".rocm-sdk-closure"
    journal.mkdir()
    (journal / "journal.json").write_text(json.dumps({"schema": 1, "new": [], "removed": [], "scripts": []}))
    said = run_test(linked_site.path, "--only", "packages,files")
    problem = said.only("E-PKG-022")
    assert problem["path"] == str(journal)
    assert problem["fix"] == "rocm-sdk-build closure --in-place"
    assert "E-FILE-001" not in said.codes
    assert said.status == 1


def test_other_closures_wait_for_it(linked_site: Site) -> None:
    linked_site.library("libhsa-runtime64.so.1")
    install(linked_site)
    (linked_site.path / ".rocm-sdk-closure").mkdir()
    output = linked_site.path.parent / "out"
    done = closure(linked_site.path, "--library", "hsa-runtime64", "--output", output, check=False)
    assert "making the SDK smaller was interrupted" in done.stderr
    assert "rocm-sdk-build closure --in-place" in done.stderr
    assert not output.exists()

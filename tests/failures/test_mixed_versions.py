"""core and libraries are of different versions, or of different builds."""

import shutil
from collections.abc import Callable
from typing import Any

from sample_devel import DevelSite
from sample_report import install, run_test
from sample_site import LIBRARIES, Site


def test_both_versions_are_named(linked_site: Site) -> None:
    install(linked_site)
    shutil.rmtree(linked_site.path / "rocm_sdk_libraries-7.10.0.dist-info")
    DevelSite(linked_site.path).install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""}, "7.9.1")
    found = run_test(linked_site.path, "--only", "packages").only("E-PKG-002")
    assert found["title"] == "rocm-sdk-libraries is 7.9.1, rocm-sdk-core 7.10.0"
    assert " install " in found["fix"]
    assert found["fix"].partition(" #")[0].rstrip().endswith(" rocm-sdk-libraries==7.10.0")


def test_damaged_facts_hide_no_other_version(linked_site: Site) -> None:
    """The versions are those of the metadata, of which the facts of core say nothing."""
    install(linked_site)
    shutil.rmtree(linked_site.path / "rocm_sdk_libraries-7.10.0.dist-info")
    DevelSite(linked_site.path).install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""}, "7.9.1")
    facts = linked_site.path / "rocm_sdk_core/_dist_info.py"
    facts.write_text(facts.read_text().replace("7.10.0", "7.10.1"))
    assert run_test(linked_site.path, "--only", "packages,files").codes == {"E-FILE-003", "E-PKG-002"}


def test_a_post_release_fits(linked_site: Site) -> None:
    install(linked_site)
    shutil.rmtree(linked_site.path / "rocm_sdk_libraries-7.10.0.dist-info")
    DevelSite(linked_site.path).install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""}, "7.10.0.post2")
    assert run_test(linked_site.path, "--only", "packages").codes == set()


def test_two_builds_of_one_version(linked_site: Site) -> None:
    install(linked_site)
    facts = b"PY_PACKAGE_SUFFIX_NONCE = '_DEFAULT'\n__version__ = '7.10.0'\nPY_PACKAGE_SUFFIX_NONCE = '_n1'\n"
    DevelSite(linked_site.path).install("rocm-sdk-devel", {"rocm_sdk_devel/_dist_info.py": facts})
    found = run_test(linked_site.path, "--only", "packages").only("E-PKG-016")
    assert found["title"] == "rocm-sdk-devel does not fit the core package"
    assert "rocm_sdk_devel says PY_PACKAGE_SUFFIX_NONCE = '_n1', core ''" in found["cause"]


def test_loading_warns(linked_site: Site, attempt: Callable[..., Any]) -> None:
    linked_site.library("librocsparse.so.1", package=LIBRARIES)
    call = "initialize_process(preload_shortnames=['rocsparse'])"
    facts = linked_site.write("rocm_sdk_libraries/_dist_info.py", "__version__ = '7.10.0.post1'\n")
    assert "version" not in attempt(linked_site, call).message
    facts.write_text("__version__ = '7.9.1'\n")
    assert "rocm_sdk_libraries has version 7.9.1, rocm_sdk_core version 7.10.0" in attempt(linked_site, call).message

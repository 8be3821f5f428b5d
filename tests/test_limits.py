"""The table of limits of files: each row has a test that tries what is just beyond it."""

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs/limits.md"
# Beginning of a row -> the file and the test.
TRIED = {
    "file: holes": "rewriting/test_limits.py a_hole_that_is_too_large",
    "compressed bundle: plain size": "rewriting/test_limits.py a_bundle_above_the_ratio",
    "new file: size": "rewriting/test_refusals.py test_growth_is_asked_about",
    "library: code objects that are rewritten": "rewriting/test_limits.py test_the_limit_and_one_more",
    "library: sections, program headers": "rewriting/test_limits.py test_the_limit_and_one_more",
    "library: bytes of all sections": "rewriting/test_limits.py test_sections_that_share_bytes",
    "library: a section that is read whole; RELR": "rewriting/test_limits.py test_the_limit_and_one_more",
    "library: relocations of one wrapper": (
        "rewriting/test_limits.py test_the_most_relocations_of_a_wrapper_and_one_more"
    ),
    "kpack archive: kernels, keys, blobs": "rewriting/test_limits.py one_kernel_too_many",
    "kpack archive: table of contents |": "rewriting/test_limits.py contents_too_large",
    "kpack archive: fields of the table": "rewriting/test_limits.py one_field_too_many",
    "kpack archive: blobs |": "rewriting/test_limits.py overlapping_blobs",
    "package: a member that is metadata": "builder/test_damaged_packages.py test_metadata_at_the_limit_and_one_above",
    "facts, manifest and version file": "builder/test_bad_artifacts.py test_facts_that_are_none",
    "package that is checked: sources": "situations/test_wheels_of_autumn.py test_more_sources_than_are_searched",
    "SDK, development tree: what its texts": ("situations/test_cmake_packages.py test_what_takes_too_much_is_not_read"),
    "the same: a text of CMake": "situations/test_cmake_packages.py test_one_beyond_each_limit",
    "the same: texts of CMake": "situations/test_cmake_packages.py test_texts_behind_the_most_are_not_checked",
    "library: places among its constants": (
        "device_code/test_coverage.py test_a_file_that_looks_like_many_code_objects"
    ),
    "wheel, zip file, compressed tar archive": "cli/test_code_in_archives.py test_what_a_few_bytes_become",
    "wheel that is checked: libraries and programs": (
        "cli/test_check_scratch.py test_the_most_that_is_unpacked_and_one_more"
    ),
    "answer of an interpreter": "c/test_python_path.c what_is_no_python_is_refused",
    "library, program that is checked:": "situations/test_linker_is_judge.py test_a_chain_beyond_the_limit",
    "wheel that is checked: libraries whose first": "cli/test_check_scratch.py test_many_broken_libraries",
    "package: a member that is read back": "builder/test_check_hostile.py test_a_bomb",
    "package: bytes of all members": "builder/test_damaged_packages.py test_more_than_the_disk_has",
    "zip file, wheel: members": "cli/test_code_in_archives.py test_more_members_than_any_wheel",
    "directory that is walked": "test_walking.py test_the_limit",
    "archive of an artifact: members": "builder/test_tar_limits.py test_members_at_the_limit_and_one_above",
    "archive of an artifact: bytes": "builder/test_tar_limits.py test_files_that_take_more_than_there_is",
    "tar archive: headers": "builder/test_tar_limits.py test_headers_and_ends_at_the_limit_and_one_above",
    "tar archive, archive of a development": (
        "devel/test_hostile_archives.py test_the_most_zeros_behind_the_end_and_one_more"
    ),
    "archive of a development tree: files": (
        "devel/test_hostile_archives.py test_the_most_files_and_directories_and_one_more"
    ),
}


def rows() -> list[str]:
    _, _, text = PAGE.read_text().partition("## Limits of memory")
    text, _, _ = text.partition("Answers of a web server")
    return [line.removeprefix("| ") for line in text.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.partition(" |")[0])
def test_a_row_is_tried(row: str) -> None:
    (named,) = (test for beginning, test in TRIED.items() if row.startswith(beginning))
    file, name = named.split()
    assert f"{name}(" in (TESTS / file).read_text()


def test_no_row_is_gone() -> None:
    assert len(rows()) == len(TRIED)

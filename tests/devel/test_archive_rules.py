"""The targets that a symbolic link may have: in the tree, or in a directory beside it, and nowhere else."""

import pytest
from hostile_input import TREE
from sample_devel import directory

from rocm_sdk.devel.archive_rules import ArchiveRules, directory_of_link


@pytest.mark.parametrize(
    ("depth", "text", "place"),
    [
        (0, "file", ""),
        (1, "../file", ""),
        (2, "../../a/b", ""),
        (0, "../_rocm_sdk_core/lib/x.so", "_rocm_sdk_core"),
        (2, "../../../_rocm_sdk_core/lib/x.so", "_rocm_sdk_core"),
        (0, "../../site-packages-neighbour/x/y", None),
        (1, "../../../victim/file", None),
        (2, "../../../../victim/file", None),
        (0, "../_rocm_sdk_core", None),
        (1, "a/../../../victim/file", None),
        (0, "a/..", None),
        (0, "/etc/passwd", None),
        (0, "a//b", None),
        (0, "", None),
        (0, "a\0b", None),
        (0, "\udc80", None),
    ],
)
def test_where_a_link_leads(depth: int, text: str, place: str | None) -> None:
    assert directory_of_link(depth, text) == place


def test_a_directory_comes_after_those_that_hold_it() -> None:
    """A directory comes after its parents, named in the archive or not."""
    rules = ArchiveRules("archive")
    names = [f"{TREE}/a/b/c", f"{TREE}/a", TREE, f"{TREE}/a/b/d"]
    paths = [[each.path for each in rules.admit(directory(name)[0])] for name in names]
    assert paths == [["a", "a/b", "a/b/c"], [], [], ["a/b/d"]]

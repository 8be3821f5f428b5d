"""The order of the development tree's members, which gives every extractor the same tree.

The established extractor empties a directory when it first meets the directory, or something directly in it, so that
nothing stays of an incomplete uninstallation. Directories therefore come first, each before its members: later they are
known. If a file is there already, the extractor makes a link to the file a second name of the file.
"""

from __future__ import annotations

from collections.abc import Iterable


def directories_of(places: Iterable[str]) -> list[str]:
    """Return the directories above paths, sorted: each comes before the directories in it."""
    found: set[str] = set()
    for place in places:
        parent = place.rpartition("/")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return sorted(found)


def rank(kind: str, link: str, trees: Iterable[str]) -> int:
    """Return the rank of a member: directories, then files and links out of the tree, then links in the tree.

    `kind` is "directory", "file" or "link", and `link` the text of a link. `trees` are the directories beside the tree
    to which links lead.
    """
    if kind == "directory":
        return 0
    leaves_tree = kind == "link" and any(f"../{tree}/" in link for tree in trees)
    return 1 if kind == "file" or leaves_tree else 2

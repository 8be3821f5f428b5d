"""The order of the development tree's members, which gives every extractor the same tree.

The established extractor empties a directory when it first meets it, or something directly in it, so that nothing stays
of an incomplete uninstallation. Directories therefore come first, each before those in it: later they are known.
It makes a link to a file a second name of that file, if the file is there already.
"""

from __future__ import annotations

from collections.abc import Iterable


def directories_of(places: Iterable[str]) -> list[str]:
    """The directories that paths are in, sorted: each comes before those in it."""
    found: set[str] = set()
    for place in places:
        parent = place.rpartition("/")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return sorted(found)


def rank(kind: str, link: str, trees: Iterable[str]) -> int:
    """Directories, then files and links out of the tree, then links in it.

    kind: "directory", "file" or "link". link: its text. trees: directories beside the tree to which links lead.
    """
    if kind == "directory":
        return 0
    leaves_tree = kind == "link" and any(f"../{tree}/" in link for tree in trees)
    return 1 if kind == "file" or leaves_tree else 2

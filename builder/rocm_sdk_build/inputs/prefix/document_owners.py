"""The packages of a prefix's documents, so that each package gets the licences of its own files, and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocm_sdk_build.inputs.catalog import Entry
from rocm_sdk_build.inputs.globs import matches

from .classification import DEVEL
from .tree import Tree


class DocumentOwners:
    """The owner of a document: the package that the first fitting row names.

    If no row fits, the owners are all packages with files of the document's root. The second answer is exact if each
    component has a root of its own.
    """

    def __init__(self, tree: Tree, rows: Iterable[tuple[str, str]], roots: Sequence[Path]) -> None:
        """Note the packages of each root; `rows` have a package or "devel", and a pattern."""
        self._rows, self._roots = tuple(rows), roots
        self._of_root: dict[Path | None, set[str]] = defaultdict(set)
        for part, entries in tree.parts.items():
            for entry in entries:
                if part != DEVEL and entry.kind != "directory":
                    self._of_root[self._root_of(entry.source)].add(part)

    def of(self, document: Entry) -> set[str]:
        """Return the names of packages; "devel" stands for none of the others."""
        named = next((part for part, glob in self._rows if matches(document.path, glob)), None)
        return {named} if named is not None else self._of_root[self._root_of(document.source)]

    def _root_of(self, source: Path) -> Path | None:
        parents = set(source.parents)
        return next((root for root in self._roots if root in parents), None)

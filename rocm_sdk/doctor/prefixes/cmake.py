"""The check of the names and requirements in packages of a prefix or of a development tree, for CMake or pkg-config."""

from __future__ import annotations

import glob
import os
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.devel.cmake.package_faults import Checked, Fault, check_packages, texts_of
from rocm_sdk.devel.cmake.pkgconfig import ENDING
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.prefix import Prefix, is_own_package

TEXT_LIMIT = 1 << 22  # bytes of a file, and of all whose commands are checked
_TEXTS = (".cmake", ".pc")
_BUILD_ROOTS = ("/usr", "/usr/local")
# Variables with directories, separated by `:`.
_PREFIXES = ("CMAKE_PREFIX_PATH", "NIXPKGS_CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")
# The places where CMake and pkg-config look in one of them; {name} is in any case.
_PLACES = ("{library}/cmake/{name}*", "{library}/{name}*", "{library}/{name}*/cmake", "{name}*", "cmake", "")
_PLACES_OF_PKGCONFIG = ("{library}/pkgconfig", "")
_LIBRARIES = ("lib", "lib64", f"lib/{platform.machine()}-linux-gnu", "share")


def check_prefix(prefix: Prefix, recorder: Recorder) -> None:
    """Check the packages of a prefix, together with those of the build root."""
    place = _Place(prefix, is_alone=False)
    checked = check_packages(place, "which is in neither the prefix nor the build root")
    _tell(place, checked, checked.faults, prefix.facts, recorder)


def check_tree(
    tree: str, lost: Collection[str], facts: Mapping[str, object], recorder: Recorder, *, is_whole: bool
) -> None:
    """Check the packages of a development tree, which itself has everything that they require.

    lost: paths of files that the tree had, and that another problem names. is_whole: no problem names a file, so if a
    named file is missing, it was never there. facts: the facts of the package that has the tree.
    """
    place = _Place(Prefix(tree), is_alone=True)
    checked = check_packages(place, "which the tree lacks")
    gone = {os.path.basename(path) for path in lost}
    faults = [
        each for each in checked.faults if (is_whole if each.is_of_files else gone.isdisjoint(texts_of(each.name)))
    ]
    _tell(place, checked, faults, facts, recorder)


def _tell(
    place: _Place, checked: Checked, faults: Iterable[Fault], facts: Mapping[str, object], recorder: Recorder
) -> None:
    """Report the results of a check. faults: the faults of `checked` to report."""
    incomplete = {fault.path for fault in checked.faults if fault.is_of_files}
    for path, number in checked.counted.items():
        if path not in incomplete:
            recorder.good(f"the {number} paths in {os.path.relpath(place.here(path), place.prefix.root)}")
    if checked.unread:
        recorder.skip(checked.unread.replace(f"{place.prefix.installed(place.prefix.root)}/", ""))
    for fault in faults:
        recorder.bad("E-PREFIX-009", place.here(fault.path), name=fault.name, detail=fault.said, **facts)
    for fault in checked.foreign:
        recorder.say("N-PREFIX-011", place.here(fault.path), name=fault.name, detail=fault.said, **facts)


class _Place:
    """The texts of a prefix, by the paths that they will have."""

    def __init__(self, prefix: Prefix, *, is_alone: bool) -> None:
        """Find the texts. is_alone: ignore packages elsewhere, as for a development tree."""
        self.prefix, self.is_alone = prefix, is_alone
        self.texts: Sequence[str] = tuple(prefix.installed(path) for path in prefix.files if self._is_text(path))

    def here(self, path: str) -> str:
        """Return the present place of a text."""
        return self.prefix.here(path)

    def text(self, path: str) -> str | None:
        """Return the content of a file; None if it cannot be read."""
        try:
            return read_beginning(self.here(path), TEXT_LIMIT).decode(errors="replace")
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Return whether a file or directory is in the prefix or in the build root."""
        return self.prefix.exists(path)

    def is_link(self, path: str) -> bool:
        """Return whether a path is a link."""
        return os.path.islink(self.here(path))

    def names(self, path: str) -> set[str] | None:
        """Return the names in a directory of the prefix, and of the build root; None for a directory elsewhere."""
        if not path.startswith("/usr/") and not self.prefix.has(self.here(path)):
            return None
        found = set[str]()
        for directory in {self.here(path), path}:
            with suppress(OSError):
                found.update(os.listdir(directory))
        return found

    def has_package(self, name: str) -> bool:
        """Return whether the build root has a package, or a directory that CMake is told to search.

        A tree alone has ROCm's own packages itself.
        """
        is_alone = self.is_alone and is_own_package(name)
        roots = [] if is_alone else [*_BUILD_ROOTS, *(self.here(each) for each in _BUILD_ROOTS)]
        for variable in () if is_alone else _PREFIXES:
            roots += entries_of(variable, os.environ.get(variable, "").replace(";", ":"))
        return any(self._has_in(root, name) for root in dict.fromkeys(roots))

    def _has_in(self, root: str, name: str) -> bool:
        beginning = "".join(f"[{each.lower()}{each.upper()}]" if each.isalpha() else glob.escape(each) for each in name)
        for place in _PLACES_OF_PKGCONFIG if name.endswith(ENDING) else _PLACES:
            for library in _LIBRARIES if "{library}" in place else ("",):
                directory = os.path.join(glob.escape(root), place.format(library=library, name=beginning))
                if any(glob.glob(os.path.join(directory, glob.escape(text))) for text in texts_of(name)):
                    return True
        return False

    def _is_text(self, path: str) -> bool:
        """Return whether a path is a text that is not read under another path.

        In a tree, links to other packages are texts.
        """
        if not path.endswith(_TEXTS) or not os.path.islink(path):
            return path.endswith(_TEXTS)
        return self.is_alone and os.path.isfile(path) and not self.prefix.has(os.path.realpath(path))

"""The libraries that a package has for each back end, of which it loads one: the choice of those that load here.

The C library marks them (csrc/binding/variants.c). A library for another maker's GPUs, or for another ROCm beside one
that loads, does not count as faulty.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from rocm_sdk import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import HostFile, HostFiles


class Variants(NamedTuple):
    """The choice among variants.

    left are the files that are not loaded here, with the reason; notes are for the line of a verdict. built_for: the
    releases that each of them is for ("ROCm 6.0 to 6.4, or ROCm 7.0 or newer"), if none loads and they differ.
    """

    left: dict[str, str]
    notes: tuple[str, ...] = ()
    built_for: str | None = None


def check_files(
    files: tuple[str, ...],
    libraries: tuple[str, ...],
    release: str | None = None,
    *,
    installed: bool = False,
    **facts: Any,
) -> tuple[HostFiles, Variants]:
    """Return what the C library says about the files that are loaded here, and which are left out.

    libraries: the shared libraries of the SDK. release: its version. The others are as for check_host_files.
    """
    found = _native.check_host_files(files, libraries, installed=installed, **facts)
    variants = _choose(found.files, release, has_sdk=bool(libraries))
    if variants.left:
        files = tuple(path for path in files if path not in variants.left)
        found = _native.check_host_files(files, libraries, installed=installed, **facts)
    return found, variants


def _choose(files: Iterable[HostFile], release: str | None, *, has_sdk: bool) -> Variants:
    """Choose in each group the variants for ROCm that load; the newest if none does.

    Without an SDK, all those for ROCm stay. A package opens a variant by its name: it does not open one that is named
    for another major release of ROCm.
    """
    groups: dict[int, list[HostFile]] = {}
    for file in files:
        if file.variant_group is not None:
            groups.setdefault(file.variant_group, []).append(file)
    left: dict[str, str] = {}
    notes: list[str] = []
    built_for = None
    for members in groups.values():
        own = [file for file in members if file.is_for_rocm]
        left |= {file.path: f"a variant for {file.back_end}" for file in members if not file.is_for_rocm}
        loading = [file for file in own if loads(file)]
        if has_sdk and loading:
            left |= {file.path: "another variant for ROCm loads" for file in own if file not in loading}
            majors = {_major_in(file.path) for file in own} - {None}
            if release is not None and majors and release.partition(".")[0] not in majors:
                notes.append(f"none of its {len(own)} variants is named for ROCm {release}")
            names = ", ".join(sorted(os.path.basename(file.path) for file in loading))
            number = "one" if len(loading) == 1 else str(len(loading))
            notes.append(
                f"{number} of {len(own)} variants for ROCm {'loads' if len(loading) == 1 else 'load'}: {names}"
            )
            continue
        alone = {file.path: _native.check_host_files((file.path,), ()) for file in own}
        newest = max(alone, key=lambda path: (_first(alone[path]), path))
        if has_sdk:
            left |= {file.path: "no variant for ROCm loads" for file in own if file.path != newest}
        releases = {(_first(each), each.built_for) for each in alone.values() if each.built_for is not None}
        known = [text for _, text in sorted(releases)]
        if len(known) > 1:
            built_for = ", or ".join(known)
            notes.append(f"it has {len(own)} variants for ROCm")
        else:
            notes.append(f"{len(own)} variants for ROCm: {known[0] if known else 'of unknown releases'}")
    return Variants(left, tuple(notes), built_for)


def loads(file: HostFile) -> bool:
    """Return whether the linker would load a file in the process of its row."""
    return file.fault is None and not file.lack_count and not file.unfound


def _major_in(path: str) -> str | None:
    """Return the major release of ROCm in the name of a variant: "7" of libx_rocm714.so, "10" of libx_rocm101.so."""
    found = re.search(r"rocm(1\d(?=\d)|\d)\d+\.so$", path)
    return found[1] if found is not None else None


def _first(found: HostFiles) -> tuple[int, ...]:
    """Return the first release that the files fit, to compare."""
    return tuple(map(int, found.first_release.split("."))) if found.first_release is not None else ()

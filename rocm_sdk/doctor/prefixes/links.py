"""The checks of a prefix's links: links to nothing, and missing links by which libraries are found."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rocm_sdk.base.files import is_below
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.shared_objects import SharedObject


def check_links(prefix: Prefix, recorder: Recorder) -> None:
    """Follow each link as it will lead after the installation."""
    for path in filter(os.path.islink, prefix.files):
        try:
            text = os.readlink(path)
        except OSError:
            continue
        if (fault := _fault_of(prefix, path, text)) is None:
            recorder.good(f"{os.path.relpath(path, prefix.root)} leads to {text}")
        else:
            recorder.bad("E-PREFIX-002", path, target=text, detail=fault, **prefix.facts)


def _fault_of(prefix: Prefix, path: str, text: str) -> str | None:
    if prefix.destdir and os.path.isabs(text) and is_below(os.path.normpath(text), prefix.destdir):
        return "that is in the staging directory, and will be elsewhere"
    target = os.path.normpath(os.path.join(os.path.dirname(path), text))
    if os.path.isabs(text):
        return None if prefix.exists(os.path.normpath(text)) else "it is in neither the prefix nor the build root"
    if os.path.exists(target) or os.path.exists(prefix.installed(target)):
        return None
    return "there is no such file beside it" if os.path.dirname(text) == "" else "there is no such file"


def check_sonames(prefix: Prefix, objects: Iterable[SharedObject], recorder: Recorder) -> None:
    """Look for a file of each SONAME beside the library. A plug-in without a version in its name needs none."""
    for each in objects:
        soname = each.facts.soname if each.facts else None
        if soname is None or soname == each.name:
            continue
        directory = os.path.dirname(each.path)
        places = (directory, os.path.dirname(os.path.realpath(each.path)))
        if any(os.path.lexists(os.path.join(place, soname)) for place in places):
            recorder.good(f"{each.name} is found as {soname}")
        elif linker_name(soname) == linker_name(each.name):
            recorder.bad(
                "E-PREFIX-003", each.path, library=each.name, soname=soname, directory=directory, **prefix.facts
            )

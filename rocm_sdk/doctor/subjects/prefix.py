"""Subject `prefix`: whether a prefix that is to be packaged has right links, search paths, versions and texts."""

from __future__ import annotations

import os

from rocm_sdk.doctor.prefixes.links import check_links, check_sonames
from rocm_sdk.doctor.prefixes.search import check_search
from rocm_sdk.doctor.prefixes.texts import check_texts
from rocm_sdk.doctor.prefixes.versions import check_versions
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.installation import Installed
from rocm_sdk.installed.prefix import Prefix

# What shows that a directory is a prefix, by the beginning of a path in it or its end.
_PLACES = ("include/", "bin/", "lib/llvm/", "amdgcn/", "share/")
_ENDINGS = (".cmake", ".bc", ".pc")


def check(installation: Installed, recorder: Recorder, _options: Options) -> None:
    """All checks that load nothing and start nothing."""
    prefix = installation.prefix
    assert prefix is not None
    objects = installation.shared_objects
    if not objects and not any(_shows_a_prefix(prefix, path) for path in prefix.files):
        fault = _fault_of(prefix)
        recorder.bad("E-PREFIX-001", prefix.root, detail=fault, **prefix.facts)
        return
    for variable in prefix.unset:
        recorder.skip(f"with {variable}: it leads to another SDK, and was unset for this test")
    recorder.good(f"a ROCm in {prefix.root}: {len(prefix.files):,} files")
    check_links(prefix, recorder)
    check_sonames(prefix, objects, recorder)
    check_search(prefix, objects, recorder)
    check_versions(prefix, recorder)
    check_texts(prefix, recorder)


def _shows_a_prefix(prefix: Prefix, path: str) -> bool:
    return os.path.relpath(path, prefix.root).startswith(_PLACES) or path.endswith(_ENDINGS)


def _fault_of(prefix: Prefix) -> str:
    names = sorted(os.listdir(prefix.root)) if os.access(prefix.root, os.R_OK) else []
    if not names:
        return "the directory is empty" if os.access(prefix.root, os.R_OK) else "this user cannot read it"
    shown = ", ".join(names[:5])
    return f"it has neither libraries nor headers, programs or CMake packages of ROCm; it has {shown}"

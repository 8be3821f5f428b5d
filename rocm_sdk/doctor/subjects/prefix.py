"""The subject `prefix`: a prefix that is to be packaged has right links, search paths, versions and texts."""

from __future__ import annotations

import os
import re

from rocm_sdk.doctor.prefixes.links import check_links, check_sonames
from rocm_sdk.doctor.prefixes.search import check_search
from rocm_sdk.doctor.prefixes.texts import check_texts
from rocm_sdk.doctor.prefixes.versions import check_versions
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.catalog import rows_of
from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.view import Installed

# The signs that a directory is a prefix, by the beginning of a path in it or its end.
_PLACES = ("include/", "bin/", "lib/llvm/", "amdgcn/", "share/")
_ENDINGS = (".cmake", ".bc", ".pc")
# The names of directories of headers, and of CMake packages.
_OWN_DIRECTORY = re.compile(r"(hip|hsa|roc|rccl|miopen|migraphx|amd_comgr|amd_smi).*", re.IGNORECASE)


def check(installation: Installed, recorder: Recorder, _options: Options) -> None:
    """Run all checks that load nothing and start nothing."""
    prefix = installation.prefix
    assert prefix is not None
    objects = installation.shared_objects
    if prefix.is_shared:
        is_there = any(_is_of_rocm(prefix, path) for path in prefix.files)
    else:
        is_there = bool(objects) or any(_shows_a_prefix(prefix, path) for path in prefix.files)
    if not is_there:
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


def _is_of_rocm(prefix: Prefix, path: str) -> bool:
    """Return whether only ROCm has such a file: LLVM has amdgpu-arch, SuiteSparse libamd.so."""
    parts = os.path.relpath(path, prefix.root).split(os.sep)
    name = parts[-1]
    if ".so" in name:
        return bool(rows_of(name))
    is_header = parts[0] == "include" and len(parts) > len(("include", "hip"))
    directory = parts[1] if is_header else parts[-2] if name.endswith(".cmake") and len(parts) > 1 else ""
    return _OWN_DIRECTORY.fullmatch(directory) is not None


def _fault_of(prefix: Prefix) -> str:
    names = sorted(os.listdir(prefix.root)) if os.access(prefix.root, os.R_OK) else []
    if not names:
        return "the directory is empty" if os.access(prefix.root, os.R_OK) else "this user cannot read it"
    if prefix.is_shared:
        return "it has no library, header or CMake package that only ROCm has"
    shown = ", ".join(names[:5])
    return f"it has neither libraries nor headers, programs or CMake packages of ROCm; it has {shown}"

"""The subject `prefix`: a prefix that is to be packaged has correct links, search paths, versions and texts."""

from __future__ import annotations

import os
import re

from rocm_sdk.base.files import NotAFileError, is_below, read_beginning
from rocm_sdk.doctor.prefixes.search_places import check_search
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.catalog import linker_name, rows_of
from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.prefix_versions import RELEASE, Said, agree, versions
from rocm_sdk.installed.view import Installed

# What shows that a directory is a prefix: the beginning or the end of a path in it.
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
        names = sorted(os.listdir(prefix.root)) if os.access(prefix.root, os.R_OK) else []
        if not names:
            fault = "the directory is empty" if os.access(prefix.root, os.R_OK) else "this user cannot read it"
        elif prefix.is_shared:
            fault = "it has no library, header or CMake package that only ROCm has"
        else:
            shown = ", ".join(names[:5])
            fault = f"it has neither libraries nor headers, programs or CMake packages of ROCm; it has {shown}"
        recorder.bad("E-PREFIX-001", prefix.root, detail=fault, **prefix.facts)
        return
    for variable in prefix.unset:
        recorder.skip(f"with {variable}: it leads to another SDK, and was unset for this test")
    recorder.good(f"a ROCm in {prefix.root}: {len(prefix.files):,} files")
    check_links(prefix, recorder)
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


_READ = (".cmake", ".pc", ".la", ".h", ".hpp", ".py", ".sh", ".conf", ".json", ".icd", ".cfg", ".lua", ".mk")
_PROGRAMS = ("/bin/", "/sbin/", "/libexec/")
_LIMIT = 1 << 22  # bytes of a file


def check_texts(prefix: Prefix, recorder: Recorder) -> None:
    """Look for the staging directory in the texts that CMake, pkg-config, compilers and shells read."""
    if not prefix.destdir:
        recorder.skip("texts: no staging directory is named (--destdir)")
        return
    wanted = os.fsencode(prefix.destdir.rstrip("/") + "/")
    for path in prefix.files:
        if os.path.islink(path) or not (path.endswith(_READ) or any(part in path for part in _PROGRAMS)):
            continue
        try:
            content = read_beginning(path, _LIMIT)
        except NotAFileError:
            continue
        except OSError as error:
            recorder.bad("E-FILE-007", path, detail=error.strerror)
            continue
        if content.startswith(b"\x7fELF"):
            continue  # debug information may name the build directory
        position = content.find(wanted)
        if position < 0:
            recorder.good(f"{os.path.relpath(path, prefix.root)} names no directory of the build")
        else:
            line = content.count(b"\n", 0, position) + 1
            recorder.bad("E-PREFIX-008", path, line=line, directory=prefix.destdir, **prefix.facts)


def check_versions(prefix: Prefix, recorder: Recorder) -> None:
    """Compare the versions that files state, up to the shorter one: 5.2.21153 fits 5.2."""
    by_subject: dict[str, list[Said]] = {}
    for said in versions(prefix):
        by_subject.setdefault(said.about, []).append(said)
    for about, said_of_it in by_subject.items():
        usual = max(said_of_it, key=lambda said: sum(agree(said, other) for other in said_of_it))
        if len(said_of_it) == 1:
            recorder.skip(f"version of {about}: only {os.path.relpath(usual.path, prefix.root)} says one")
        for other in (each for each in said_of_it if each is not usual):
            if agree(usual, other):
                names = (os.path.relpath(each.path, prefix.root) for each in (usual, other))
                recorder.good(f"{' and '.join(names)} say version {usual.version}")
            else:
                _complain(prefix, other, usual, recorder)
    release, hip = (by_subject.get(about) for about in (RELEASE, "hip"))
    if release and hip and release[0].version.split(".")[0] != hip[0].version.split(".")[0]:
        _complain(prefix, hip[0], release[0], recorder)
    if not by_subject:
        recorder.skip("versions: no file says one")


def _complain(prefix: Prefix, said: Said, other: Said, recorder: Recorder) -> None:
    facts = {"version": said.version, "other": other.path, "wanted": other.version, "name": said.about}
    recorder.bad("E-PREFIX-007", said.path, **facts, **prefix.facts)


def check_links(prefix: Prefix, recorder: Recorder) -> None:
    """Follow each link as it will lead after the installation."""
    for path in filter(os.path.islink, prefix.files):
        try:
            text = os.readlink(path)
        except OSError:
            continue
        if (fault := _fault_of_link(prefix, path, text)) is None:
            recorder.good(f"{os.path.relpath(path, prefix.root)} leads to {text}")
        else:
            recorder.bad("E-PREFIX-002", path, target=text, detail=fault, **prefix.facts)


def _fault_of_link(prefix: Prefix, path: str, text: str) -> str | None:
    if prefix.destdir and os.path.isabs(text) and is_below(os.path.normpath(text), prefix.destdir):
        return "that is in the staging directory, and will be elsewhere"
    target = os.path.normpath(os.path.join(os.path.dirname(path), text))
    if os.path.isabs(text):
        return None if prefix.exists(os.path.normpath(text)) else "it is in neither the prefix nor the build root"
    if os.path.exists(target) or os.path.exists(prefix.installed(target)):
        return None
    return "there is no such file beside it" if os.path.dirname(text) == "" else "there is no such file"

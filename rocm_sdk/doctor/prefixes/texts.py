"""The texts of a prefix that others read, and the staging directory in them."""

from __future__ import annotations

import os

from rocm_sdk.base.files import NotAFileError, read_beginning
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.prefix import Prefix

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
            continue  # the parts for a debugger may name the build
        position = content.find(wanted)
        if position < 0:
            recorder.good(f"{os.path.relpath(path, prefix.root)} names no directory of the build")
        else:
            line = content.count(b"\n", 0, position) + 1
            recorder.bad("E-PREFIX-008", path, line=line, directory=prefix.destdir, **prefix.facts)

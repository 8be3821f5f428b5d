"""The bundle of `rocm-sdk test --report`: the facts that a bug report needs, without names of users and hosts."""

from __future__ import annotations

import json
import platform
import sys
import zipfile
from typing import Any

from rocm_sdk import _native
from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.glibc import glibc_version

from .complete_file import complete_file
from .mask import make_mask, reported_environment

_LIMIT = 1 << 20  # bytes of each file


def write_bundle(path: str, report: str, document: dict[str, Any]) -> None:
    """Write the bundle, a zip file, which gets its name when it is complete. Raise OSError if that fails."""
    mask = make_mask()
    files = {
        "report.txt": report,
        "report.json": json.dumps(document, indent=2, ensure_ascii=False),
        "system.json": json.dumps(_system(), indent=2, ensure_ascii=False),
        "os-release": _text_of("/etc/os-release"),
        "maps": _text_of("/proc/self/maps"),
    }
    with complete_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in files.items():
            bundle.writestr(name, mask(text).encode("utf-8", errors="backslashreplace"))


def _system() -> dict[str, Any]:
    return {
        "loader": _native.loader_version,
        "python": sys.version,
        "executable": sys.executable,
        "search_path": sys.path,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "libc": f"glibc {glibc_version()}",
        "environment": reported_environment(),
    }


def _text_of(path: str) -> str:
    try:
        return read_beginning(path, _LIMIT).decode(errors="replace")
    except OSError as error:
        return f"{error}\n"

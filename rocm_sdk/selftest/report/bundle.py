"""The bundle of `rocm-sdk test --report`: what a bug report needs, without names of users and hosts."""

from __future__ import annotations

import json
import os
import platform
import pwd
import re
import sys
import zipfile
from typing import Any

from rocm_sdk import _native
from rocm_sdk.installed.files import read_beginning

# Variables that matter for the SDK; others may contain secrets.
_REPORTED = re.compile(r"(ROCM|ROCR|HIP|HSA|CUDA_VISIBLE|GPU_|LD_|PYTHON|OCL|AMD)\w*|PATH")
_NOT_MASKED = frozenset({"", "/", "root", "localhost"})
_LIMIT = 1 << 20  # bytes of each file


def write_bundle(path: str, report: str, document: dict[str, Any]) -> None:
    """Writes the bundle, a zip file, which gets its name when it is complete. Raises OSError if that fails."""
    mask = _mask()
    files = {
        "report.txt": report,
        "report.json": json.dumps(document, indent=2, ensure_ascii=False),
        "system.json": json.dumps(_system(), indent=2, ensure_ascii=False),
        "os-release": _text_of("/etc/os-release"),
        "maps": _text_of("/proc/self/maps"),
    }
    partial = f"{path}.partial"
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, text in files.items():
                bundle.writestr(name, mask(text).encode("utf-8", errors="backslashreplace"))
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def _system() -> dict[str, Any]:
    return {
        "loader": _native.loader_version,
        "python": sys.version,
        "executable": sys.executable,
        "search_path": sys.path,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "environment": {name: value for name, value in sorted(os.environ.items()) if _REPORTED.fullmatch(name)},
    }


def _mask() -> Mask:
    """Masks the home directory ($HOME and the system's entry), the user and the host."""
    words = {os.path.expanduser("~"): "HOME", os.environ.get("USER", ""): "USER", os.environ.get("LOGNAME", ""): "USER"}
    try:
        user = pwd.getpwuid(os.getuid())
        words |= {user.pw_dir: "HOME", user.pw_name: "USER"}
    except KeyError:  # a container may have no name for its user
        pass
    host = os.uname().nodename
    words |= {host: "HOST", host.partition(".")[0]: "HOST"}
    return Mask({word: name for word, name in words.items() if word not in _NOT_MASKED})


class Mask:
    """Replaces words in texts."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words
        longest_first = sorted(words, key=len, reverse=True)
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first))

    def __call__(self, text: str) -> str:
        return self._pattern.sub(lambda match: f"<{self._words[match[0]]}>", text) if self._words else text


def _text_of(path: str) -> str:
    try:
        return read_beginning(path, _LIMIT).decode(errors="replace")
    except OSError as error:
        return f"{error}\n"

"""The prefix: its place now, its later place, and the files in it that belong to ROCm."""

from __future__ import annotations

import glob
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rocm_sdk._native import catalog
from rocm_sdk.base.files import is_below, read_beginning
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.installed.directory_walk import walk

# Prefixes that ROCm shares with other software: only files with ROCm's names are tested there.
_SHARED = ("/", "/usr", "/usr/local")
_CONDA = "conda-meta"  # in a conda environment, which has other packages, too

# Libraries of ROCm that have no short name, and the names of its CMake packages.
_OWN_LIBRARY = re.compile(
    r"lib(hsakmt|hsa|hip|roc|amd|rsmi|rccl|miopen|composable|migraphx|rpp).*\.so.*", re.IGNORECASE
)
_OWN_CMAKE = re.compile(r"(hip|hsa|roc|amd|rccl|miopen|migraphx|composable|rpp|fp16|half).*", re.IGNORECASE)

# The directories that the linker searches by itself, by the machine's name.
_DEFAULT_DIRECTORIES = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/{}-linux-gnu", "/usr/lib/{}-linux-gnu")
_CONFIGURATION = ("etc/ld.so.conf", "etc/ld.so.conf.d/*.conf")
_CONFIGURATION_LIMIT = 1 << 16  # bytes

# Variables that lead to another ROCm, or to a directory that this library itself would take for one.
_LEADING = (
    *("ROCM_PATH", "ROCM_HOME", "HIP_PATH", "HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH", "HIP_CLANG_PATH", "HSA_PATH"),
)
_OWN_VARIABLES = "ROCM_SDK_"


@dataclass(frozen=True)
class Prefix:
    """A directory with lib, bin, include."""

    root: str  # absolute
    destdir: str = ""  # the staging directory that it is below; "": the prefix is where it will be
    unset: tuple[str, ...] = ()  # variables that led to another SDK and no longer do

    # ---- places

    @property
    def facts(self) -> dict[str, object]:
        """The facts for the texts of problems."""
        return {"prefix": self.installed(self.root), "staged": self.root}

    def installed(self, path: str) -> str:
        """Return the later place of a path of the staging directory."""
        if self.destdir and is_below(path, self.destdir):
            return os.path.normpath(f"/{os.path.relpath(path, self.destdir)}")
        return path

    def here(self, path: str) -> str:
        """Return the present place of a file that will have this absolute path."""
        return f"{self.destdir}{path}" if self.destdir and not is_below(path, self.destdir) else path

    def exists(self, path: str) -> bool:
        """Return whether a file that will have this absolute path is in the staging directory or the build root."""
        return os.path.exists(self.here(path)) or os.path.exists(path)

    def has(self, path: str) -> bool:
        """Return whether a present path is in the prefix, which may be named by a link."""
        return is_below(path, self.root) or is_below(path, os.path.realpath(self.root))

    @cached_property
    def is_shared(self) -> bool:
        """True if there is other software in the prefix, too."""
        is_of_system = not self.destdir and os.path.realpath(self.root) in _SHARED
        return is_of_system or os.path.isdir(os.path.join(self.root, _CONDA))

    # ---- files

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files and links that are not directories; for a shared prefix, those with ROCm's names."""
        found = []
        for directory, directories, names in walk(self.root):
            for name in sorted(directories):
                if os.path.islink(os.path.join(directory, name)):
                    names.append(name)
            directories[:] = sorted(name for name in directories if name != "__pycache__")
            found += [os.path.join(directory, name) for name in sorted(names)]
        return tuple(path for path in found if not self.is_shared or self._is_own(path))

    def _is_own(self, path: str) -> bool:
        name, directory = os.path.basename(path), os.path.basename(os.path.dirname(path))
        if ".so" in name:
            return _OWN_LIBRARY.fullmatch(name) is not None
        if os.path.relpath(path, self.root).startswith(("bin/", "include/")):
            return _OWN_CMAKE.fullmatch(os.path.relpath(path, self.root).split(os.sep)[1]) is not None
        return name.endswith(".cmake") and _OWN_CMAKE.fullmatch(directory) is not None

    def libraries(self) -> Iterator[str]:
        """Yield the files of shared objects, each once, without links to others of the prefix."""
        root, seen = os.path.realpath(self.root), set()
        for path in self.files:
            real = os.path.realpath(path)
            if ".so" not in os.path.basename(path) or (os.path.islink(path) and is_below(real, root)):
                continue
            try:
                facts = os.stat(path)
            except OSError:
                continue
            if (facts.st_dev, facts.st_ino) not in seen:
                seen.add((facts.st_dev, facts.st_ino))
                yield path

    # ---- what the linker knows

    @cached_property
    def searched_directories(self) -> tuple[str, ...]:
        """The directories, as they are now, that the linker searches for every program after the installation."""
        named = [text.format(platform.machine()) for text in _DEFAULT_DIRECTORIES]
        for pattern in _CONFIGURATION:
            for path in sorted(glob.glob(os.path.join(glob.escape(self.destdir or "/"), pattern))):
                named += [line for line in _lines_of(path) if line.startswith("/")]
        return tuple(dict.fromkeys(os.path.realpath(self.here(os.path.normpath(each))) for each in named))

    @cached_property
    def library_path(self) -> tuple[str, ...]:
        """The entries of LD_LIBRARY_PATH without the directories that have a ROCm."""
        runtime = next(each[2] for each in catalog() if each[0] == "amdhip64")
        entries = entries_of("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", ""))
        return tuple(each for each in entries if not glob.glob(os.path.join(glob.escape(each), runtime)))


def is_own_package(name: str) -> bool:
    """Return whether a CMake package, or a scope of targets, is ROCm's, judging by its name."""
    return _OWN_CMAKE.fullmatch(name) is not None


def foreign_variables() -> list[str]:
    """Return the names of set variables that lead to another SDK."""
    return sorted(name for name in os.environ if name in _LEADING or name.startswith(_OWN_VARIABLES))


def _lines_of(path: str) -> list[str]:
    try:
        return read_beginning(path, _CONFIGURATION_LIMIT).decode(errors="replace").split()
    except OSError:
        return []

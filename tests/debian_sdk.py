"""The SDK of Debian's ROCm packages, laid out as pip installs its wheels: made once per machine, below build/debian."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.debian import Source, build_site

BUILD = Path(__file__).resolve().parents[1] / "build"
SOURCE = Source(BUILD / "debian")


@cache
def debian_site(shape: Shape) -> Path:
    """A directory like site-packages, for reading only. A process asks apt once whether it is still the right one."""
    return build_site(SOURCE, shape)

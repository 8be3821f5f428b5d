"""The parts of a wheel's name. `output/package_files.py` refuses names that are not names of wheels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from packaging.utils import NormalizedName, canonicalize_name


class WheelName(NamedTuple):
    """The parts of a wheel's name as the file has them; "" for a part that the name lacks."""

    base: str  # the distribution, mostly with `_` for `-`
    version: str
    tag: str  # "py3-none-any"

    @property
    def project(self) -> NormalizedName:
        """The normalised name of the distribution, with `-` for `_`: "rocm-sdk-core"."""
        return canonicalize_name(self.base)

    @property
    def platform(self) -> str:
        """The platform tag, "manylinux_2_28_x86_64", or several with dots between them; "" if the name has no tag."""
        return self.tag.rpartition("-")[2]


def wheel_name(path: Path) -> WheelName:
    """Return the parts of a wheel's name; for a source distribution the name is all in `base`."""
    base, version, tag = (*path.stem.split("-", 2), "", "")[:3]
    return WheelName(base, version, tag)

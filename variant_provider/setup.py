"""The facts that pyproject.toml cannot state: the version, and the requirement of the loader of the same version.

In a clone the version stands in the loader's header alone. A source distribution has the version in PKG-INFO.
"""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
PLACES = (
    (HERE / "PKG-INFO", r"^Version: (.+)$"),
    (HERE.parent / "csrc/include/rocm_sdk/version.h", r'^#define RSDK_VERSION "([^"]+)"$'),
)


def read_version() -> str:
    """Return the version from the first place that exists.

    Raise SystemExit if no place has a version.
    """
    for path, pattern in PLACES:
        if path.is_file() and (match := re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)):
            return match.group(1)
    places = " or ".join(str(path) for path, _ in PLACES)
    raise SystemExit(f"no version in {places}: build in a clone or from a source distribution")


VERSION = read_version()

setup(version=VERSION, install_requires=[f"rocm-sdk-loader=={VERSION}"])

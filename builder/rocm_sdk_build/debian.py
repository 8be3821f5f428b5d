"""Makes an SDK of Debian's ROCm: fetches and unpacks packages, which then are the roots of a prefix.

Everything is kept in a cache directory, and made anew only if its input changed. One process at a time works on a
cache. The next run removes what a killed run has left there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from packaging.version import InvalidVersion, Version

from . import build_prefix as prefix
from .build import Wish
from .code.patchelf import Shape
from .errors import PackagingError
from .files.source_date import source_date
from .files.wheels import wheel_key
from .inputs.apt import Apt, DebianPackage
from .inputs.rules import read_rules
from .output.finished import program_digest
from .packages.platform_tag import checked_tag

_log = logging.getLogger(__name__)

# Debian's packages with ROCm's libraries, and those to develop with. Of the packages that the former depend on, only
# the needed files are taken.
RUNTIME_PACKAGES = (
    "libamd-comgr2",
    "libamdhip64-5",
    "libhiprand1",
    "libhiprtc-builtins5",
    "libhipsparse0",
    "libhsa-runtime64-1",
    "libhsakmt1",
    "librocm-smi64-1",
    "librocrand1",
    "librocsparse0",
)
DEVELOPMENT_PACKAGES = (
    "hipcc",
    "libamd-comgr-dev",
    "libamdhip64-dev",
    "libhiprand-dev",
    "libhsa-runtime-dev",
    "libhsakmt-dev",
    "librocrand-dev",
    "rocm-cmake",
    "rocm-device-libs",
)

# The package whose upstream version is the version of the SDK: HIP answers hipRuntimeGetVersion().
_VERSION_PACKAGE = "libamdhip64-5"

# Packages with the libraries that every system has.
_BASE_PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")

_PROJECTS = {"rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_devel"}


def build_site(cache: Path, shape: Shape, version: str | None = None) -> Path:
    """The SDK as pip installs it: a directory like site-packages below `cache`, of hard links, for reading only.

    version: of the packages, by default Debian's. PackagingError or OSError if it cannot be made.
    """
    with _locked(cache):
        apt = Apt(cache)
        packages = resolve_packages(apt)
        version = sdk_version(packages, version)
        sites = cache / "sites"
        site = sites / f"{shape.value}-{_key(packages, shape, version)[:16]}"
        if not site.exists():
            sites.mkdir(exist_ok=True)
            _build(apt, packages, Wish((), sites, version, shape=shape, site=site, is_checked=False))
            for outdated in sites.glob(f"{shape.value}-*"):
                if outdated != site:
                    shutil.rmtree(outdated)
        return site


def build_wheels(
    cache: Path, shape: Shape, output: Path, version: str | None = None, *, keeps_stack: bool = False
) -> list[Path]:
    """The SDK's packages in the directory `output`, which is made if need be; arguments and errors as of build_site.

    keeps_stack: libraries that ask for an executable stack by mistake stay as they are.
    """
    with _locked(cache):
        apt = Apt(cache)
        packages = resolve_packages(apt)
        version = sdk_version(packages, version)
        key = _key(packages, shape, version, keeps_stack)
        if found := _made_before(output, version, key):
            return found
        wish = Wish((), output, version, deflate=False, is_checked=False, size_limit=None, keeps_stack=keeps_stack)
        return sorted(_build(apt, packages, wish._replace(shape=shape, key=key, dist=output)))


def resolve_packages(apt: Apt) -> list[DebianPackage]:
    """Debian's ROCm packages and what they depend on, as apt would install them, and those to develop with."""
    runtime = apt.closure(RUNTIME_PACKAGES, _BASE_PACKAGES)
    return sorted({*runtime, *apt.candidates(DEVELOPMENT_PACKAGES)})


def sdk_version(packages: list[DebianPackage], requested: str | None) -> str:
    """The version of the wheels: as requested, or the upstream version of Debian's HIP (`5.2.3` of `5.2.3-8`).

    PackagingError if it is not a version in the form that PEP 440 prefers.
    """
    debian = next(package.version for package in packages if package.name == _VERSION_PACKAGE)
    upstream = re.sub(r"^\d+:|-[^-]*$|\+(dfsg|ds)[^-]*", "", debian)
    version = upstream if requested is None else requested
    try:
        canonical = str(Version(version))
    except InvalidVersion as error:
        raise PackagingError(f"{version}: not a version of a Python package", "give one: --version 5.2.3") from error
    if version != canonical:
        raise PackagingError(f"{version}: not in the canonical form", f"write it {canonical}")
    return version


def _build(apt: Apt, packages: Sequence[DebianPackage], wish: Wish) -> list[Path]:
    _log.info("downloading and unpacking Debian's packages")
    roots = tuple(apt.unpack(packages).values())
    return prefix.build(prefix.Wish(wish._replace(artifacts=roots), is_complete=True), read_rules())


def _made_before(output: Path, version: str, key: str) -> list[Path]:
    """The packages, if an earlier run has made all of them with this key."""
    wheels = [wheel for wheel in output.glob("*.whl") if wheel_key(wheel) == key]
    selector = output / f"rocm-{version}.tar.gz"
    is_whole = {wheel.name.partition("-")[0] for wheel in wheels} == _PROJECTS and selector.exists()
    return sorted([*wheels, selector]) if is_whole else []


def _key(packages: list[DebianPackage], shape: Shape, version: str, keeps_stack: bool = False) -> str:
    """A digest of everything that the result depends on: packages, choices, tools and this code."""
    names = [package.store_name for package in packages]
    choices = [shape.value, version, keeps_stack, checked_tag(None), source_date()]
    inputs = [names, choices, program_digest()]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""Builds trees and wheels of Debian's ROCm in a cache directory, each only if its inputs changed.

One process at a time works on a cache. Everything finished has its final name; what a killed run leaves is called
`.partial*`, and the next run removes or overwrites it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocm_sdk.rewriting import executable_stack

from .apt import Apt, DebianPackage
from .debian import plan_sdk, resolve_packages, sdk_version
from .patchelf import find_patchelf
from .sdk_rules import WHEELS
from .site_tree import Shape, dist_info_name, write_site_tree
from .source_date import source_date
from .wheels import recorded_members, wheel_key, wheel_tag, write_wheel

_log = logging.getLogger(__name__)


def build_site(cache: Path, shape: Shape, version: str | None = None) -> Path:
    """The SDK laid out as pip installs it: a directory like site-packages below `cache`, for reading only.

    `version`: of the wheels, by default Debian's. PackagingError or OSError if it cannot be made.
    """
    with _locked(cache):
        apt = Apt(cache)
        packages = resolve_packages(apt)
        return _site(cache, apt, packages, shape, sdk_version(packages, version), keeps_stack=False)


def build_wheels(
    cache: Path, shape: Shape, output: Path, version: str | None = None, *, keeps_stack: bool = False
) -> list[Path]:
    """The SDK's wheels in the directory `output`, which is made if need be; arguments and errors as of build_site.

    keeps_stack: libraries that ask for an executable stack by mistake stay as they are.
    """
    with _locked(cache):
        apt = Apt(cache)
        packages = resolve_packages(apt)
        version = sdk_version(packages, version)
        key = _key(packages, shape, version, keeps_stack)
        output.mkdir(parents=True, exist_ok=True)
        dist_infos = [dist_info_name(wheel, version) for wheel in WHEELS.values()]
        wheels = [output / f"{name.removesuffix('.dist-info')}-{wheel_tag()}.whl" for name in dist_infos]
        missing = [(info, wheel) for info, wheel in zip(dist_infos, wheels, strict=True) if wheel_key(wheel) != key]
        if missing:
            site = _site(cache, apt, packages, shape, version, keeps_stack=keeps_stack)
            if told := _told(cache, shape).read_text(encoding="utf-8"):
                _log.warning("%s", told)
            for dist_info, wheel in missing:
                _log.info("writing %s", wheel)
                write_wheel(wheel, recorded_members(site, dist_info), dist_info, key)
        return wheels


def _site(
    cache: Path, apt: Apt, packages: list[DebianPackage], shape: Shape, version: str, *, keeps_stack: bool
) -> Path:
    sites = cache / "sites"
    sites.mkdir(exist_ok=True)
    site = sites / f"{shape.value}-{_key(packages, shape, version, keeps_stack)[:16]}"
    if not site.exists():
        _log.info("downloading and unpacking Debian's packages")
        plan = plan_sdk(apt, packages, version)
        _log.info("laying out the SDK, shape %s", shape.value)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=sites) as partial:
            told = write_site_tree(plan, shape, Path(partial, "site"), keeps_stack=keeps_stack)
            _told(cache, shape).write_text(told, encoding="utf-8")
            Path(partial, "site").rename(site)
        for outdated in sites.glob(f"{shape.value}-*"):
            if outdated != site:
                shutil.rmtree(outdated)
    return site


def _told(cache: Path, shape: Shape) -> Path:
    """What the user is told of the tree, of which there is one of each shape."""
    return cache / f"{shape.value}.told"


def _key(packages: list[DebianPackage], shape: Shape, version: str, keeps_stack: bool) -> str:
    """Names everything that the result depends on: packages, choices, tools and this code."""
    code = hashlib.sha256()
    here = Path(__file__).parent
    for module in (
        *sorted(here.glob("*.py")),
        Path(executable_stack.__file__),
        here / "prefix/layout.py",
        here / "artifacts/rules.txt",
    ):
        code.update(module.read_bytes())
    patchelf = "" if shape is Shape.NONE else find_patchelf()[1]
    inputs = [
        [package.store_name for package in packages],
        shape.value,
        version,
        keeps_stack,
        wheel_tag(),
        patchelf,
        source_date(),
        code.hexdigest(),
    ]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

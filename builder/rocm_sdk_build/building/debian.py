"""The maker of an SDK from Debian's ROCm, which fetches and unpacks packages to use them as the roots of a prefix.

A cache directory keeps all files, which are made anew only if their input has changed. Only one process at a time works
on a cache. The next run removes the leftovers of a killed run from the cache.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from rocm_sdk.base.file_lock import Purpose, held
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.named_directory import output_directory
from rocm_sdk_build.base.new_file import new_file
from rocm_sdk_build.base.own_directory import make_own
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.base.source_date import given_date
from rocm_sdk_build.base.wheels import wheel_key
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.inputs.apt import Apt, DebianPackage
from rocm_sdk_build.inputs.debian_packages import (
    Choice,
    Release,
    choose,
    known_releases,
    named,
    release_of,
    release_with_codename,
    required,
)
from rocm_sdk_build.inputs.rules import Rules, read_rules
from rocm_sdk_build.output.finished import program_digest
from rocm_sdk_build.output.own_loader import bring_loader
from rocm_sdk_build.packages.assignment import Assignment
from rocm_sdk_build.packages.platform_tag import checked_tag
from rocm_sdk_build.packages.wish import Wish, is_loader

from . import prefix
from .prefix import PrefixWish
from .wheel_maker import make_site, make_wheels

_log = logging.getLogger(__name__)

_LOCK_SECONDS = 3600.0  # how long another process may work in the same cache: it fetches and unpacks gigabytes
_PURPOSE = Purpose("works in this cache", lambda message, fix, _: PackagingError(message, fix))
# Packages with the libraries that every system has.
_BASE_PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")


class Source(NamedTuple):
    """The packages of Debian that an SDK is made from, and the directory that keeps them."""

    cache: Path
    suite: str | None = None  # None: the release of this system, from its own sources
    mirror: str | None = None  # address of the suite's packages; None: Debian's address
    names: tuple[str, ...] = ()  # names of packages with libraries and tools, with or without number; (): all

    @property
    def directory(self) -> Path:
        """The directory of the cache for the suite."""
        return self.cache if self.suite is None else self.cache / release_of(self.suite).suite


class Packages(NamedTuple):
    """The packages from which an SDK is made."""

    release: Release
    found: list[DebianPackage]
    version: str  # the upstream version of HIP


def build_site(source: Source, shape: Shape, version: str | None = None) -> Path:
    """Make the SDK as pip installs it; return its directory, which is for reading only.

    The directory is like site-packages, below the cache, and consists of hard links. `version` is the version of the
    packages, by default Debian's. Raise PackagingError or OSError if the SDK cannot be made.
    """
    with _locked(source):
        apt = apt_of(source)
        packages = resolve_packages(apt, source)
        sites = source.directory / "sites"
        wish = Wish((), sites, _checked(version or packages.version), shape=shape, is_checked=False)
        site = sites / f"{shape.value}-{_key(packages, PrefixWish(wish), None)[:16]}"
        if not site.exists():
            sites.mkdir(exist_ok=True)
            _build(apt, packages, PrefixWish(wish), read_rules(), partial(make_site, site=site))
            for outdated in sites.glob(f"{shape.value}-*"):
                if outdated != site:
                    shutil.rmtree(outdated)
        return site


def build_wheels(
    source: Source, wish: PrefixWish, rules: Path | None = None, *, keeps_unpacked: bool = False
) -> list[Path]:
    """Make the SDK's packages in the directory `wish.packages.dist`, which is made if need be; return their files.

    `wish` has no roots; its version may be empty, which asks for Debian's. `rules` is a table to use instead of the
    established one. With `keeps_unpacked` the files of Debian's packages stay in the cache. Raise PackagingError or
    OSError if the packages cannot be made.
    """
    place = wish.packages.dist or wish.packages.output
    with _locked(source), output_directory(place):
        with scratch_directory(place):
            pass  # if the place takes no files, this fails before a gigabyte is downloaded
        apt = apt_of(source)
        packages = resolve_packages(apt, source)
        version = _checked(wish.packages.version or packages.version)
        key = _key(packages, wish, rules)
        note = source.directory / "made" / key
        if wish.packages.loader is None and (found := _made_before(note, place, key)):
            brought = bring_loader(place) if wish.packages.brings_loader else []
            return sorted([*found, *brought])
        wish = wish._replace(packages=wish.packages._replace(version=version, key=key))
        made = sorted(_build(apt, packages, wish, read_rules(rules)))
        note.parent.mkdir(exist_ok=True)
        with new_file(str(note)) as new:
            os.write(new, "".join(f"{path.name}\n" for path in made if not is_loader(path)).encode())
        if not keeps_unpacked:
            apt.forget(packages.found)
        return made


def apt_of(source: Source) -> Apt:
    """Return apt for the packages.

    Raise PackagingError if the release is not known.
    """
    if source.suite is None:
        return Apt(source.directory)
    return Apt(source.directory, release_of(source.suite).suite, source.mirror)


def release_of_source(source: Source) -> Release:
    """Return the release of the packages.

    Raise PackagingError if the release is not known.
    """
    return release_of(source.suite) if source.suite is not None else _release_of_this_system()


def resolve_packages(apt: Apt, source: Source) -> Packages:
    """Return Debian's packages of ROCm and their dependencies, as apt would install them, and packages to develop with.

    The log names the packages that are left out.
    """
    release = release_of_source(source)
    complaint = apt.update()
    try:
        choice = _choice(apt, release, source.names)
    except PackagingError as error:
        fix = f"see that {source.mirror} has {release} and can be reached" if source.mirror and complaint else error.fix
        raise type(error)(f"{error}{complaint}", fix) from error
    apt.confirm_lists()
    wanted = [*choice.libraries, *choice.tools, *choice.development]
    kept = set(apt.together(wanted))
    left = [name for name in wanted if name not in kept]
    for names, why in ((left, "cannot be installed with the others"), (choice.absent, "are not there at present")):
        if names:
            _log.warning("%s: packages that %s, and are left out: %s", release, why, ", ".join(names))
    libraries = apt.closure([name for name in choice.libraries if name in kept], _BASE_PACKAGES)
    beside = {name for name in (*choice.tools, *choice.development) if name in kept}
    others = {package.name: package for package in apt.candidates({*beside, choice.version})}
    # `5.2.3` of `5.2.3-8`
    version = re.sub(r"^\d+:|-[^-]*$|\+(dfsg|ds)[^-]*", "", others[choice.version].version)
    return Packages(release, sorted({*libraries, *(others[name] for name in beside)}), version)


def _choice(apt: Apt, release: Release, names: tuple[str, ...]) -> Choice:
    """Return the chosen packages, with the dependencies of their -dev packages.

    The errors are the same as for `choose`.
    """
    available = apt.available(named(release, apt.names()))
    choice = choose(release, names, available)
    while names:
        more = required(release, choice.development, apt.depends(choice.development)).difference(names)
        if not more:
            break
        names = (*names, *sorted(more))
        choice = choose(release, names, available)
    return choice


def _release_of_this_system() -> Release:
    """Return the release of this system.

    Raise PackagingError if the release is not known.
    """
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    is_debian = system.get("ID") == "debian"
    if is_debian and (release := release_with_codename(system.get("VERSION_CODENAME", ""))) is not None:
        return release
    name = system.get("PRETTY_NAME", "a system without /etc/os-release")
    raise PackagingError(f"this is {name}, whose packages of ROCm are not known", known_releases())


def _checked(version: str) -> str:
    """Return the version.

    Raise PackagingError if the version is not in the form that PEP 440 prefers.
    """
    try:
        canonical = str(Version(version))
    except InvalidVersion as error:
        raise PackagingError(f"{version}: not a version of a Python package", "give one: --version 5.2.3") from error
    if version != canonical:
        raise PackagingError(f"{version}: not in the canonical form", f"write it {canonical}")
    return version


def _build(
    apt: Apt,
    packages: Packages,
    wish: PrefixWish,
    rules: Rules,
    make: Callable[[Assignment], list[Path]] = make_wheels,
) -> list[Path]:
    _log.info("downloading and unpacking the packages of %s", packages.release)
    roots = tuple(apt.unpack(packages.found).values())
    wish = wish._replace(packages=wish.packages._replace(artifacts=roots), is_complete=True)
    return prefix.build(wish, rules, make)


def _made_before(note: Path, output: Path, key: str) -> list[Path]:
    """Return the packages, if an earlier run has made all of them with this key, as its note says, or []."""
    try:
        paths = [output / name for name in note.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []
    is_whole = all(path.is_file() and (path.suffix != ".whl" or wheel_key(path) == key) for path in paths)
    return paths if is_whole else []


def _key(packages: Packages, wish: PrefixWish, rules: Path | None) -> str:
    """Return a digest of everything that the result depends on: packages, choices, tools and this code."""
    names = [package.store_name for package in packages.found]
    places = wish.packages._replace(output=Path(), dist=None, jobs=0, is_checked=True, brings_loader=False)
    choices = repr(wish._replace(packages=places))
    table = rules.read_text(encoding="utf-8") if rules is not None else ""
    inputs = [names, choices, packages.version, table, checked_tag(None), given_date(), program_digest()]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


@contextmanager
def _locked(source: Source) -> Iterator[None]:
    make_own(source.cache)
    make_own(source.directory)
    with held(_PURPOSE, f"{source.directory}/lock", _LOCK_SECONDS, _log.info):
        yield

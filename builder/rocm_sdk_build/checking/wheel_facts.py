"""The facts that a wheel states about itself, and the check that its texts agree."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from email.parser import BytesParser
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk_build.base.damaged import package_damage, read_small, refusing_damage
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheel_name import wheel_name
from rocm_sdk_build.output.package_files import PackageFile
from rocm_sdk_build.packages.sbom import read_sbom, sbom_name

# The lines of `_dist_info.py` that are the same in all packages of an SDK.
_SHARED = re.compile(
    r"((AVAILABLE|LINUX|WINDOWS)_TARGET_FAMILIES\.append\(.*\)|(PY_PACKAGE_SUFFIX_NONCE|DEFAULT_TARGET_FAMILY) = .*)"
)
_AVAILABLE = re.compile(r"AVAILABLE_TARGET_FAMILIES\.append\((['\"])(.*)\1\)")


class WheelFacts(NamedTuple):
    """The facts that METADATA, WHEEL and the module of a wheel state."""

    metadata: bytes
    platform: str  # the platform of the wheel's tag
    shared: tuple[str, ...] | None  # lines that all packages of its SDK have; None: no module
    inputs: Mapping[str, str]  # SHA-256 of the artifacts in its bill of materials

    @property
    def families(self) -> tuple[str, ...]:
        """The families that the SDK is for, according to the module."""
        return tuple(found[2] for line in self.shared or () if (found := _AVAILABLE.fullmatch(line)))


def read_facts(package: PackageFile) -> WheelFacts:
    """Return the facts of a wheel.

    Raise PackagingError for a damaged wheel, and for a wheel that states another name, version or tag than its file's
    name.
    """
    path = package.path
    name = wheel_name(path)
    info = f"{name.base}-{name.version}.dist-info"
    with (
        refusing_damage(package_damage(path)),
        path.open("rb") as stream,
        open_zip(str(path), stream) as archive,
    ):
        metadata, wheel = (_read(archive, f"{info}/{text}", path) for text in ("METADATA", "WHEEL"))
        headers, about = BytesParser().parsebytes(metadata), BytesParser().parsebytes(wheel)
        told = (canonicalize_name(str(headers["Name"])), str(headers["Version"]))
        if told != (package.project, package.version):
            raise PackagingError(f"{path}: its METADATA is of {' '.join(told)}")
        tags = list(map(str, about.get_all("Tag", ())))
        if name.tag not in tags:
            raise PackagingError(f"{path}: its WHEEL has the tag {', '.join(tags) or 'of nothing'}")
        modules = [each for each in archive.namelist() if re.fullmatch(r"[^/_][^/]*/_dist_info\.py", each)]
        shared = None
        for module in modules:
            lines = _read(archive, module, path).decode("utf-8").splitlines()
            shared = tuple(line for line in lines if _SHARED.fullmatch(line))
        return WheelFacts(metadata, name.platform, shared, _inputs(archive, info, package))


def _inputs(archive: zipfile.ZipFile, info: str, package: PackageFile) -> Mapping[str, str]:
    """Return the digests of artifacts, or {} if there is no bill of materials: other packagers write none."""
    name = f"{info}/{sbom_name(package.project)}"
    if name not in archive.namelist():
        return {}
    found = read_sbom(_read(archive, name, package.path))
    if (canonicalize_name(found.distribution), found.version) != (package.project, package.version):
        raise PackagingError(f"{package.path}: its {name} is of {found.distribution} {found.version}")
    return found.digests


def _read(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    if name not in archive.namelist():
        raise PackagingError(f"{path}: has no {name}")
    with archive.open(name) as member:
        return read_small(member)

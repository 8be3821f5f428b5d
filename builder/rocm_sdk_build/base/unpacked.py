"""The contents of packages in directories: in place of packages (`--no-build-packages`), or for changes."""

from __future__ import annotations

import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk_build.base.damaged import package_damage, refusing_damage
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.members import unpack as unpack_members
from rocm_sdk_build.base.own_directory import refuse_unknown, replace_directory
from rocm_sdk_build.base.wheel_name import wheel_name

_PLATFORM, _MODULE = "platform", "src"
_OURS = re.compile(rf"{_PLATFORM}|{_MODULE}|.*\.(dist-info|data)")


def unpack(package: Path, parent: Path, scratch: Path) -> Path:
    """Write the content of a package to a directory with its distribution's name below `parent`; return the directory.

    A platform directory goes to `platform`, a module to `src`, as the established packager stages them. `scratch` is a
    directory of the same file system, in which the new directory is made.

    The files of an earlier run are replaced; raise PackagingError if something else is there.
    """
    directory = parent / wheel_name(package).project
    refuse_unknown(directory)
    fresh = Path(tempfile.mkdtemp(dir=scratch)) / "new"
    with refusing_damage(package_damage(package)):
        for name, source, mode in _members(package):
            target = fresh / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(source, file)
            target.chmod(mode)
    replace_directory(fresh, directory)
    return directory


def unpack_wheel(wheel: Path, site: Path) -> bool:
    """Write the content of a wheel to the new directory `site`, as `members_of` takes it.

    Return whether the wheel was deflated. Raise PackagingError for a damaged wheel, and if there is no room.
    """

    def refuse(what: str) -> PackagingError:
        return PackagingError(f"{wheel}: {what}", "get the package from where it was made")

    def no_room(size: int, free: int) -> PackagingError:
        what = f"{site.parent}: has {free} bytes free, and the members of {wheel} take {size}"
        return PackagingError(what, "make room there, or name another place")

    with refusing_damage(package_damage(wheel)), wheel.open("rb") as stream, open_zip(str(wheel), stream) as archive:
        for member, place in unpack_members(archive, str(site), refuse, no_room):
            if not member.is_dir():
                Path(place).chmod(0o755 if member.external_attr >> 16 & 0o100 else 0o644)
        return any(each.compress_type == zipfile.ZIP_DEFLATED for each in archive.infolist())


def _members(package: Path) -> Iterator[tuple[str, IO[bytes], int]]:
    """Yield the name in the directory, the content and the mode of each member."""
    if package.suffix != ".whl":
        with tarfile.open(package) as archive:
            for each in archive:
                if (file := archive.extractfile(each)) is not None:
                    yield each.name.partition("/")[2], file, 0o644
        return
    with zipfile.ZipFile(package) as wheel:
        for member in wheel.infolist():
            with wheel.open(member) as source:
                yield _place(member.filename), source, member.external_attr >> 16 & 0o777


def _place(name: str) -> str:
    top = name.partition("/")[0]
    if top.startswith("_"):
        return f"{_PLATFORM}/{name}"
    return name if _OURS.fullmatch(top) else f"{_MODULE}/{name}"

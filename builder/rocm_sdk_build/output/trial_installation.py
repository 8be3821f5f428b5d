"""The test of wheels by an installation: each is read back, all are installed together and tested there."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import shutil
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from rocm_sdk.base.processes import module_command, run
from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk.installed.record import digest_text, parse_record
from rocm_sdk_build.base.damaged import package_damage, read_small, refusing_damage
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.members import wrong_member, wrong_size
from rocm_sdk_build.base.wheel_name import wheel_name

_CHUNK = 1 << 20
_WITHOUT_LOADING, _FILES = "packages,files", "files"
_CORE = "rocm-sdk-core"


def prove(wheels: Iterable[Path], site: Path) -> None:
    """Install the wheels in the new directory `site` and test them there.

    From several wheels of one project, for families of their own, the first is installed; all are read back. Raise
    PackagingError, which says what is wrong.
    """
    installed = Site(site)
    projects: set[str] = set()
    for wheel in wheels:
        project = wheel_name(wheel).project
        if project in projects:
            read_back(wheel)
        else:
            installed.add(wheel)
        projects.add(project)
    installed.test()


class Site:
    """A directory like site-packages, in which each file has one owner."""

    def __init__(self, directory: Path) -> None:
        """Make `directory`, which must be new."""
        directory.mkdir()
        self.directory = directory
        self._owners: dict[str, Path] = {}  # also of wheels that were removed again
        self._wheels: dict[Path, list[str]] = {}

    def add(self, wheel: Path) -> list[Path]:
        """Install a wheel; return its files.

        Raise PackagingError if the wheel differs from RECORD, or another wheel has one of its files.
        """
        names = read_back(wheel, self.directory, self._owners)
        self._wheels[wheel] = names
        return [self.directory / name for name in names]

    def remove(self, wheel: Path) -> None:
        """Remove the files of a wheel that was installed, and the directories that are empty then."""
        names = self._wheels.pop(wheel)
        for name in names:
            (self.directory / name).unlink()
        parents = {parent for name in names for parent in Path(name).parents} - {Path()}
        for parent in sorted(parents, reverse=True):
            with suppress(OSError):  # another wheel has files in it
                (self.directory / parent).rmdir()

    def test(self) -> None:
        """Test the installed wheels.

        Nothing is loaded if a wheel is for another machine than this. Without core only the files are checked. Raise
        PackagingError, which says what is wrong.
        """
        names = [*map(wheel_name, self._wheels)]
        is_native = all(each.platform == "any" or each.platform.endswith(f"_{platform.machine()}") for each in names)
        has_core = any(each.project == _CORE for each in names)
        self._test("" if has_core and is_native else _WITHOUT_LOADING if has_core else _FILES)

    def _test(self, only: str) -> None:
        words = ["test", "--target", str(self.directory), "--json", *(["--only", only] if only else [])]
        done = run(module_command("rocm_sdk", *words))
        try:
            problems = json.loads(done.stdout)["problems"]
        except (ValueError, KeyError) as error:
            raise PackagingError(f"the packages cannot be tested: {done.stderr.strip() or done.returncode}") from error
        wrong = [each for each in problems if each["severity"] == "error"]
        if wrong:
            lines = [f"{each['code']}  {each['title']}\n  cause: {self._in_wheels(each['cause'])}" for each in wrong]
            codes = dict.fromkeys(each["code"] for each in wrong)
            more = " && ".join(f"rocm-sdk explain {code}" for code in codes)
            fix = f"correct the files, or add what they need, and make the packages again  # {more}"
            raise PackagingError("\n".join(["the packages do not work where they are installed:", *lines]), fix)

    def _in_wheels(self, text: str) -> str:
        """Return the text with the places of files in their wheels, since the directory is removed after the test."""
        places = "|".join(re.escape(place) for place in {str(self.directory), os.path.realpath(self.directory)})

        def place_of(found: re.Match[str]) -> str:
            wheel = self._owners.get(found[1])
            return f"{wheel.name}: {found[1]}" if wheel is not None else found[1]

        return re.sub(rf"(?:{places})/([^\s:;,]+)", place_of, text)


def read_back(wheel: Path, site: Path | None = None, owners: dict[str, Path] | None = None) -> list[str]:
    """Compare each file with RECORD, and write the file to the site; return the names.

    `owners` has the wheel of each path, for all wheels that are installed together. Raise PackagingError, before
    anything is written, if the wheel's list of members is not sound; otherwise at the first file that is wrong.
    """
    again = "make or get the package again"
    with (
        refusing_damage(package_damage(wheel)),
        wheel.open("rb") as stream,
        open_zip(str(wheel), stream) as archive,
        ThreadPoolExecutor(1) as pool,
    ):
        members = archive.infolist()
        if wrong := wrong_member(archive) or wrong_size(archive):
            raise PackagingError(f"{wheel}: {wrong}", again)
        if site is not None and sum(member.file_size for member in members) > shutil.disk_usage(site).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(site))
        records = [each for each in members if each.filename.endswith(".dist-info/RECORD")]
        if len(records) != 1:
            raise PackagingError(f"{wheel}: has {len(records)} files RECORD", again)
        with archive.open(records[0]) as file:
            listed = parse_record(read_small(file))
        rows = {row.path: (row.digest, row.size) for row in listed}
        if sorted(row.path for row in listed) != sorted(each.filename for each in members):
            raise PackagingError(f"{wheel}: RECORD does not list its files", again)
        if owners is not None:
            for member in members:
                _own(member.filename, wheel, owners)
        for member in members:
            is_record = member is records[0]
            if not is_record and str(member.file_size) != rows[member.filename][1]:
                raise PackagingError(f"{wheel}: {member.filename} is not what RECORD says: it has another size", again)
            found = _read_member(archive, member, site, pool)
            if not is_record and found != rows[member.filename]:
                raise PackagingError(f"{wheel}: {member.filename} is not what RECORD says", again)
        return [member.filename for member in members]


def _own(name: str, wheel: Path, owners: dict[str, Path]) -> None:
    """Note the owner of a file and of its directories, which have a slash at their end.

    Raise PackagingError if another wheel has the path, or the path is a file in one wheel and a directory in another.
    """
    for directory in accumulate(f"{part}/" for part in name.split("/")[:-1]):
        path = directory.removesuffix("/")
        _refuse_two(path, wheel, owners.get(path, wheel))
        owners.setdefault(directory, wheel)
    _refuse_two(name, wheel, owners.get(f"{name}/", wheel))
    _refuse_two(name, wheel, owners.setdefault(name, wheel))


def _refuse_two(path: str, wheel: Path, other: Path) -> None:
    if other != wheel:
        raise PackagingError(f"{wheel} and {other} both have {path}", "leave one of them out")


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, site: Path | None, pool: ThreadPoolExecutor
) -> tuple[str, str]:
    """Return digest and size of a member, as RECORD has them.

    `pool` hashes and writes while this thread decompresses.
    """
    digest, size = hashlib.sha256(), 0
    target = Path(os.devnull) if site is None else site / member.filename
    if site is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("wb") as file:

        def take(chunk: bytes) -> None:
            digest.update(chunk)
            file.write(chunk)

        taken = pool.submit(take, b"")
        while chunk := source.read(_CHUNK):
            taken.result()
            taken = pool.submit(take, chunk)
            size += len(chunk)
        taken.result()
    if site is not None:
        target.chmod(member.external_attr >> 16 & 0o777)
    return digest_text(digest), str(size)

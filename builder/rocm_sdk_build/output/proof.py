"""Checks wheels before they get their names: each is read back, all are installed together and tested there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocm_sdk.installed.record import digest_text, parse_record
from rocm_sdk_build.errors import PackagingError

_CHUNK = 1 << 20
_WITHOUT_LOADING, _FILES = "packages,files", "files"
_CORE = "rocm_sdk_core"


def prove(wheels: Iterable[Path], site: Path) -> None:
    """Installs the wheels in the new directory `site` and tests what is there. PackagingError says what is wrong.

    Of several wheels of one project, for families of their own, the first is installed; all are read back. Nothing is
    loaded if the wheels are for another machine than this. Without core only the files are checked.
    """
    site.mkdir()
    owners: dict[str, Path] = {}
    projects: set[str] = set()
    is_native = True
    for wheel in wheels:
        project = wheel.name.partition("-")[0]
        _read_back(wheel, site if project not in projects else None, owners)
        projects.add(project)
        is_native = is_native and wheel.stem.endswith((f"_{platform.machine()}", "-any"))
    _test(site, "" if _CORE in projects and is_native else _WITHOUT_LOADING if _CORE in projects else _FILES)


def _read_back(wheel: Path, site: Path | None, owners: dict[str, Path]) -> None:
    """Compares each file with RECORD, and writes it to the site."""
    with zipfile.ZipFile(wheel) as archive, ThreadPoolExecutor(1) as pool:
        members = archive.infolist()
        (record,) = (each for each in members if each.filename.endswith(".dist-info/RECORD"))
        rows = {row.path: (row.digest, row.size) for row in parse_record(archive.read(record))}
        if sorted(rows) != sorted(each.filename for each in members):
            raise PackagingError(f"{wheel.name}: RECORD does not list its files")
        for member in members:
            found = _read_member(archive, member, site, pool)
            if member is not record and found != rows[member.filename]:
                raise PackagingError(f"{wheel.name}: {member.filename} is not what RECORD says")
            if site is not None and (other := owners.setdefault(member.filename, wheel)) != wheel:
                raise PackagingError(f"{wheel.name} and {other.name} both have {member.filename}")


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, site: Path | None, pool: ThreadPoolExecutor
) -> tuple[str, str]:
    """Digest and size, as RECORD has them. pool: hashes and writes while this thread decompresses."""
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


def _test(site: Path, only: str) -> None:
    command = [sys.executable, "-m", "rocm_sdk", "test", "--target", str(site), "--json"]
    command += ["--only", only] if only else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        problems = json.loads(done.stdout)["problems"]
    except (ValueError, KeyError) as error:
        raise PackagingError(f"the packages cannot be tested: {done.stderr.strip() or done.returncode}") from error
    wrong = [each for each in problems if each["severity"] == "error"]
    if wrong:
        lines = [f"{each['code']}  {each['title']}\n  cause: {each['cause']}" for each in wrong]
        found = "\n".join(lines).replace(f"{site}/", "")
        codes = dict.fromkeys(each["code"] for each in wrong)
        fix = " && ".join(f"rocm-sdk explain {code}" for code in codes)
        raise PackagingError(f"the packages do not work where they are installed:\n{found}", fix)

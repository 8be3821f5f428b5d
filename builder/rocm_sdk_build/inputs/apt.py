"""Asks apt for Debian packages, downloads and unpacks them, without root and without changing the system's state.

apt keeps its lists, caches and locks below a directory of ours; sources, keys and proxies are the system's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from rocm_sdk_build.errors import PackagingError


class DebianPackage(NamedTuple):
    """The version of a package that apt would install, and the file that holds it."""

    name: str
    version: str
    filename: str
    digest: str

    @property
    def store_name(self) -> str:
        """Names the package's content: unlike the file's name, never the same for two different files."""
        return f"{self.filename.removesuffix('.deb')}-{self.digest.rpartition(':')[2][:16]}"


class Apt:
    """apt with its state below `directory`, which holds afterwards `lists/`, `debs/` and `unpacked/`."""

    def __init__(self, directory: Path) -> None:
        missing = [program for program in ("apt-get", "apt-cache", "dpkg-deb") if shutil.which(program) is None]
        if missing:
            raise PackagingError(
                f"{', '.join(missing)}: not found on PATH",
                "packages from Debian can be made only on Debian or a system derived from it",
            )
        self._directory = directory.absolute()
        self._updated = self._directory / "lists-complete"
        for name in ("lists/partial", "archives/partial", "debs", "unpacked"):
            (self._directory / name).mkdir(parents=True, exist_ok=True)
        for leftover in self._directory.glob("*/.partial-*"):
            shutil.rmtree(leftover)

    def closure(self, roots: Iterable[str], without: Iterable[str]) -> list[DebianPackage]:
        """`roots` and everything they depend on, except the packages `without` and what only those need; by name.

        Reads the package lists over the network when there are none yet. PackagingError if apt knows no such package.
        """
        roots, excluded = list(roots), set(without)
        if not self._updated.exists():
            self._read_lists(roots)
        depends = self._depends(roots)
        reached, pending = set[str](), roots
        while pending:
            name = pending.pop()
            if name not in reached and name not in excluded:
                reached.add(name)
                pending += depends.get(name, ())
        return self.candidates(reached)

    def unpack(self, packages: Iterable[DebianPackage]) -> dict[DebianPackage, Path]:
        """The directory of each package's files; downloads and unpacks only those that are not there yet."""
        packages = list(packages)
        missing = [package for package in packages if not self._unpacked(package).exists()]
        self._download([package for package in missing if not self._deb(package).exists()])
        for package in missing:
            with tempfile.TemporaryDirectory(prefix=".partial-", dir=self._directory / "unpacked") as partial:
                _run(["dpkg-deb", "--extract", str(self._deb(package)), f"{partial}/files"])
                Path(partial, "files").rename(self._unpacked(package))
        return {package: self._unpacked(package) for package in packages}

    def _deb(self, package: DebianPackage) -> Path:
        return self._directory / "debs" / f"{package.store_name}.deb"

    def _unpacked(self, package: DebianPackage) -> Path:
        return self._directory / "unpacked" / package.store_name

    def _download(self, packages: list[DebianPackage]) -> None:
        if not packages:
            return
        command = self._apt("apt-get", "download", *(f"{package.name}={package.version}" for package in packages))
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=self._directory / "debs") as partial:
            try:
                _run(command, partial)
            except PackagingError as error:
                self._updated.unlink(missing_ok=True)
                error.fix = "a version may have been replaced since the package lists were read: run this again"
                raise
            for package in packages:
                Path(partial, package.filename).rename(self._deb(package))

    def _read_lists(self, roots: list[str]) -> None:
        """Fetches the package lists. A source that fails does not matter if the others know `roots`."""
        complaint = ""
        try:
            _run(self._apt("apt-get", "update"))
        except PackagingError as error:
            complaint = f" ({error})"
        try:
            self.candidates(roots)
        except PackagingError as error:
            raise PackagingError(
                f"{error}{complaint}", "Debian 12 has these packages: see that apt's sources name it and can be reached"
            ) from error
        self._updated.touch()

    def candidates(self, names: Iterable[str]) -> list[DebianPackage]:
        """The packages of these names alone; by name. PackagingError if apt knows no such package."""
        output = _run(self._apt("apt-get", "download", "--print-uris", *sorted(names)))
        packages = []
        for line in output.splitlines():
            _, filename, _, digest = line.split()
            name, version, _ = filename.split("_")
            packages.append(DebianPackage(name, unquote(version), filename, digest))
        return sorted(packages)

    def _depends(self, roots: list[str]) -> dict[str, list[str]]:
        """Package -> names in its Depends; all alternatives, since the files decide what is used."""
        depends: dict[str, list[str]] = {}
        for line in _run(self._apt("apt-cache", "depends", "--recurse", "--important", *roots)).splitlines():
            if not line.startswith(" "):
                name = line.strip()
                depends[name] = []
            elif "<" not in line:
                depends[name].append(line.split()[-1])
        return depends

    def _apt(self, program: str, *arguments: str) -> list[str]:
        options = {
            "Dir::State": self._directory,
            "Dir::State::lists": "lists/",
            "Dir::Cache": self._directory,
            "Dir::Cache::archives": "archives/",
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Acquire::Languages": "none",
            "APT::Sandbox::User": "root",  # the user _apt need not be able to write here
        }
        return [program, "-qq", *(f"-o{name}={value}" for name, value in options.items()), *arguments]


def _run(command: list[str], directory: str | None = None) -> str:
    """Standard output of a command; PackagingError with its error output if it fails."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if result.returncode:
        words = [line for line in result.stderr.splitlines() if not line.startswith("W:")] or [
            f"exit code {result.returncode}"
        ]
        raise PackagingError(f"{command[0]}: {'; '.join(line.removeprefix('E: ') for line in words)}")
    return result.stdout

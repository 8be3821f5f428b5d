"""The use of apt to find, download and unpack Debian packages, without root and without changes to the system.

apt keeps its lists, caches and locks below one of our directories. Sources, keys and proxies are the system's, or the
sources are those of one release. It does not matter which packages are installed on the system.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from rocm_sdk.base.processes import find_program, run
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.terminal.progress import waiting, with_progress
from rocm_sdk_build.base.errors import PackagingError

_MIRROR = "http://deb.debian.org/debian"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_INSTALLED_SIZE = re.compile(r"^Installed-Size: (\d+)$", re.MULTILINE)  # KiB
_CANDIDATE = re.compile(r"^(\S+):\n  Installed: .*\n  Candidate: (.*)$", re.MULTILINE)
_KEPT = "the packages that are complete stay in the cache"  # after Ctrl-C
_INSTALLED = re.compile(r"^Inst (\S+) ", re.MULTILINE)
_UNMET = "The following packages have unmet dependencies:\n"  # start of a text on standard output that names the needs


class UnmetError(PackagingError):
    """The error for packages that exclude each other, or need packages that no source has."""


class DebianPackage(NamedTuple):
    """The version of a package that apt would install, and the file that holds it."""

    name: str
    version: str
    filename: str
    digest: str
    size: int  # bytes of the file

    @property
    def store_name(self) -> str:
        """The name of the package's content: unlike the file's name, never the same for two different files."""
        return f"{self.filename.removesuffix('.deb')}-{self.digest.rpartition(':')[2][:16]}"


class Apt:
    """The program apt with its state below `directory`, which holds afterwards `lists/`, `debs/` and `unpacked/`."""

    def __init__(self, directory: Path, suite: str | None = None, mirror: str | None = None) -> None:
        """Prepare the directory, and remove leftovers of runs that were killed.

        `suite` is the release from which packages come, at `mirror` (None: Debian's); None stands for the sources of
        the system. Raise PackagingError if programs or keys of Debian are missing.
        """
        missing = [program for program in ("apt-get", "apt-cache", "dpkg-deb") if find_program(program) is None]
        if missing:
            raise PackagingError(
                f"{', '.join(missing)}: not found on PATH",
                "packages from Debian can be made only on Debian or a system derived from it",
            )
        self._directory = directory.absolute()
        self._suite = suite
        self._updated = self._directory / "lists-complete"
        for name in ("lists/partial", "archives/partial", "debs", "unpacked"):
            (self._directory / name).mkdir(parents=True, exist_ok=True)
        for leftover in self._directory.glob("*/.partial-*"):
            shutil.rmtree(leftover)
        (self._directory / "status").write_text("", encoding="utf-8")  # nothing is installed
        if suite is not None:
            if not _KEYRING.exists():
                raise PackagingError(
                    f"{_KEYRING}: there is no such file: the keys of Debian's releases are needed",
                    "apt-get install debian-archive-keyring",
                )
            source = f"deb [signed-by={_KEYRING}] {mirror or _MIRROR} {suite} main\n"
            sources = self._directory / "sources.list"
            if not sources.exists() or sources.read_text(encoding="utf-8") != source:
                self._updated.unlink(missing_ok=True)  # the lists are another mirror's
                sources.write_text(source, encoding="utf-8")

    def update(self) -> str:
        """Read the package lists over the network, unless lists are confirmed; return the complaint of apt, or "".

        A source that fails does not matter if the others have all that is needed.
        """
        if not self._updated.exists():
            try:
                _run(self._apt("apt-get", "update", "-oAPT::Update::Error-Mode=any"))
            except PackagingError as error:
                return f" ({error})"
        return ""

    def names(self) -> list[str]:
        """Return the names of all packages, including those that others only mention."""
        return _run(self._apt("apt-cache", "pkgnames")).split()

    def confirm_lists(self) -> None:
        """Confirm that the lists have all that is needed, so that later runs use them."""
        self._updated.touch()

    def available(self, names: Sequence[str]) -> list[str]:
        """Return the names that stand for a package that can be downloaded."""
        said = _run(self._apt("apt-cache", "policy", *names)) if names else ""
        return [name for name, candidate in _CANDIDATE.findall(said) if candidate != "(none)"]

    def together(self, names: Sequence[str]) -> list[str]:
        """Return the names that can be installed together; of names that exclude each other, the first."""
        kept: list[str] = []

        def keep(rest: Sequence[str]) -> None:
            try:
                self._install([*kept, *rest])
            except UnmetError:
                if len(rest) > 1:
                    keep(rest[: len(rest) // 2])
                    keep(rest[len(rest) // 2 :])
            else:
                kept.extend(rest)

        keep(names)
        return kept

    def closure(self, roots: Sequence[str], without: Iterable[str]) -> list[DebianPackage]:
        """Return `roots` and all packages that they need; by name.

        The packages `without`, and packages that only these need, are left out. The package lists are read if need be.
        Raise UnmetError if the roots cannot be installed together.
        """
        complaint = self.update()
        try:
            installed = self._install(roots)
        except UnmetError as error:
            what = f"apt cannot install {', '.join(roots)} together: {error}{complaint}"
            raise UnmetError(what, "see that apt's sources have all that they need and can be reached") from error
        self.confirm_lists()
        excluded = set(without)
        depends = self.depends(roots)
        reached, pending = set[str](), list(roots)
        while pending:
            name = pending.pop()
            if name in installed and name not in reached and name not in excluded:
                reached.add(name)
                pending += depends.get(name, ())
        return self.candidates(reached)

    def unpack(self, packages: Iterable[DebianPackage]) -> dict[DebianPackage, Path]:
        """Return the directory of each package's files; download and unpack only packages that are not there yet."""
        packages = list(packages)
        missing = [package for package in packages if not self._unpacked(package).exists()]
        self._refuse_without_room(missing)
        self._download([package for package in missing if not self._deb(package).exists()])
        for package in with_progress("unpacking packages", missing, len(missing), _KEPT, lambda each: each.name):
            with tempfile.TemporaryDirectory(prefix=".partial-", dir=self._directory / "unpacked") as partial:
                _run(["dpkg-deb", "--extract", str(self._deb(package)), f"{partial}/files"])
                Path(partial, "files").rename(self._unpacked(package))
        return {package: self._unpacked(package) for package in packages}

    def forget(self, packages: Iterable[DebianPackage]) -> None:
        """Remove the unpacked files; the next `unpack` needs no download for them."""
        for package in packages:
            shutil.rmtree(self._unpacked(package), ignore_errors=True)

    def _install(self, names: Sequence[str]) -> set[str]:
        """Return the packages that apt would install for these names, on a system without any package.

        Raise UnmetError if the packages prevent it, and PackagingError if apt, as it is set up, cannot install
        anything.
        """
        command = self._apt("apt-get", "--quiet=1", "install", "--simulate", "--no-install-recommends")
        try:
            said = _run([*command, *names])
        except PackagingError as error:
            _run(command)  # error texts differ between versions; without packages, they are not the cause
            raise UnmetError(str(error)) from error
        return set(_INSTALLED.findall(said))

    def _refuse_without_room(self, packages: Sequence[DebianPackage]) -> None:
        """Raise PackagingError if the files of packages, downloaded and unpacked, are larger than the free space."""
        if not packages:
            return
        names = [f"{package.name}={package.version}" for package in packages]
        said = _run(self._apt("apt-cache", "show", "--no-all-versions", *names))
        need = sum(int(size) << 10 for size in _INSTALLED_SIZE.findall(said))
        need += sum(package.size for package in packages if not self._deb(package).exists())
        free = shutil.disk_usage(self._directory).free
        if need > free:
            raise PackagingError(
                f"{self._directory}: has {size_text(free)} free; {len(packages)} packages need {size_text(need)} there",
                "name a directory on a larger disk with --cache, or fewer packages with --packages",
            )

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
                with waiting(f"downloading {counted(len(packages), 'package')}", left=_KEPT):
                    _run(command, partial)
            except PackagingError as error:
                self._updated.unlink(missing_ok=True)
                error.fix = "a version may have been replaced since the package lists were read: run this again"
                raise
            for package in packages:
                Path(partial, package.filename).rename(self._deb(package))

    def candidates(self, names: Iterable[str]) -> list[DebianPackage]:
        """Return only the packages with these names; by name.

        Raise PackagingError if apt knows no such package.
        """
        output = _run(self._apt("apt-get", "download", "--print-uris", *sorted(names)))
        packages = []
        for line in output.splitlines():
            _, filename, size, digest = line.split()
            name, version, _ = filename.split("_")
            packages.append(DebianPackage(name, unquote(version), filename, digest, int(size)))
        return sorted(packages)

    def depends(self, roots: Sequence[str]) -> dict[str, list[str]]:
        """Return the names in the Depends of each package, all alternatives: of roots, and of their dependencies."""
        depends: dict[str, list[str]] = {}
        for line in _run(self._apt("apt-cache", "depends", "--recurse", "--important", *roots)).splitlines():
            if not line.startswith(" "):
                name = line.strip()
                depends[name] = []
            elif "<" not in line:
                depends[name].append(line.split()[-1])
        return depends

    def _apt(self, program: str, *arguments: str) -> list[str]:
        options: dict[str, str | Path] = {
            "Dir::State": self._directory,
            "Dir::State::lists": "lists/",
            "Dir::State::status": self._directory / "status",
            "Dir::Cache": self._directory,
            "Dir::Cache::archives": "archives/",
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Acquire::Languages": "none",
            "APT::Sandbox::User": "root",  # the user _apt need not be able to write to the directory
        }
        if self._suite is not None:
            options |= {
                "Dir::Etc::sourcelist": self._directory / "sources.list",
                "Dir::Etc::sourceparts": "/dev/null",
                "Dir::Etc::preferences": "/dev/null",
                "Dir::Etc::preferencesparts": "/dev/null",
                "APT::Default-Release": "",
            }
        return [program, "-qq", *(f"-o{name}={value}" for name, value in options.items()), *arguments]


def _run(command: list[str], directory: str | None = None) -> str:
    """Return the standard output of a command.

    Raise PackagingError with the command's error output if the command fails.
    """
    result = run(command, variables={"LC_ALL": "C.UTF-8"}, directory=directory)
    if result.returncode:
        words = [line for line in result.stderr.splitlines() if not line.startswith("W:")] or [
            f"exit code {result.returncode}"
        ]
        words += result.stdout.partition(_UNMET)[2].splitlines()
        raise PackagingError(f"{command[0]}: {'; '.join(line.removeprefix('E: ').strip() for line in words)}")
    return result.stdout

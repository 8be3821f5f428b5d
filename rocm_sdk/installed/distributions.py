"""The distributions of the SDK in a site-packages directory, read from their `.dist-info` directories.

No file is trusted: sizes are bounded, only regular files are read, and the reason why a file cannot be used is a value,
`fault`.
"""

from __future__ import annotations

import os

from rocm_sdk.base.files import names_in, read_beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .record import RecordedFile

# The distributions of this project, which are not part of an SDK: this one, and the one that makes SDK packages.
LOADER = "rocm-sdk-loader"
BUILDER = "rocm-sdk-build"

_SEPARATORS = str.maketrans("_.", "--")
_PLACEHOLDER_VERSIONS = frozenset({"0.0.1.dev0", "0.0.1", "0.0.2", "0.1.0"})
_PLACEHOLDER_FILES = 2
_HEADER_LIMIT = 1 << 20  # bytes of METADATA that are read
_TEXT_LIMIT = 1 << 20  # bytes of each other file
_CLOSURE_NOTE = "closure.json"
_CLOSURE_COMMAND = "rocm-sdk-build closure "
_CLOSURE = "closure"  # the beginning of what a closure adds to the version of a package
_COMPARED = 1 << 20  # bytes: of smaller files the contents are compared, of larger ones only the sizes


class Distribution:
    """An installed distribution.

    name is normalised ("rocm-sdk-core"), spelling is the name as in METADATA, directory is the absolute path of the
    `.dist-info` directory. has_metadata is false while an installer adds or removes the distribution. RECORD is read
    when `files` or `fault` is first used.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        base = os.path.basename(directory).removesuffix(".dist-info")
        self.spelling, _, self.version = base.rpartition("-")
        self.name = normalised(self.spelling)
        self.has_metadata = True
        self._metadata_fault: str | None = None
        self._record: tuple[tuple[RecordedFile, ...], str | None] | None = None
        self._record_facts: os.stat_result | None = None
        self._texts: dict[str, bytes] = {}
        try:
            headers = dict(reversed(headers_of(read_beginning(f"{directory}/METADATA", _HEADER_LIMIT))))
        except OSError as error:
            self.has_metadata = not isinstance(error, FileNotFoundError)
            self._metadata_fault = f"{directory}/METADATA: {error.strerror}"
            return
        name, version = headers.get("name", ""), headers.get("version", "")
        if normalised(name) == self.name and _letters(version) == _letters(self.version):
            self.spelling, self.version = name, version
        else:
            self._metadata_fault = f"METADATA does not say {self.name} {self.version}, as the directory's name does"

    @property
    def record(self) -> str:
        """The path of RECORD, which may not exist."""
        return f"{self.directory}/RECORD"

    def read(self, name: str) -> bytes:
        """Return the beginning of a file beside METADATA, read once; empty if it cannot be read."""
        if name not in self._texts:
            try:
                self._texts[name] = read_beginning(f"{self.directory}/{name}", _TEXT_LIMIT)
            except OSError:
                self._texts[name] = b""
        return self._texts[name]

    @property
    def files(self) -> tuple[RecordedFile, ...]:
        """The files that RECORD lists; () if it cannot be read."""
        return self._files_and_fault[0]

    @property
    def record_facts(self) -> os.stat_result | None:
        """The result of fstat for RECORD before it was read; None if RECORD cannot be opened."""
        _ = self._files_and_fault
        return self._record_facts

    @property
    def fault(self) -> str | None:
        """The reason why METADATA or RECORD cannot be used; None if both can."""
        return self._metadata_fault or self._files_and_fault[1]

    @property
    def has_sdk_files(self) -> bool:
        """True if the distribution contains files of an SDK. The selector `rocm` and this package contain none."""
        return self.name.startswith(("rocm-sdk-", "rocm-profiler")) and self.name != LOADER

    @property
    def is_placeholder(self) -> bool:
        """True if it is one of the empty packages that the public index has under the names of the SDK.

        Such packages have one of a few versions, and at most a module's `__init__.py` without a platform directory.
        """
        if not is_placeholder_version(self.version) or not is_of_sdk(self.name) or self.name == LOADER:
            return False
        own = f"{os.path.basename(self.directory)}/"
        files = [file for file in self.files if not file.path.startswith(own) and not file.path.endswith(".pyc")]
        return len(files) <= _PLACEHOLDER_FILES and not any(file.path.startswith("_rocm") for file in files)

    @property
    def requirement(self) -> str:
        """The argument for pip that installs this very distribution, or the one from which a closure was made."""
        return f"{self.name}=={without_closure(self.version)}"

    @property
    def facts(self) -> dict[str, object]:
        """The facts that problems name."""
        return {"distribution": self.name, "version": self.version, "requirement": self.requirement}

    def unlike(self, core: Distribution) -> dict[str, object] | None:
        """Return the facts of E-PKG-002 if the package is not of core's version, post-releases aside; else None."""
        facts = self.facts | {"core_version": core.version, "requirement": f"{self.name}=={core.version}"}
        return None if same_release(self.version, core.version) else facts

    @property
    def closure(self) -> str | None:
        """The command that made this from a whole package (`rocm-sdk-build closure`); None if none did."""
        note = self.read(_CLOSURE_NOTE)
        if not note:
            return None
        import json  # here: most packages have no note

        try:
            command = str(json.loads(note)["command"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return command if command.startswith(_CLOSURE_COMMAND) and command.isprintable() else None

    @property
    def _files_and_fault(self) -> tuple[tuple[RecordedFile, ...], str | None]:
        if self._record is None:
            self._record = self._read_record()
        return self._record

    def _read_record(self) -> tuple[tuple[RecordedFile, ...], str | None]:
        from .record import read_record

        try:
            text = read_record(self.record)
            self._record_facts, files = text.facts, tuple(text.files())
        except OSError as error:
            return (), f"{self.record}: {error.strerror}"
        except ValueError as error:
            return (), f"RECORD is not valid text: {error}"
        if not any(file.path == f"{os.path.basename(self.directory)}/RECORD" for file in files):
            return files, "RECORD does not list itself: it is cut short, or another file"
        return files, None


def sdk_distributions(site: str) -> list[Distribution]:
    """Return the distributions of the SDK in `site`, ordered by directory.

    The selector `rocm` and this package are included.
    """
    bases = ((name, name_of_directory(name)) for name in names_in(site))
    return [
        Distribution(os.path.join(site, name))
        for name, base in bases
        if name.endswith(".dist-info") and is_of_sdk(base) and base != BUILDER
    ]


def name_of_directory(directory: str) -> str:
    """Return the normalised name of the distribution whose `.dist-info` directory has this name."""
    return normalised(directory.removesuffix(".dist-info").rpartition("-")[0])


def normalised(name: str) -> str:
    """Return the normalised spelling of a distribution's name (PEP 503)."""
    name = name.translate(_SEPARATORS).lower()
    while "--" in name:
        name = name.replace("--", "-")
    return name


def is_of_sdk(name: str) -> bool:
    """Return whether a normalised name is the name of a distribution of the SDK, of the selector or of this package."""
    return name in ("rocm", "rocm-sdk") or name.startswith(("rocm-sdk-", "rocm-profiler"))


def is_placeholder_version(version: str) -> bool:
    """Return whether the public index has an empty package of this version under a name of the SDK; no SDK has it."""
    return version in _PLACEHOLDER_VERSIONS


def same_release(one: str, other: str) -> bool:
    """Return whether two versions are equal, post-releases and closures aside."""
    return without_post_release(without_closure(one)) == without_post_release(without_closure(other))


def without_closure(version: str) -> str:
    """Return the version of the package from which a closure was made: 7.10.0 for 7.10.0+closure.gfx942."""
    public, _, local = version.partition("+")
    parts = local.split(".")
    if _CLOSURE not in parts:
        return version
    before = ".".join(parts[: parts.index(_CLOSURE)])
    return f"{public}+{before}" if before else public


def closure_targets(version: str) -> tuple[str, ...]:
    """Return the targets that a closure was made for, by its version; () for another package, and if it names none."""
    _, _, named = f".{version.partition('+')[2]}".partition(f".{_CLOSURE}.")
    found = tuple(named.split("."))
    return found if all(each.startswith("gfx") for each in found) else ()


def without_post_release(version: str) -> str:
    """Return a version without the first `.postN` in it."""
    import re

    return re.sub(r"\.post\d+", "", version, count=1)


def headers_of(data: bytes) -> list[tuple[str, str]]:
    """Return the headers of METADATA or WHEEL in file order, their names in lower case."""
    found: list[tuple[str, str]] = []
    for line in data.decode("utf-8", errors="replace").splitlines():
        if not line.strip():
            break
        name, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "\t")):
            found.append((name.lower(), value.strip()))
    return found


def _letters(version: str) -> str:
    """Return a version without its separators, which names of directories spell differently."""
    return "".join(each for each in version.lower() if each.isascii() and each.isalnum())


def without_twins(distributions: list[Distribution], site: str) -> tuple[list[Distribution], list[Distribution]]:
    """Return the distributions, one of each name, and the others with the same names, which match the files less."""
    by_name: dict[str, list[Distribution]] = {}
    for each in distributions:
        by_name.setdefault(each.name, []).append(each)
    kept = [
        found[0] if len(found) == 1 else max(found, key=lambda each: _fit(each, site)) for found in by_name.values()
    ]
    return kept, [each for each in distributions if each not in kept]


def _fit(each: Distribution, site: str) -> tuple[float, bool]:
    """Return which share of RECORD's files are there as it says, and whether the metadata has no fault.

    Files of the metadata itself do not count: they may be faultless.
    """
    own = f"{os.path.basename(each.directory)}/"
    files = [file for file in each.files if not file.path.startswith(own) and not file.path.endswith(".pyc")]
    share = sum(_is_as_recorded(file, site) for file in files) / len(files) if files and each.has_metadata else -1.0
    return share, each.fault is None


def _is_as_recorded(file: RecordedFile, site: str) -> bool:
    from .record import has_digest

    path = os.path.join(site, file.path)
    try:
        size = os.stat(path).st_size
        if file.size is not None and size != file.size:
            return False
        return size > _COMPARED or not file.digest or has_digest(path, file.digest)
    except (OSError, ValueError):
        return False

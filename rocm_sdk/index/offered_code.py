"""The GPUs for which an index's SDK has code, and its packages, as the index itself says.

Packages of `rocm-sdk-build` say it in `selector.json` of the source distribution `rocm`, and in `dist_info.json` of
rocm-sdk-core. Other packages say it in their names, closures in their version.
"""

from __future__ import annotations

import io
import json
import tarfile
import zlib
from typing import TYPE_CHECKING, Any

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.fit.code.tar_reader import TarReader
from rocm_sdk.installed.distributions import closure_targets, normalised

from .install_errors import InstallRefusedError
from .web.remote_file import NoPartsError
from .web.remote_wheel import file_in_wheel
from .web.server import Server, TooLargeError, UnreachedError, WebError
from .web.simple_index import files_of_project, projects_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .installer_answer import Answer
    from .request import Index
    from .web.simple_index import IndexedFile

DEVICE, FAMILY, WHOLE = "device", "family", "whole"
_DEVICE_PACKAGE, _LIBRARIES = "rocm-sdk-device-", "rocm-sdk-libraries"
_FAMILY = "{family}"  # in selector.json
_FACTS = "/share/therock/dist_info.json"
_SECONDS = 10  # of each request
_MOST_NAMES = 1000


class Offer(NamedTuple):
    """The form and the GPUs of an index's packages.

    kind: a package for each GPU (DEVICE) or family (FAMILY), or libraries with all code (WHOLE). names: the targets or
    families that the names of the packages end with.
    """

    kind: str
    names: tuple[str, ...]


def read_offer(index: Index, answer: Answer, wanted: Sequence[str]) -> Offer | str:
    """Return what the index offers of the release that an installer chose, or why that cannot be read.

    wanted: targets whose device packages the installer did not find. Raises InstallRefusedError if what the index says
    is damaged.
    """
    if targets := closure_targets(answer.packages["rocm"].version):
        return Offer(WHOLE, targets)
    if index.is_directory:
        return "only the installer reads a directory"
    try:
        server = Server(index.address, seconds=_SECONDS, tries=1)
        return _offer(server, answer, wanted) or f"{index.shown} does not say for which GPUs its libraries have code"
    except WebError as error:
        if error.status or isinstance(error, UnreachedError):
            return str(error)
        raise InstallRefusedError(str(error), error.fix or "ask those who run the index") from error


def offered_targets(index: Index, device: str) -> list[str] | None:
    """Return the targets for which an index has packages of a product, of any release; None if it cannot be read."""
    try:
        return _ends(projects_of(Server(index.address, seconds=_SECONDS, tries=1)), device)
    except WebError:
        return None


def _ends(names: Iterable[str], beginning: str) -> list[str]:
    return [name.removeprefix(beginning) for name in names if name.startswith(beginning)]


def _offer(server: Server, answer: Answer, wanted: Sequence[str]) -> Offer | str | None:
    version = answer.packages["rocm"].version
    name = f"rocm-{version}.tar.gz"
    source = next((each for each in files_of_project(server, "rocm") if each.name == name), None)
    text = file_in_source_archive(server, source, "selector.json") if source is not None else None
    if source is not None and text and (offer := _of_selector(_parsed(text, source), source)):
        return offer
    if families := _ends(answer.packages, f"{_LIBRARIES}-"):
        return Offer(FAMILY, tuple(families))
    try:
        devices = _ends(projects_of(server), _DEVICE_PACKAGE)
    except TooLargeError as error:
        return str(error)  # an index may list all of PyPI
    if devices:
        gone = {each for each in wanted if each in devices and not _wheel_of(server, _DEVICE_PACKAGE + each, version)}
        return Offer(DEVICE, tuple(each for each in devices if each not in gone))
    return _of_core(server, version)


def _wheel_of(server: Server, project: str, version: str) -> IndexedFile | None:
    files = files_of_project(server, project)
    return next((each for each in files if each.name.endswith(".whl") and each.name.split("-")[1:2] == [version]), None)


def _of_selector(document: Any, file: IndexedFile) -> Offer | None:
    """Return the offer that `selector.json` describes; None if it names no family."""
    names, extras = _names(document, "families", file), document.get("extras")
    lists = extras.values() if isinstance(extras, dict) else ()
    rows = [str(row) for each in lists if isinstance(each, list) for row in each]
    if not names:
        return None
    if any(row.startswith(_DEVICE_PACKAGE) for row in rows):
        return Offer(DEVICE, names)
    return Offer(FAMILY if any(row.startswith(f"{_LIBRARIES}-{_FAMILY}") for row in rows) else WHOLE, names)


def _of_core(server: Server, version: str) -> Offer | None:
    core = _wheel_of(server, "rocm-sdk-core", version)
    try:
        text = file_in_wheel(server, core, _FACTS) if core is not None else None
    except NoPartsError:
        return None
    if core is None or text is None:
        return None
    document = _parsed(text, core)
    targets = document.get("dist_amdgpu_targets") if isinstance(document, dict) else None
    names = _names({"targets": targets.split(";")}, "targets", core) if isinstance(targets, str) and targets else ()
    return Offer(WHOLE, names) if names else None


def _names(document: Any, key: str, file: IndexedFile) -> tuple[str, ...]:
    """Return names of targets or families, without the features of targets. Raise WebError for something else."""
    names = document.get(key) if isinstance(document, dict) else None
    if not isinstance(names, list) or len(names) > _MOST_NAMES or not all(map(_is_name, names)):
        raise WebError(f"{file.address}: what it says of its GPUs is not a list of names")
    return tuple(dict.fromkeys(name.partition(":")[0] for name in names))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and len(name) < 100 and name.isascii() and name.isprintable() and " " not in name


def _parsed(text: bytes, file: IndexedFile) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WebError(f"{file.address}: its description is not JSON: {error}") from error


def package_of(offer: Offer, name: str) -> str:
    """Return the package of a target or family."""
    return normalised((_DEVICE_PACKAGE if offer.kind == DEVICE else f"{_LIBRARIES}-") + name)


PACKED_LIMIT = 4 << 20  # bytes
UNPACKED_LIMIT = 16 << 20
_GZIP = 16 + zlib.MAX_WBITS
# The errors of tarfile and zlib for damaged archives. RecursionError: a chain of headers that describe one another.
_DAMAGE = (tarfile.TarError, zlib.error, EOFError, ValueError, LookupError, OverflowError, RecursionError, OSError)


def file_in_source_archive(server: Server, file: IndexedFile, name: str) -> bytes | None:
    """Return the content of a regular file, by its name below the archive's one directory; None if it has none.

    Raises WebError.
    """
    packed = server.read(file.address, PACKED_LIMIT)
    path = f"{file.name.removesuffix('.tar.gz')}/{name}"
    try:
        unpacked = zlib.decompressobj(_GZIP).decompress(packed, UNPACKED_LIMIT + 1)
        if len(unpacked) > UNPACKED_LIMIT:
            raise ValueError(f"it has more than {UNPACKED_LIMIT} bytes")
        reader = TarReader(io.BytesIO(unpacked), is_stream=False)
        found = next((member for member in reader.members() if member.name == path and member.isreg()), None)
        stream = reader.archive.extractfile(found) if found is not None and not found.issparse() else None
        return None if stream is None else stream.read()
    except _DAMAGE as error:
        words = f"{file.address}: cannot be read as a source distribution: {error}"
        raise WebError(words, "ask those who run the index") from error

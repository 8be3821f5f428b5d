"""The subject `index`: RECORD and METADATA of the packages are the ones of the wheels on an index."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rocm_sdk import _native
from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.value_text import counted, one_line, quoted_for_shell
from rocm_sdk.index.web.remote_file import NoPartsError
from rocm_sdk.index.web.remote_wheel import RemoteWheel, read_wheel, tags_in, tags_of
from rocm_sdk.index.web.server import SCHEMES, Server, UnreachedError, WebError, shown_address
from rocm_sdk.index.web.simple_index import IndexedFile, attestations_of, files_of_project
from rocm_sdk.installed.distributions import Distribution, headers_of, normalised
from rocm_sdk.installed.installer import configured_index
from rocm_sdk.installed.origin import origin_of

if TYPE_CHECKING:
    from rocm_sdk.doctor.recorder import Options, Recorder
    from rocm_sdk.installed.record import Row
    from rocm_sdk.installed.view import Installed

_LIMIT = 1 << 20  # bytes of METADATA and WHEEL
_EXAMPLES = 3  # files that a message names
_ENDINGS = (".pyc", ".pyo")
_DATA = (".data/purelib/", ".data/platlib/")  # the places in a wheel of files that go to site-packages


class _NotComparedError(Exception):
    """The error that says why there is nothing to compare with."""


class _NoIndexError(Exception):
    """The error that says why the server of an index cannot be reached."""


def fault_of_address(address: str) -> str:
    """Return why an address cannot be an index's; "" if it can."""
    try:
        Server(address)
    except WebError as error:
        return str(error)
    return ""


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Compare each distribution with files of the SDK."""
    wanted = [each for each in installation.distributions if each.has_sdk_files and not each.is_placeholder]
    _name_source(recorder, options.index or "")
    unreached = set[str]()  # addresses of indexes
    with options.progress("comparing with the index", len(wanted)) as done:
        for distribution in wanted:
            _compare(installation, distribution, recorder, options, unreached)
            done(distribution.name)
    if not recorder.count:
        why = "; ".join(dict.fromkeys(found.cause for found in recorder.problems))
        place = next((found.facts["place"] for found in recorder.problems if "place" in found.facts), None)
        recorder.say(
            "E-INDEX-006", installation.site, detail=why or "no package of the SDK is installed here", place=place
        )


def _name_source(recorder: Recorder, address: str) -> None:
    """Let fixes install from the index that the user named, unless that has a password."""
    if address and "@" not in urlsplit(address).netloc:
        known, source = recorder.known, {"source": f"--index-url {quoted_for_shell(address)}"}
        recorder.known = lambda *about: known(*about) | source


def _compare(
    installation: Installed,
    distribution: Distribution,
    recorder: Recorder,
    options: Options,
    unreached: set[str],
) -> None:
    """Compare a distribution with an index. An index that cannot be reached is one problem, and is not asked again."""
    facts = {**distribution.facts, "place": "the index"}
    try:
        address = options.index or _address(installation.site, distribution)
        facts["place"] = one_line(shown_address(address))
        if distribution.closure is not None:
            raise _NotComparedError("rocm-sdk-build closure made it of the wheel; no index has it")
        if address in unreached:
            recorder.skip(f"{distribution.name}: {facts['place']} is not reached")
            return
        server = Server(address, seconds=options.seconds)
        file = _file_of(distribution, server)
        if not _is_that_archive(distribution, file, recorder, facts):
            return
        said = _check_attestations(distribution, server, file, recorder, facts)
        _check_wheel(distribution, read_wheel(server, file), file, recorder, facts, said)
    except (_NotComparedError, NoPartsError) as error:
        recorder.say("W-INDEX-004", distribution.record, **(facts | {"detail": str(error)}))
    except (WebError, _NoIndexError) as error:
        if isinstance(error, _NoIndexError):
            unreached.add(address)
        recorder.say("E-INDEX-005", distribution.record, **(facts | {"detail": str(error)}))


def _address(site: str, distribution: Distribution) -> str:
    """Return the index that a distribution is likely to come from."""
    configured = os.environ.get("ROCM_SDK_INDEX") or configured_index(site, distribution.name)
    if configured:
        if not configured.lower().startswith(SCHEMES):
            raise _NotComparedError(f"{one_line(shown_address(configured))}, which is configured, is on no web server")
        return configured
    row = _native.choose_index(distribution.version.partition("+")[0])
    if row is None:
        raise _NotComparedError(f"no index is known for version {distribution.version}")
    return row[3]


def _file_of(distribution: Distribution, server: Server) -> IndexedFile:
    """Return the wheel on the index with the name, version and tags of the installed one."""
    try:
        files = files_of_project(server, distribution.name)
    except UnreachedError as error:
        raise _NoIndexError(str(error)) from error
    except WebError as error:
        if error.status == 404:
            raise _NotComparedError(f"the index has no {distribution.name}") from error
        raise
    wheel = headers_of(_read(distribution, "WHEEL"))
    listed = sorted({value for name, value in wheel if name == "tag"})
    tags = tags_in(listed)
    build = next((value for name, value in wheel if name == "build"), "")
    named = [each for each in files if _is_named(each.name, distribution)]
    if not named:
        raise _NotComparedError(f"the index has no wheel of {distribution.name} {distribution.version} (any more)")
    found = [
        each for each in named if tags is not None and tags_of(each.name) == tags and _build_of(each.name) == build
    ]
    if not found:
        shown = ", ".join(listed) or "no tags"
        raise _NotComparedError(f"the index has no wheel of this version for {shown}, which is what is installed")
    if len({each.sha256 for each in found}) > 1:
        raise WebError(f"{server.address}: names {found[0].name} twice, with different digests")
    return found[0]


def _is_named(name: str, distribution: Distribution) -> bool:
    parts = name.split("-")
    return (
        name.endswith(".whl")
        and len(parts) in {5, 6}
        and normalised(parts[0]) == distribution.name
        and normalised(parts[1]) == normalised(distribution.version.replace("-", "_"))
    )


def _build_of(name: str) -> str:
    parts = name.split("-")
    return parts[2] if len(parts) == 6 else ""


def _is_that_archive(
    distribution: Distribution, file: IndexedFile, recorder: Recorder, facts: dict[str, object]
) -> bool:
    """Return whether the installed archive has the digest of the one on the index, where direct_url.json has it."""
    installed = (origin_of(distribution).digest or "").removeprefix("sha256=").lower()
    if not installed or not file.sha256:
        return True
    if installed != file.sha256:
        detail = f"direct_url.json says SHA-256 {one_line(installed)}, the index {file.sha256} of {file.name}"
        recorder.bad("E-INDEX-003", f"{distribution.directory}/direct_url.json", **(facts | {"detail": detail}))
        return False
    what = f"direct_url.json has the SHA-256 of {file.name} on the index"
    recorder.good(f"{distribution.name} {distribution.version}: {what}", counts=False)
    return True


def _check_attestations(
    distribution: Distribution, server: Server, file: IndexedFile, recorder: Recorder, facts: dict[str, object]
) -> str:
    """Compare the digest that attestations are about. Return their statement, for the line of the wheel."""
    if not file.provenance:
        return ""
    found = attestations_of(server, file)
    others = [each for each in found if not file.sha256 or each.digests.get(file.name) != file.sha256]
    if others:
        about = others[0].digests.get(file.name) or "another file"
        detail = f"an attestation by {others[0].publisher} is about {about}, the page says {file.sha256 or 'nothing'}"
        recorder.bad("E-INDEX-002", distribution.record, **(facts | {"detail": detail}))
        return ""
    publishers = "; ".join(dict.fromkeys(each.publisher for each in found))
    detail = f"published by {publishers}, for SHA-256 {file.sha256} of {file.name}"
    recorder.say("N-INDEX-007", distribution.record, **(facts | {"detail": detail}))
    return "; its attestations are about the same SHA-256, their signatures were not verified"


def _check_wheel(  # noqa: PLR0917
    distribution: Distribution,
    wheel: RemoteWheel,
    file: IndexedFile,
    recorder: Recorder,
    facts: dict[str, object],
    said: str,
) -> None:
    """Compare the wheel with its page's statements, and RECORD and METADATA with the wheel's."""
    faults = []
    if wheel.sha256 and file.sha256 and wheel.sha256 != file.sha256:
        faults.append(f"the wheel has SHA-256 {wheel.sha256}, the page says {file.sha256}")
    if file.metadata_sha256 and wheel.metadata_sha256 != file.metadata_sha256:
        faults.append(f"its METADATA has SHA-256 {wheel.metadata_sha256}, the page says {file.metadata_sha256}")
    if faults:
        recorder.bad("E-INDEX-002", distribution.record, **(facts | {"detail": f"{file.name}: {'; '.join(faults)}"}))
        return
    compared, differences = _differences(distribution, wheel.record)
    metadata = hashlib.sha256(_read(distribution, "METADATA")).hexdigest()
    if metadata != (file.metadata_sha256 or wheel.metadata_sha256):
        differences.insert(0, "METADATA has another content")
    if differences:
        more = f" and {len(differences) - _EXAMPLES:,} more" if len(differences) > _EXAMPLES else ""
        detail = f"RECORD and METADATA against {file.name}: {'; '.join(differences[:_EXAMPLES])}{more}"
        recorder.bad("E-INDEX-001", distribution.record, **(facts | {"detail": detail}))
        return
    if not compared:
        raise _NotComparedError(f"RECORD of {file.name} lists no file with a digest")
    named = "; METADATA has the digest that the index names" if file.metadata_sha256 else ""
    if wheel.sha256:
        whole = "the wheel has the SHA-256 that it names" if file.sha256 else "it names no SHA-256 of the wheel"
    else:
        whole = "the wheel was not read whole"
    recorder.good(
        f"{distribution.name} {distribution.version}: {counted(compared, 'file')} as in RECORD of {file.name} at"
        f" {facts['place']}{named}; {whole}{said}{'; the wheel is yanked' if file.is_yanked else ''}"
    )


def _differences(distribution: Distribution, record: list[Row]) -> tuple[int, list[str]]:
    """Return how many rows of a wheel's RECORD were compared, and what differs in the installed one."""
    own = f"{os.path.basename(distribution.directory)}/"
    installed = {file.path: file for file in distribution.files}
    seen, found, compared = set(), [], 0
    for row in record:
        path = _installed_path(row.path)
        if path is None or not row.digest:
            continue
        compared += 1
        seen.add(path)
        mine = installed.get(path)
        if mine is None:
            found.append(f"RECORD does not list {one_line(path)}")
        elif mine.digest != row.digest:
            found.append(f"{one_line(path)} has another digest")
    tops = {path.partition("/")[0] for path in seen if not path.startswith(own)}
    for path, file in installed.items():
        is_added = path not in seen and file.digest and path.partition("/")[0] in tops
        if is_added and not path.endswith(_ENDINGS):
            found.append(f"the wheel has no {one_line(path)}")
    return compared, found


def _installed_path(path: str) -> str | None:
    """Return the place of a wheel's file relative to site-packages; None for scripts and other places."""
    path = os.path.normpath(path)
    for part in _DATA:
        top, found, rest = path.partition(part)
        if found and "/" not in top:
            return rest
    return None if path.partition("/")[0].endswith(".data") else path


def _read(distribution: Distribution, name: str) -> bytes:
    try:
        return read_beginning(f"{distribution.directory}/{name}", _LIMIT)
    except OSError:
        return b""

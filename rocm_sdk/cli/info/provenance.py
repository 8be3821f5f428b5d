"""The command `rocm-sdk info --provenance`: the sources of the SDK, the makers of its packages, the licences."""

import os
from collections.abc import Iterator
from typing import Any

from rocm_sdk.cli.info.collection import Library, Provenance, provenance
from rocm_sdk.cli.info.manifest import NAME
from rocm_sdk.terminal.output import complain, tell, tell_json, tell_table

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_UNKNOWN = "unknown"
_SHORT = 12  # digits of a commit or build ID in a table


def print_provenance(*, for_programs: bool) -> int:
    """Print the provenance. Return status 1 if there is no SDK."""
    found = provenance()
    if for_programs:
        tell_json(_SCHEMA, **_document(found))
    else:
        for line in _lines(found):
            tell(line)
        _print_submodules(found)
        _print_libraries(found)
        _print_closed(found)
        for problem in found.problems:
            complain(problem)
    return 0 if found.version else 1


def _document(found: Provenance) -> dict[str, Any]:
    manifest = found.manifest
    return {
        "sdk": found.version,
        "manifest": None
        if manifest is None
        else {**manifest._asdict(), "submodules": [each._asdict() for each in manifest.submodules]},
        "packages": [{"name": each.name, "version": each.version, **each.origin._asdict()} for each in found.packages],
        "libraries": [_library(each) for each in found.libraries],
        "problems": list(found.problems),
    }


def _library(library: Library) -> dict[str, Any]:
    return {
        "path": library.path,
        "package": library.package,
        "build_id": library.build_id,
        "compilers": list(library.compilers),
        "licence": None if library.licence is None else library.licence._asdict(),
        "source": library.state,
        "reason": None if library.closed is None else library.closed.reason,
        "reason_from": [] if library.closed is None else list(library.closed.sources),
    }


def _lines(found: Provenance) -> Iterator[str]:
    manifest = found.manifest
    yield f"ROCm SDK    {found.version or 'not installed'}"
    if manifest is None:
        yield f"built from  unknown: no package has {NAME}"
    else:
        yield f"built from  TheRock {manifest.commit or _UNKNOWN}"
        version, job, run = (each or _UNKNOWN for each in (manifest.rocm_version, manifest.job, manifest.run))
        yield f"build       ROCm {version}, job {job}, run {run}"
        flags = (f"{name}={_UNKNOWN if value is None else value}" for name, value in manifest.flags.items())
        yield f"flags       {' '.join(flags) or 'none'}"
    yield "packages"
    for package in found.packages:
        origin = package.origin
        place = f" from {origin.url}" if origin.url else ""
        makers = f"made by {origin.generator or _UNKNOWN}, installed by {origin.installer or _UNKNOWN}{place}"
        yield f"  {package.name} {package.version}  {makers}"


def _print_submodules(found: Provenance) -> None:
    if found.manifest is not None and found.manifest.submodules:
        rows = [
            (
                each.name or _UNKNOWN,
                (each.commit or _UNKNOWN)[:_SHORT],
                _UNKNOWN if each.patches is None else str(len(each.patches)),
                each.url or _UNKNOWN,
            )
            for each in found.manifest.submodules
        ]
        tell("")
        tell_table(("submodule", "commit", "patches", "repository"), rows, {"patches"})


def _print_libraries(found: Provenance) -> None:
    rows = [
        (
            os.path.basename(each.path),
            (each.build_id or _UNKNOWN)[:_SHORT],
            _licence(each),
            "; ".join(each.compilers) or _UNKNOWN,
        )
        for each in found.libraries
    ]
    if rows:
        tell("")
        tell_table(("library", "build ID", "licence", "compilers"), rows, ())


def _licence(library: Library) -> str:
    if library.licence is None:
        return _UNKNOWN
    if library.licence.expression:
        return library.licence.expression
    path = library.licence.file or ""
    return os.path.join(*path.split(os.sep)[-2:])  # the directory names the component


def _print_closed(found: Provenance) -> None:
    closed = [each for each in found.libraries if each.state in {"closed", "unknown"}]
    if closed:
        tell("")
    for each in closed:
        said = "has no public source" if each.state == "closed" else "may have no public source in this version"
        tell(f"{os.path.basename(each.path)} {said}: {each.closed.reason if each.closed else _UNKNOWN}")

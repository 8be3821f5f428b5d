"""The bill of materials of a package: the artifacts from which the package was made, with their digests.

The document is CycloneDX 1.6, as JSON in `.dist-info/sboms` (PEP 770). Nothing in the document depends on the day, the
machine or the order of the work: the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.source_date import given_date, source_date
from rocm_sdk_build.inputs.catalog import Artifact

if TYPE_CHECKING:
    pass

_NO_FILES: Mapping[str, str] = MappingProxyType({})
_BUILDER, _ARTIFACT = "rocm-sdk-build", "artifact:"  # names of components
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, _BUILDER)  # of serial numbers: UUIDs, version 5


class ArtifactDigests:
    """The SHA-256 of artifacts, each computed once.

    The digest is computed from a text with a line for each file and link in the order of their paths, as sha256sum
    writes a line for a file (`DIGEST  PATH`), and `PATH -> TARGET` for a link. So an archive and its directory have one
    digest.
    """

    def __init__(self) -> None:
        self._found: dict[Path, str] = {}

    def of(self, artifact: Artifact) -> str:
        """Return the digest in hexadecimal digits.

        Raise OSError if a file cannot be read.
        """
        if artifact.directory not in self._found:
            digest = hashlib.sha256()
            for entry in artifact.entries:
                if entry.kind == "file":
                    digest.update(f"{sha256_of(entry.source).hexdigest()}  {entry.path}\n".encode())
                elif entry.kind == "link":
                    digest.update(f"{entry.path} -> {entry.link}\n".encode("utf-8", "surrogateescape"))
            self._found[artifact.directory] = digest.hexdigest()
        return self._found[artifact.directory]


def inputs_of(artifacts: Iterable[Artifact], sources: Iterable[Path]) -> list[Artifact]:
    """Return the artifacts from which one of the source files comes, sorted by name."""
    wanted = set(sources)
    used = (each for each in artifacts if any(entry.source in wanted for entry in each.entries))
    return sorted(used, key=lambda each: each.directory.name)


def sbom_name(distribution: str) -> str:
    """Return the name of the bill of materials below `.dist-info`."""
    return f"sboms/{distribution}.cdx.json"


def sbom_text(  # noqa: PLR0917
    distribution: str,
    version: str,
    builder: str,
    digests: Mapping[str, str],
    files: Mapping[str, str] = _NO_FILES,
    debian: Mapping[str, str | None] = _NO_FILES,
) -> str:
    """Return the document.

    `builder` is the version of this program. `digests` and `files` have the SHA-256 of artifacts, and of files in the
    package itself, by their names. `debian` has the licence of each of Debian's packages from which the files are; None
    stands for an unknown licence.
    """
    from cyclonedx.model import HashAlgorithm, HashType  # here: the import takes longer than other commands
    from cyclonedx.model.bom import Bom, BomMetaData
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import LicenseExpression
    from cyclonedx.model.tool import ToolRepository
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL

    digests, files = (  # bytes of names that are not UTF-8 appear as backslash and number
        {name.encode("utf-8", "backslashreplace").decode(): digest for name, digest in own.items()}
        for own in (digests, files)
    )
    kinds = ((ComponentType.DATA, _ARTIFACT, digests), (ComponentType.FILE, "file:", files))
    inputs = [
        Component(
            name=name,
            type=kind,
            bom_ref=f"{prefix}{name}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        )
        for kind, prefix, own in kinds
        for name, digest in sorted(own.items())
    ]
    inputs += [
        Component(
            name=name,
            type=ComponentType.LIBRARY,
            bom_ref=f"debian:{name}",
            licenses=[LicenseExpression(licence)] if licence is not None else [],
        )
        for name, licence in sorted(debian.items())
    ]
    url = PackageURL("pypi", name=distribution, version=version)
    whole = Component(name=distribution, version=version, purl=url, bom_ref=url.to_string())
    tool = Component(name=_BUILDER, version=builder, type=ComponentType.APPLICATION, bom_ref=_BUILDER)
    rows = (f"{name} {digest}" for own in (digests, files) for name, digest in sorted(own.items()))
    packages = (f"{name} {licence}" for name, licence in sorted(debian.items()))
    facts = "\n".join([distribution, version, builder, *rows, *packages])
    # Without SOURCE_DATE_EPOCH there is no time, since two runs would not agree on it.
    date = None if given_date() is None else datetime.fromtimestamp(source_date(), timezone.utc)
    bom = Bom(
        serial_number=uuid.uuid5(_NAMESPACE, facts),
        metadata=BomMetaData(component=whole, tools=ToolRepository(components=[tool]), timestamp=date),
        components=inputs,
    )
    bom.register_dependency(whole, inputs)
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    if date is None:
        del document["metadata"]["timestamp"]  # the library has set the present time
    return json.dumps(document, indent=2, sort_keys=True) + "\n"  # an order that does not depend on the library


class Sbom(NamedTuple):
    """The facts of a document that `sbom_text` has made."""

    distribution: str
    version: str
    builder: str | None  # the version of rocm-sdk-build
    digests: dict[str, str]


def read_sbom(data: bytes) -> Sbom:
    """Return the facts of a document; components of other kinds are ignored.

    Raise ValueError if the bytes are no such document.
    """
    try:
        document = json.loads(data)
        if (document["bomFormat"], document["specVersion"]) != ("CycloneDX", "1.6"):
            raise ValueError("it is not CycloneDX 1.6")
        whole = document["metadata"]["component"]
        tools = document["metadata"].get("tools", {}).get("components", [])
        own = [each for each in document.get("components", []) if str(each["bom-ref"]).startswith(_ARTIFACT)]
        digests = {str(each["name"]): _digest_of(each) for each in own}
        builders = [str(each["version"]) for each in tools if each["name"] == _BUILDER]
        return Sbom(str(whole["name"]), str(whole["version"]), next(iter(builders), None), digests)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is not a bill of materials of rocm-sdk-build") from error


def _digest_of(component: dict[str, Any]) -> str:
    found = [str(each["content"]) for each in component["hashes"] if each["alg"] == "SHA-256"]
    if len(found) != 1 or _SHA256.fullmatch(found[0]) is None:
        raise ValueError(f"the artifact {str(component['name'])!r} has no SHA-256")
    return found[0]

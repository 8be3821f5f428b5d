"""The software bill of materials of a wheel of ours, in the form of CycloneDX 1.6: what the wheel was made from.

The wheels of the loader name what is compiled into them, the others the source distribution that they were built from.
Serial number and date depend on the sources alone, so that the same sources give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "rocm-sdk-loader")  # of serial numbers: UUIDs, version 5


class Source(Protocol):
    """The facts that the bill of materials needs about the sources of a library that is inside."""

    @property
    def name(self) -> str:
        """The name by which the authors call the library."""

    @property
    def version(self) -> str:
        """The version of the release."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the sources."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the archive."""

    @property
    def spdx(self) -> str:
        """The SPDX expression of the sources' licence."""


def sbom_text(  # noqa: PLR0917 - each is a fact of the wheel
    distribution: str,
    version: str,
    licence: str,
    sources: Iterable[Source],
    date: int,
    files: Iterable[Path] = (),
) -> str:
    """Return the document.

    `distribution` is a name on PyPI, `licence` an SPDX expression, and `date` the date of the sources in seconds since
    1970. `files` are the source distributions that the wheel was built from.
    """
    own = f"pkg:pypi/{distribution}@{version}"
    inside = [*(_component(source) for source in sources), *(_file(path) for path in files)]
    facts = json.dumps([own, inside, date], sort_keys=True)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, facts)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(date, timezone.utc).isoformat(),
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": distribution,
                "version": version,
                "licenses": [{"expression": licence}],
                "purl": own,
            },
        },
        "components": inside,
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in inside]}],
    }
    return json.dumps(document, indent=2) + "\n"


def _file(path: Path) -> dict[str, object]:
    return {
        "type": "file",
        "bom-ref": f"file:{path.name}",
        "name": path.name,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
    }


def _component(source: Source) -> dict[str, object]:
    address = quote(source.addresses[0], safe="")
    purl = f"pkg:generic/{source.name}@{source.version}?checksum=sha256:{source.sha256}&download_url={address}"
    return {
        "type": "library",
        "bom-ref": f"{source.name}@{source.version}",
        "name": source.name,
        "version": source.version,
        "hashes": [{"alg": "SHA-256", "content": source.sha256}],
        "licenses": [{"expression": source.spdx}],
        "purl": purl,
        "externalReferences": [{"type": "distribution", "url": each} for each in source.addresses],
    }

"""The software bill of materials of a wheel of the loader, in the form of CycloneDX 1.6: what is compiled into it.

It has no date and no random number, so that the same sources give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import quote


class Source(Protocol):
    """What it needs to know of the sources of a library that is inside."""

    @property
    def name(self) -> str:
        """As its authors call it."""

    @property
    def version(self) -> str:
        """Of the release."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where they are."""

    @property
    def sha256(self) -> str:
        """Of the archive."""

    @property
    def spdx(self) -> str:
        """The expression of their licence."""


def sbom_text(distribution: str, version: str, licence: str, sources: Iterable[Source]) -> str:
    """The document. distribution: a name on PyPI; licence: an SPDX expression."""
    own = f"pkg:pypi/{distribution}@{version}"
    inside = [_component(source) for source in sources]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": distribution,
                "version": version,
                "licenses": [{"expression": licence}],
                "purl": own,
            }
        },
        "components": inside,
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in inside]}],
    }
    return json.dumps(document, indent=2) + "\n"


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

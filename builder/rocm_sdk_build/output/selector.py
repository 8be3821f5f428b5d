"""The writer of the selector package `rocm`.

The package is a source distribution that decides on the user's machine which packages it requires.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from rocm_sdk import loader_version, targets
from rocm_sdk.fit.code.tar_reader import TarReader
from rocm_sdk_build.base.damaged import read_small
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.parts import Families
from rocm_sdk_build.packages.sbom import sbom_text
from rocm_sdk_build.packages.tar_archives import tar_gz_member

from .rocm_selector.backend import LOADER, MODULES, SBOM, metadata

_HERE = Path(__file__).parent
_DYNAMIC = ("Requires-Dist", "Provides-Extra")  # from 2.2 on installers take all other fields for fixed (PEP 643)
_SUMMARY = "Installs the parts of the ROCm SDK that fit this machine"
_PYPROJECT = """[build-system]
requires = []
build-backend = "rocm_selector.backend"
backend-path = ["."]

[project]
name = "rocm"
dynamic = ["version", "dependencies", "optional-dependencies"]
"""
_README = """# rocm

Chooses packages of the ROCm SDK. `pip install rocm` installs the runtime libraries and the loader `rocm_sdk`; the
extras `libraries`, `device`, `devel` and `profiler` add to them what fits the GPUs of this machine.
ROCM_SDK_TARGET_FAMILY names another target family.
"""


def write_selector(directory: Path, sdk: SdkFacts, families: Families, family: str, packages: Container[str]) -> Path:
    """Write `rocm-VERSION.tar.gz`; return its path.

    `family` is the only family that the selector may choose; "" stands for all. `packages` are the logical names of the
    packages that the SDK has.
    """
    offered = (family,) if family else sdk.available
    document = {
        "version": sdk.version,
        "summary": _SUMMARY,
        "description": _README,
        "families": list(offered),
        "package_owners": {row.name: row.package_owner for row in targets.table() if row.package_owner != row.name},
        "default": family or sdk.default,
        # The loader's versions are not the SDK's: any loader reads any SDK. The version of this loader, or a later one,
        # which knows more GPUs, runs beside the SDK; the same loader decides on the family before.
        "requires": [f"rocm-sdk-core=={sdk.version}", f"{LOADER}>={loader_version}"],
        "extras": _extras(sdk, families, bool(family), packages),
    }
    return write_selector_archive(directory, document)


def write_selector_archive(directory: Path, document: Mapping[str, Any]) -> Path:
    """Write the selector package of a document, the content of `selector.json`; return the package's path."""
    contents = {
        "PKG-INFO": metadata(document, document["default"], _DYNAMIC),
        "README.md": document["description"],
        "pyproject.toml": _PYPROJECT,
        "selector.json": json.dumps(document, indent=2) + "\n",
        **{name: (_HERE / name).read_text(encoding="utf-8") for name in MODULES},
    }
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in contents.items()}
    contents[SBOM] = sbom_text("rocm", document["version"], loader_version, {}, digests)
    base = f"rocm-{document['version']}"
    path = directory / f"{base}.tar.gz"
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, text in contents.items():
                archive.addfile(*tar_gz_member(f"{base}/{name}", text.encode()))
        packed.write(buffer.getvalue())
    return path


def read_archive_member(path: Path, name: str) -> bytes | None:
    """Return the content of a file of a source distribution; None if the archive has no such file.

    `name` is the file's name below the archive's directory. Errors of a damaged archive pass.
    """
    member = f"{path.name.removesuffix('.tar.gz')}/{name}"
    with gzip.open(path) as unpacked:
        reader = TarReader(io.BytesIO(read_small(unpacked)), is_stream=False)
    found = next((each for each in reader.members() if each.name == member), None)
    stream = reader.archive.extractfile(found) if found is not None else None
    return read_small(stream) if stream is not None else None


def _extras(sdk: SdkFacts, families: Families, is_restricted: bool, packages: Container[str]) -> dict[str, list[str]]:
    """Return the requirements of each extra; `{family}` stands for the family that is chosen."""
    version, is_kpack = sdk.version, sdk.one_libraries_package
    libraries = "rocm-sdk-libraries" if is_kpack else "rocm-sdk-libraries-{family}"
    extras = {
        "libraries": [f"{libraries}=={version}"],
        "device": [f"rocm-sdk-device-{{family}}=={version}"],
        "devel": [f"rocm-sdk-devel=={version}"],
        "profiler": [f"rocm-profiler=={version}"],
    }
    extras = {name: rows for name, rows in extras.items() if name in packages}
    names = families.targets()
    logical = "device" if is_kpack else "libraries"
    if len(names) > 1 and not is_restricted and logical in packages:
        markers = {name: families.marker(name) for name in names}
        rows = {name: f"rocm-sdk-{logical}-{name}=={version}{on and f'; {on}'}" for name, on in markers.items()}
        extras |= {f"{logical}-{name}": [row] for name, row in rows.items()}
        extras[f"{logical}-all"] = list(rows.values())
    return extras

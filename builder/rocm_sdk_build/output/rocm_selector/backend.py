"""The build backend of the selector package `rocm`, which decides which target family this machine needs.

The backend (PEP 517) needs no network. The family comes from the variable ROCM_SDK_TARGET_FAMILY, or else from the GPUs
of this machine, which the loader names; otherwise the family is the default of the SDK. The wheel states in
`family.json` of its dist-info the choice and the reason.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
MODULES = ("rocm_selector/__init__.py", "rocm_selector/backend.py")
SBOM = "rocm.cdx.json"  # PEP 770 has a place for it only in wheels, which get it there
FILES = ("PKG-INFO", "README.md", "pyproject.toml", "selector.json", *MODULES, SBOM)
VARIABLE = "ROCM_SDK_TARGET_FAMILY"
LOADER = "rocm-sdk-loader"
_DEFAULT = "the default of the SDK"
_WHEEL = "Wheel-Version: 1.0\nGenerator: rocm_sdk_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

Sdk = Mapping[str, Any]


def facts() -> Sdk:
    """Return the facts that the builder has written beside this package.

    The facts are version, families, requirements, and the families that fit each GPU.
    """
    found: Sdk = json.loads((HERE / "selector.json").read_text(encoding="utf-8"))
    return found


# ---- which family ----


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    """Return the loader, as the package itself requires it, if the GPUs decide; [] otherwise (PEP 517)."""
    del config_settings
    if not _gpus_decide():
        return []
    return [each for each in facts()["requires"] if each.startswith(LOADER)]


def _gpus_decide() -> bool:
    return not os.environ.get(VARIABLE) and sys.platform == "linux"


def _owner(sdk: Sdk, family: str) -> str:
    """Return the target or family that packages are named after: gfx942 of gfx942:xnack+."""
    name = re.sub(r"([:-](xnack|sramecc)[+-])+$", "", family)
    return str(sdk.get("package_owners", {}).get(name, name))


def choose(sdk: Sdk) -> tuple[str | None, str]:
    """Return the family and the reason of the choice; the family is None if the SDK has none for this machine.

    Raise ValueError if the variable names a family that the SDK does not have.
    """
    wanted = os.environ.get(VARIABLE)
    if wanted:
        if _owner(sdk, wanted) not in {_owner(sdk, each) for each in sdk["families"]}:
            known = ", ".join(sdk["families"]) or "none"
            raise ValueError(f"{VARIABLE}={wanted} is none of the families of this SDK: {known}")
        return wanted, VARIABLE
    if not _gpus_decide():
        return sdk["default"], f"only Linux tells which GPUs there are; {_DEFAULT}"
    try:
        from rocm_sdk import TopologyError
        from rocm_sdk.targets import choose_family
    except ImportError as error:
        reason = str(error).partition("\n")[0]
        return sdk["default"], f"{LOADER}, which finds the GPUs of this machine, cannot be used: {reason}; {_DEFAULT}"
    try:
        chosen = choose_family(sdk["families"])
    except TopologyError as error:
        return sdk["default"], f"the GPUs of this machine cannot be found out: {error}; {_DEFAULT}"
    if chosen is None:
        return sdk["default"], f"no GPU of this machine has a family; {_DEFAULT}"
    family, gpu = chosen
    return family, f"a GPU of this machine: {gpu}"


# ---- the wheel ----


def requirements(sdk: Sdk, family: str | None) -> list[str]:
    """Return lines of METADATA: the requirements of the package, and its extras.

    An extra that needs a family is left out if there is no family.
    """
    lines = [f"Requires-Dist: {each}" for each in sdk["requires"]]
    for extra, required in sdk["extras"].items():
        if family is None and any("{family}" in each for each in required):
            continue
        lines.append(f"Provides-Extra: {extra}")
        for each in required:
            text, _, marker = each.replace("{family}", _owner(sdk, family or "")).partition(";")
            condition = f"({marker.strip()}) and extra == '{extra}'" if marker else f"extra == '{extra}'"
            lines.append(f"Requires-Dist: {text.strip()}; {condition}")
    return lines


def metadata(sdk: Sdk, family: str | None, dynamic: Sequence[str] = ()) -> str:
    """Return METADATA of the wheel, or PKG-INFO of the source distribution.

    `dynamic` are the fields that only the wheel decides.
    """
    head = ["Metadata-Version: 2.4", "Name: rocm", f"Version: {sdk['version']}", f"Summary: {sdk['summary']}"]
    head += ["Description-Content-Type: text/markdown", "Keywords: ROCm,HIP,AMD,GPU", "Requires-Python: >=3.10"]
    head += [f"Dynamic: {field}" for field in dynamic]
    return "\n".join([*head, *requirements(sdk, family), "", sdk["description"]])


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Build the wheel for this machine, and return its name (PEP 517)."""
    del config_settings, metadata_directory
    sdk = facts()
    family, why = choose(sdk)
    dist_info = f"rocm-{sdk['version']}.dist-info"
    files = {
        f"{dist_info}/METADATA": metadata(sdk, family),
        f"{dist_info}/WHEEL": _WHEEL,
        f"{dist_info}/family.json": json.dumps({"family": family, "why": why}, indent=2) + "\n",
        f"{dist_info}/sboms/{SBOM}": (HERE / SBOM).read_text(encoding="utf-8"),
    }
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.writerow((path, f"sha256={digest}", len(text.encode())))
    rows.writerow((f"{dist_info}/RECORD", "", ""))
    files[f"{dist_info}/RECORD"] = record.getvalue()
    name = f"rocm-{sdk['version']}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            member = zipfile.ZipInfo(path)
            member.external_attr = 0o100644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text)
    sys.stderr.write(f"rocm: target family {family} ({why})\n")
    return name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Build a source distribution of the files beside this one, and return its name (PEP 517)."""
    del config_settings
    base = f"rocm-{facts()['version']}"
    with tarfile.open(Path(sdist_directory, f"{base}.tar.gz"), "w:gz") as archive:
        for name in FILES:
            archive.add(HERE / name, f"{base}/{name}")
    return f"{base}.tar.gz"

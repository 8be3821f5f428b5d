"""The part of a report about the node on which it was made."""

from __future__ import annotations

import os
from typing import Any

from rocm_sdk import _native
from rocm_sdk.base.files import kernel_path, kernel_text, names_in, read_beginning
from rocm_sdk.doctor.report.mask import make_mask, reported_environment
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.view import Installed

_NODES = "sys/class/kfd/kfd/topology/nodes"
_FIRMWARE = ("fw_version", "sdma_fw_version")
_RECORD_LIMIT = 1 << 28


def node_facts(installation: Installed, *, is_masked: bool) -> dict[str, Any]:
    """Return the key `node` of the document. is_masked: names of users and hosts are left out of all texts."""
    firmware = []  # of each GPU, as KFD has the versions
    for number in sorted(map(int, filter(str.isdecimal, names_in(kernel_path(_NODES))))):
        rows = (line.split() for line in (kernel_text(f"{_NODES}/{number}/properties") or "").splitlines())
        values = {row[0]: row[1] for row in rows if len(row) == 2}
        if values.get("simd_count", "0") != "0":  # the others are processors
            firmware.append({name: values[name] for name in _FIRMWARE if name in values})
    # RECORD has the digests of all files of its package.
    digests = ((each.name, _digest(each.record)) for each in installation.distributions)
    facts: dict[str, Any] = {
        "host": os.uname().nodename,
        "name": _native.report_name("%n"),
        "kernel": os.uname().release,
        "driver": kernel_text("sys/module/amdgpu/version"),
        "firmware": firmware,
        "gpus": _gpus(),
        "environment": reported_environment(),
        "record_digests": {name: digest for name, digest in digests if digest is not None},
    }
    if not is_masked:
        return facts
    mask = make_mask()
    facts |= {"host": mask(facts["host"]), "name": mask(facts["name"])}
    facts["environment"] = {name: value and mask(value) for name, value in facts["environment"].items()}
    return facts


def _gpus() -> list[dict[str, Any]]:
    try:
        return [{"target": gpu.target, "name": gpu.name, "usable": gpu.usable} for gpu in _native.gpus()]
    except RocmSdkError:  # the subject `gpus` reports the error
        return []


def _digest(path: str) -> str | None:
    import hashlib

    try:
        return hashlib.sha256(read_beginning(path, _RECORD_LIMIT)).hexdigest()
    except OSError:  # the subject `packages` reports the error
        return None

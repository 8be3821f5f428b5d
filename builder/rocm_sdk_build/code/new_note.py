"""The writer of the note in a rewritten file; `rocm_sdk.fit.code.note` describes and reads the note."""

from __future__ import annotations

import json
import struct

from rocm_sdk.fit.code.note import History

from .elf64 import align_up

_OWNER = b"rocm-sdk\0"
_TYPE = 1
_SCHEMA = 1
_HEADER = struct.Struct("<III")


def pack_history(history: History) -> bytes:
    """Return the bytes of the note."""
    steps = [{"operation": step.operation, "targets": list(step.targets)} for step in history.steps]
    document = {"schema": _SCHEMA, "sha256": history.sha256, "steps": steps}
    text = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 4)
    return _HEADER.pack(len(_OWNER), len(text), _TYPE) + _OWNER.ljust(align_up(len(_OWNER), 4), b"\0") + text

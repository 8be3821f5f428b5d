"""Which GPUs the selector package `rocm` sees: read from the kernel, by the rules of the loader, without the loader.

The loader itself is not there yet where the selector's wheel is built, and nothing else is: this is a translation of
the loader's reader into the standard library. A test holds both against each other.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

TOPOLOGY = "sys/class/kfd/kfd/topology"
_ATTEMPTS = 5
_NODE_LIMIT = 1024
_FILE_LIMIT = 16384  # bytes of a file of the kernel
_UINT16, _UINT32, _UINT64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1
_INT_MAX = (1 << 31) - 1
_AMD = 0x1002
_OWN_MEMORY = (1, 2)  # heap types
_NODE_KEYS = {
    "simd_count": _UINT32,
    "simd_per_cu": _UINT32,
    "mem_banks_count": 64,
    "gfx_target_version": _UINT32,
    "vendor_id": _UINT16,
    "device_id": _UINT16,
    "domain": _UINT32,
    "location_id": _UINT32,
    "drm_render_minor": _UINT32,
    "hive_id": _UINT64,
    "capability": _UINT32,
    "unique_id": _UINT64,
    "num_xcc": _UINT16,
}
_BANK_KEYS = {"heap_type": _UINT32, "size_in_bytes": _UINT64}
_NODE_NAME = re.compile(r"0|[1-9][0-9]*")
_NODE_OVERRIDE = re.compile(r"HSA_OVERRIDE_GFX_VERSION_(0|[1-9][0-9]{0,8})")
_VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")
_INDEX = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_BLANKS = " \t\n\v\f\r"

Sdk = Mapping[str, Any]
Environment = Mapping[str, str]


class TopologyError(Exception):
    """What the kernel shows cannot be read: which file, and why."""


class Gpu(NamedTuple):
    """A GPU that the kernel lists."""

    target: str  # that ROCm presents it as
    is_integrated: bool
    memory: int  # bytes; 0 where it does not matter
    is_visible: bool


class _Node(NamedTuple):
    """A node of the topology; a hidden one has no properties."""

    properties: Mapping[str, int]
    memory: int


class _Found(NamedTuple):
    """A GPU before the variables of visibility are looked at."""

    target: str
    is_integrated: bool
    memory: int
    unique_id: int
    is_agent: bool  # ROCm has a device for it
    is_numbered: bool  # ROCm counts its node


def gpus(sdk: Sdk, environment: Environment = os.environ) -> list[Gpu]:
    """The GPUs in the order of the kernel. TopologyError where that cannot be told.

    Device files and memory are looked at where it matters: GPUs are of several kinds, or a variable counts nodes.
    """
    counts_nodes = any(_NODE_OVERRIDE.fullmatch(name) for name in environment)
    found = _list(sdk, environment, counts_nodes)
    if not counts_nodes and len({gpu.target for gpu in found}) > 1:
        found = _list(sdk, environment, True)
    return found


def _list(sdk: Sdk, environment: Environment, with_details: bool) -> list[Gpu]:
    root = Path(environment.get("ROCM_SDK_ROOTFS") or "/")
    found: list[_Found] = []
    number, is_refused = 0, False
    for node in _read_topology(root / TOPOLOGY, with_details):
        if node is None:
            continue
        if node.properties["simd_count"] == 0:
            number += 1
            continue
        is_numbered = not with_details or _has_device(root, node.properties["drm_render_minor"])
        gpu, is_wrong = _look_at(sdk, environment, node, number if is_numbered else None)
        is_refused = is_refused or is_wrong
        found.append(gpu)
        number += is_numbered
    visible = set() if is_refused else _visible(found, environment)
    return [Gpu(gpu.target, gpu.is_integrated, gpu.memory, at in visible) for at, gpu in enumerate(found)]


# ---- one GPU ----


def _look_at(sdk: Sdk, environment: Environment, node: _Node, number: int | None) -> tuple[_Found, bool]:
    """The GPU, and whether a variable about it is so wrong that ROCm finds none at all. number: of its node."""
    properties = node.properties
    real = target = _real_target(sdk, properties)
    is_agent, is_wrong = target != "unknown", False
    text = environment.get(f"HSA_OVERRIDE_GFX_VERSION_{number}", environment.get("HSA_OVERRIDE_GFX_VERSION"))
    if text is not None and number is not None and target != "unknown":
        version = _override(text)
        is_wrong = version is None
        if version is not None:
            target = _name(*version)
            is_agent = target in sdk["known_targets"]
    is_integrated = real in sdk["integrated"]
    found = _Found(target, is_integrated, node.memory, properties["unique_id"], is_agent, number is not None)
    return found, is_wrong


def _real_target(sdk: Sdk, properties: Mapping[str, int]) -> str:
    version = properties["gfx_target_version"]
    if version:
        return _name(version // 10000, version // 100 % 100, version % 100)
    for first, last, target in sdk["pci_devices"]:
        if properties["vendor_id"] == _AMD and first <= properties["device_id"] <= last:
            return str(target)
    return "unknown"


def _name(major: int, minor: int, stepping: int) -> str:
    return f"gfx{major}{minor}{stepping:x}"


def _override(text: str) -> tuple[int, int, int] | None:
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    major, minor, stepping = (int(part) for part in match.groups())
    return (major, minor, stepping) if major <= 63 and minor <= 255 and stepping <= 255 else None


def _has_device(root: Path, minor: int) -> bool:
    """Whether ROCm counts a GPU: it passes over those whose device is not there, or not allowed in the container."""
    if not 0 < minor <= _INT_MAX:
        return True
    try:
        os.close(os.open(root / f"dev/dri/renderD{minor}", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EPERM)
    return True


# ---- the topology ----


def _read_topology(directory: Path, with_details: bool) -> list[_Node | None]:
    """The nodes in the order of their numbers; None for one that the container hides."""
    try:
        if not directory.is_dir():
            return []
        for _ in range(_ATTEMPTS):
            before = _number(directory / "generation_id")
            nodes, fault = _try_nodes(directory, with_details)
            if _number(directory / "generation_id") == before:
                if fault is not None:
                    raise fault
                return nodes
    except OSError as error:
        raise TopologyError(f"{error.filename}: {error.strerror}") from error
    raise TopologyError(f"{directory}: changed {_ATTEMPTS} times while it was read")


def _try_nodes(directory: Path, with_details: bool) -> tuple[list[_Node | None], Exception | None]:
    try:
        names = [path.name for path in (directory / "nodes").iterdir() if _NODE_NAME.fullmatch(path.name)]
        numbers = sorted(number for number in map(int, names) if number <= _INT_MAX)
        if len(numbers) > _NODE_LIMIT:
            raise TopologyError(f"{directory}/nodes: has more than {_NODE_LIMIT} nodes")
        return [_read_node(directory / "nodes" / str(number), with_details) for number in numbers], None
    except (OSError, TopologyError) as error:
        return [], error


def _read_node(node: Path, with_details: bool) -> _Node | None:
    try:
        properties = _properties(node / "properties", _NODE_KEYS, ("simd_count",))
        memory = 0
        if properties["simd_count"] and with_details:
            _number(node / "gpu_id")
            for bank in range(properties["mem_banks_count"]):
                values = _properties(node / f"mem_banks/{bank}/properties", _BANK_KEYS, tuple(_BANK_KEYS))
                memory += values["size_in_bytes"] if values["heap_type"] in _OWN_MEMORY else 0
    except PermissionError as error:
        if error.errno == errno.EPERM:
            return None
        raise
    return _Node(properties, memory)


def _properties(path: Path, keys: Mapping[str, int], required: Iterable[str]) -> dict[str, int]:
    """The numbers of a file of `key value` lines; 0 for those that it lacks."""
    text = _read(path)
    if text and not text.endswith("\n"):
        raise TopologyError(f"{path}: is truncated")
    values = {}
    for line in text.split("\n")[:-1]:
        key = re.split(r"[ \t]", line, maxsplit=1)[0]
        if key in keys:
            values[key] = _parse(path, line[len(key) :], keys[key])
    missing = [key for key in required if key not in values]
    if missing:
        raise TopologyError(f"{path}: lacks {missing[0]}")
    return {key: values.get(key, 0) for key in keys}


def _number(path: Path) -> int:
    return _parse(path, _read(path).removesuffix("\n"), _UINT64)


def _parse(path: Path, text: str, limit: int) -> int:
    digits = text.strip(" \t")
    if re.fullmatch(r"[0-9]+", digits) is None or len(digits) > 4300 or int(digits) > limit:
        raise TopologyError(f"{path}: {digits[:80]!r} is not a number from 0 to {limit}")
    return int(digits)


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        data = os.read(descriptor, _FILE_LIMIT + 1)
    finally:
        os.close(descriptor)
    if len(data) > _FILE_LIMIT:
        raise TopologyError(f"{path}: is too large")
    return data.decode("latin-1")


# ---- what the variables leave ----


def _visible(found: list[_Found], environment: Environment) -> set[int]:
    """Which GPUs HIP shows, by their places in the list."""
    ids = [gpu.unique_id for gpu in found]
    numbered = [at for at, gpu in enumerate(found) if gpu.is_numbered]
    rocr = [at for at in _select_rocr(environment, numbered, ids) if found[at].is_agent]
    value = environment.get("HIP_VISIBLE_DEVICES") or environment.get("CUDA_VISIBLE_DEVICES") or ""
    return set(_select(value.removesuffix(","), rocr, ids, _hip_device, repeats=True) if value else rocr)


def _select_rocr(environment: Environment, devices: list[int], ids: list[int]) -> list[int]:
    value = environment.get("ROCR_VISIBLE_DEVICES")
    if value is None:
        return devices
    tokens = value.split(",")[: len(devices)]
    return _select(",".join(tokens), devices, ids, _rocr_device, repeats=False)


_Grammar = Callable[[str, "list[int]"], "int | None"]


def _select(value: str, devices: list[int], ids: list[int], grammar: _Grammar, *, repeats: bool) -> list[int]:
    """The devices that a list names. The first word that is wrong ends it."""
    chosen: list[int] = []
    own = [ids[device] for device in devices]
    for token in value.split(","):
        at = grammar(token, own)
        is_again = at is not None and devices[at] in chosen
        if at is None or (is_again and not repeats):
            break
        if not is_again:
            chosen.append(devices[at])
    return chosen


def _uuid(unique_id: int) -> str:
    return f"GPU-{unique_id:016x}" if unique_id else "GPU-XX"


def _rocr_device(token: str, ids: list[int]) -> int | None:
    token = token.strip(_BLANKS).upper()
    if token.startswith("G"):
        found = [at for at, each in enumerate(ids) if each and _uuid(each).upper().startswith(token)]
        return found[0] if len(found) == 1 and len(token) > len("GPU-") else None
    match = _INDEX.fullmatch(token)
    if match is None:
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    size = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal[:100])
    return size if size < len(ids) and (sign != "-" or size == 0) else None


def _hip_device(token: str, ids: list[int]) -> int | None:
    if "GPU-" in token:
        return next((at for at, each in enumerate(ids) if token in _uuid(each)), None)
    is_number = re.fullmatch(r"0|[1-9][0-9]*", token) is not None and len(token) < 10
    return int(token) if is_number and int(token) < len(ids) else None

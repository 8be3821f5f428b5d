"""The straightforward GPU detector that ours is measured against: pathlib and read_text, neither clever nor slow."""

from __future__ import annotations

from pathlib import Path


def targets(root: str) -> list[str]:
    """Return the gfx target of each GPU, in the order of the nodes."""
    nodes = Path(root, "sys/class/kfd/kfd/topology/nodes")
    found = []
    for node in sorted((path for path in nodes.iterdir() if path.name.isdigit()), key=lambda path: int(path.name)):
        properties = {}
        for line in (node / "properties").read_text().splitlines():
            key, _, value = line.partition(" ")
            properties[key] = int(value)
        if properties.get("simd_count"):
            major, rest = divmod(properties["gfx_target_version"], 10000)
            minor, stepping = divmod(rest, 100)
            found.append(f"gfx{major}{minor:x}{stepping:x}")
    return found

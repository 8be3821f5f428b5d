"""A machine with GPUs as a tree of files, below which `rocm_sdk.gpus(root=...)` looks.

The tree has the files of the kernel in sysfs (amdgpu's KFD topology), and the device files.
"""

from pathlib import Path

TOPOLOGY = "sys/class/kfd/kfd/topology"
GIB = 1 << 30
COHERENT_HOST_ACCESS = 1 << 31  # of the property `capability`


def version_of(target: str) -> int:
    """Return gfx_target_version of a target.

    The stepping is the last digit of the target in base 16, and the minor version the digit before.
    """
    digits = target.removeprefix("gfx").partition("-")[0]
    return int(digits[:-2]) * 10000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)


class Machine:
    """The tree below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("sys/module/amdgpu/initstate", "live\n")
        self.write(f"{TOPOLOGY}/generation_id", "2\n")
        self.write(f"{TOPOLOGY}/system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0\n")
        (root / TOPOLOGY / "nodes").mkdir()
        self.write("dev/kfd")

    def write(self, name: str, text: str = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
        return path

    def cpu(self, node: int) -> None:
        facts = {
            "cpu_cores_count": 16,
            "simd_count": 0,
            "mem_banks_count": 1,
            "caches_count": 1,
            "io_links_count": 0,
            "p2p_links_count": 0,
            "simd_id_base": 0,
            "capability": 0,
            "gfx_target_version": 0,
            "vendor_id": 2,
            "device_id": 0,
            "location_id": 0,
            "drm_render_minor": 0,
        }
        self._node(node, 0, facts)
        bank = {"heap_type": 0, "size_in_bytes": 64 * GIB, "flags": 0, "width": 64, "mem_clk_max": 2400}
        self.write(f"{TOPOLOGY}/nodes/{node}/mem_banks/0/properties", _lines(bank))

    def gpu(self, node: int, target: str, *, memory: int = 16 * GIB, **properties: int) -> None:
        """Add a GPU node; `properties` replace or extend the properties that the kernel would show."""
        minor = properties.setdefault("drm_render_minor", 128 + node)
        properties["capability"] = properties.get("capability", 0) | COHERENT_HOST_ACCESS
        facts = {
            "cpu_cores_count": 0,
            "simd_count": 192,
            "mem_banks_count": 1,
            "caches_count": 1,
            "io_links_count": 1,
            "p2p_links_count": 0,
            "simd_id_base": 2147487744,
            "simd_per_cu": 2,
            "gfx_target_version": version_of(target),
            "vendor_id": 0x1002,
            "device_id": 0x744C,
            "location_id": node << 8,
            "domain": 0,
            "hive_id": 0,
            "unique_id": 0x1000 + node,
            "num_xcc": 1,
        }
        self._node(node, 40000 + node, facts | properties)
        bank = {"heap_type": 1, "size_in_bytes": memory, "flags": 0, "width": 384, "mem_clk_max": 1249}
        self.write(f"{TOPOLOGY}/nodes/{node}/mem_banks/0/properties", _lines(bank))
        link = {"type": 2, "version_major": 0, "node_from": node, "node_to": 0, "weight": 20, "flags": 1}
        self.write(f"{TOPOLOGY}/nodes/{node}/io_links/0/properties", _lines(link))
        self.write(f"dev/dri/renderD{minor}")

    def _node(self, node: int, gpu_id: int, properties: dict[str, int]) -> None:
        self.write(f"{TOPOLOGY}/nodes/{node}/gpu_id", f"{gpu_id}\n")
        self.write(f"{TOPOLOGY}/nodes/{node}/name", "\n")
        self.write(f"{TOPOLOGY}/nodes/{node}/properties", _lines(properties | {"max_engine_clk_ccompute": 4500}))
        cache = {"processor_id_low": properties["simd_id_base"], "level": 1, "size": 32, "type": 5}
        self.write(f"{TOPOLOGY}/nodes/{node}/caches/0/properties", _lines(cache))
        for directory in ("io_links", "p2p_links"):
            (self.root / TOPOLOGY / "nodes" / str(node) / directory).mkdir(exist_ok=True)


def _lines(properties: dict[str, int]) -> str:
    return "".join(f"{key} {value}\n" for key, value in properties.items())


def machine_of(root: Path, *targets: str) -> Machine:
    """Make a machine with these GPUs, from node 1 on."""
    machine = Machine(root)
    machine.cpu(0)
    for node, target in enumerate(targets, 1):
        machine.gpu(node, target)
    return machine

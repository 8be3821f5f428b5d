"""A machine with GPUs as a tree of files, below which `rocm_sdk.gpus(root=...)` looks: what the kernel shows in sysfs
(amdgpu's KFD topology), and the device files.
"""

from pathlib import Path

TOPOLOGY = "sys/class/kfd/kfd/topology"
GIB = 1 << 30


def version_of(target: str) -> int:
    """gfx_target_version of a target: the stepping is its last digit in base 16, the minor version the one before."""
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
        self._node(node, 0, {"cpu_cores_count": 16, "simd_count": 0, "gfx_target_version": 0})

    def gpu(self, node: int, target: str, *, memory: int = 16 * GIB, **properties: int) -> None:
        """A GPU node; `properties` replace or extend what the kernel would say of it."""
        minor = properties.setdefault("drm_render_minor", 128 + node)
        facts = {
            "cpu_cores_count": 0,
            "simd_count": 192,
            "mem_banks_count": 1,
            "simd_per_cu": 2,
            "gfx_target_version": version_of(target),
            "vendor_id": 0x1002,
            "device_id": 0x744C,
            "location_id": node << 8,
            "domain": 0,
            "hive_id": 0,
            "capability": 0,
            "unique_id": 0x1000 + node,
            "num_xcc": 1,
        }
        self._node(node, 40000 + node, facts | properties)
        bank = {"heap_type": 1, "size_in_bytes": memory, "flags": 0, "width": 384, "mem_clk_max": 1249}
        self.write(f"{TOPOLOGY}/nodes/{node}/mem_banks/0/properties", _lines(bank))
        self.write(f"dev/dri/renderD{minor}")

    def _node(self, node: int, gpu_id: int, properties: dict[str, int]) -> None:
        self.write(f"{TOPOLOGY}/nodes/{node}/gpu_id", f"{gpu_id}\n")
        self.write(f"{TOPOLOGY}/nodes/{node}/name", "\n")
        self.write(f"{TOPOLOGY}/nodes/{node}/properties", _lines(properties | {"max_engine_clk_ccompute": 4500}))


def _lines(properties: dict[str, int]) -> str:
    return "".join(f"{key} {value}\n" for key, value in properties.items())


def machine_of(root: Path, *targets: str) -> Machine:
    """A machine with these GPUs, from node 1 on."""
    machine = Machine(root)
    machine.cpu(0)
    for node, target in enumerate(targets, 1):
        machine.gpu(node, target)
    return machine

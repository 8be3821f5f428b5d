"""Artifacts of a build whose libraries have their kernels in archives, with one that names other archives."""

from pathlib import Path

from artifact_tree import ArtifactTree, usual_tree
from sample_device_code import HIPK, bundle, library, message, objects


def with_marker(root: Path, *named: str) -> ArtifactTree:
    """Make artifacts with RCCL, whose kernels are in archives of these names."""
    tree = usual_tree(root)
    marker = message({"kernel_name": "lib/librccl.so.1", "kpack_search_paths": list(named)})
    text = "".join(f"\\x{byte:02x}" for byte in marker)
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"'
    path = tree.place("rccl_lib_generic", "lib/librccl.so.1")
    made = library(root.parent / "librccl.so.1", [bundle(objects("gfx942"))], magic=HIPK, more=section)
    path.write_bytes(made.read_bytes())
    path.chmod(0o755)
    return tree

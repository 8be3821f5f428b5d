"""The arguments with which each program of the packages only prints something, one row per line."""

from typing import NamedTuple


class ToolRow(NamedTuple):
    """What is known about a program."""

    arguments: tuple[str, ...]
    needs_tree: bool = True  # its script extracts the development tree first
    any_status: bool = False  # it fails, by design, without a GPU or driver
    calls: str | None = None  # a program of core that it starts; an SDK without it is sound


# Other programs are started with --version, and are assumed to need the tree.
TOOLS = {
    "amd-smi": ToolRow(("version",), needs_tree=False, any_status=True),
    "hipcc": ToolRow(("--version",), calls="lib/llvm/bin/clang++"),
    "hipconfig": ToolRow(("--version",)),
    "hipify-clang": ToolRow(("--version",)),
    "hipify-perl": ToolRow(("-help",)),
    "offload-arch": ToolRow(("--help",)),
    "rocgdb": ToolRow(("--version",)),
    "rocm-smi": ToolRow(("--help",), needs_tree=False),
    "rocm_agent_enumerator": ToolRow(("--help",), needs_tree=False, any_status=True),
    "rocminfo": ToolRow((), needs_tree=False, any_status=True),
    "roc-obj": ToolRow(("--help",)),
    "roc-obj-extract": ToolRow(("-h",)),
    "roc-obj-ls": ToolRow(("-h",)),
    "roccoremerge": ToolRow(("--help",)),
    "rocpd": ToolRow(("--help",)),
    "rocpd2csv": ToolRow(("--help",)),
    "rocpd2otf2": ToolRow(("--help",)),
    "rocpd2pftrace": ToolRow(("--help",)),
    "rocpd2summary": ToolRow(("--help",)),
    "rocprof-compute": ToolRow(("--version",), needs_tree=False),
    "rocprof-sys-attach": ToolRow(("--help",), needs_tree=False),
    "rocprof-sys-avail": ToolRow(("--help",), needs_tree=False),
    "rocprof-sys-causal": ToolRow(("--help",), needs_tree=False),
    "rocprof-sys-instrument": ToolRow(("--version",), needs_tree=False),
    "rocprof-sys-python": ToolRow(("--help",), needs_tree=False),
    "rocprof-sys-run": ToolRow(("--version",), needs_tree=False),
    "rocprof-sys-sample": ToolRow(("--version",), needs_tree=False),
    "rocprofv3": ToolRow(("--version",)),
    "rocprofv3-attach": ToolRow(("--help",)),
    "rocprofv3-avail": ToolRow(("--help",)),
}

UNKNOWN_TOOL = ToolRow(("--version",))

"""The libraries that ROCm does not build for some GPUs.

For such a GPU a library is a stub, or has only code for another target, since a build without a target fails. Callers
ask whether a library supports the GPU, and use another one.
"""

from rocm_sdk.base.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from rocm_sdk._native import GpuCoverage, LibraryCoverage


class Row(NamedTuple):
    """Processors for which builds have less of a library. A row has one library and one lack.

    lack: "library": it is not built for them, rocBLAS, hipBLAS and torch do without it; "archive": builds have no
        archive of its kernels for them, by design; "archive but": they have one only for these.
    """

    library: str
    lack: "Literal['library', 'archive', 'archive but']"
    processors: str


# Sources. H: hipBLASLt's TensileliteSupportedArchitectures.cmake, and TheRock, which builds it for gfx1100 in their
# place. T: the exclusions of TheRock's cmake/therock_amdgpu_targets.cmake (EXCLUDE_TARGET_PROJECTS).
# fmt: off
ROWS = (
    Row("hipblaslt",   "library",     "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"),                   # H
    Row("hipblaslt",   "library",     "gfx1010 gfx1011 gfx1012 gfx1013"),                             # H
    Row("hipblaslt",   "library",     "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"),     # H
    Row("hipblaslt",   "archive",     "gfx1102"),                                                     # T
    Row("rccl",        "archive",     "gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"),                     # T
    Row("hipsparselt", "archive but", "gfx942 gfx950"),                                               # T
)
# fmt: on


def _processors(library: str, *lacks: str) -> "list[str]":
    return [name for row in ROWS if row.library == library and row.lack in lacks for name in row.processors.split()]


def may_lack_archive(library: str, processor: str) -> bool:
    """Return whether builds leave out a library's kernels for a processor.

    Otherwise a missing archive was lost.
    """
    alone = _processors(library, "archive but")
    return processor not in alone if alone else processor in _processors(library, "library", "archive")


def is_done_without(library: "LibraryCoverage", on: "GpuCoverage") -> bool:
    """Return whether a library is there, but calculates nothing for a GPU, as in every build."""
    return on.verdict in ("none", "not needed") and on.gpu.partition(":")[0] in _processors(library.name, "library")


def is_spare(library: "LibraryCoverage", on: "GpuCoverage") -> bool:
    """Return whether a GPU can do without the code: of an unneeded library, or compiled ahead for others."""
    return on.lack == "unnamed" or is_done_without(library, on)

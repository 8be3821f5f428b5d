"""The libraries that ROCm does not build for some GPUs.

For such a GPU a library is a stub, or has code for another target alone: a build with no target fails. Callers ask
whether a library supports the GPU, and take another library.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import GpuCoverage, LibraryCoverage

# Library -> the processors that it is not built for. Source: hipBLASLt's TensileliteSupportedArchitectures.cmake, and
# TheRock, which builds it for gfx1100 in their place; rocBLAS, hipBLAS and torch do without it.
_NOT_BUILT_FOR = {
    "hipblaslt": frozenset(
        {
            *("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
            *("gfx1010", "gfx1011", "gfx1012", "gfx1013"),
            *("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"),
        }
    ),
}

# Library -> the processors for which builds have no archive of its kernels, by design. Source: the exclusions of
# TheRock's cmake/therock_amdgpu_targets.cmake (EXCLUDE_TARGET_PROJECTS).
# cmake/therock_amdgpu_targets.cmake excludes (EXCLUDE_TARGET_PROJECTS).
_WITHOUT_ARCHIVE = {
    "hipblaslt": frozenset({*_NOT_BUILT_FOR["hipblaslt"], "gfx1102"}),
    "rccl": frozenset({"gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}),
}
_WITH_ARCHIVE_ALONE = {"hipsparselt": frozenset({"gfx942", "gfx950"})}


def may_lack_archive(library: str, processor: str) -> bool:
    """Return whether builds leave the kernels of a library out for a processor.

    Otherwise an absent archive was lost.
    """
    alone = _WITH_ARCHIVE_ALONE.get(library)
    return processor not in alone if alone is not None else processor in _WITHOUT_ARCHIVE.get(library, frozenset())


def is_done_without(library: "LibraryCoverage", on: "GpuCoverage") -> bool:
    """Return whether a library is there, and calculates nothing for a GPU, as everywhere."""
    processors = _NOT_BUILT_FOR.get(library.name, frozenset())
    return on.verdict in ("none", "not needed") and on.gpu.partition(":")[0] in processors


def is_spare(library: "LibraryCoverage", on: "GpuCoverage") -> bool:
    """Return whether a GPU does not need the code: of a library that is done without, or compiled ahead for others."""
    return on.lack == "unnamed" or is_done_without(library, on)

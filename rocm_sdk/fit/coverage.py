"""The coverage of GPUs by the libraries of an installation, judged by the code in their files."""

import os

from rocm_sdk import _native, targets
from rocm_sdk.installed.view import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SPIRV = "amdgcnspirv"
_HAVING_CODE = frozenset({"exact", "compatible", "generic"})


def coverage(
    gpus: "Iterable[str] | None" = None, sdk: str | os.PathLike[str] | None = None, *, unofficial: bool = False
) -> "_native.Coverage":
    """Return which libraries have code for which GPUs.

    gpus: targets and families ("gfx1151", "gfx90a:xnack-", "gfx94X-dcgpu"); None: the GPUs of this machine as ROCm
        presents them. A target without features, such as "gfx90a", stands for a GPU in any mode.
    sdk: a directory, with everything below it; None: the packages of the installed SDK.
    unofficial: whether to count code for other processors that runtimes with distributions' patches try.

    Raises UnknownTargetError for a name that is not a target, PackageNotInstalledError without an SDK,
    LibraryNotFoundError or LibraryAccessError for a directory that does not exist or cannot be listed. A file that
    cannot be read is among the result's `faults`.
    """
    chosen = machine_targets() if gpus is None else targets.expand(",".join(gpus))
    directories = current().directories if sdk is None else (os.fspath(sdk),)
    return _native.coverage(directories, chosen, unofficial)


def machine_targets() -> tuple[str, ...]:
    """Return the targets of this machine's GPUs, as ROCm presents them, each once."""
    return targets_of(_native.gpus())


def targets_of(gpus: "Iterable[_native.Gpu]") -> tuple[str, ...]:
    """Return the targets of the GPUs whose target is known, each once."""
    return tuple(dict.fromkeys(gpu.target for gpu in gpus if gpu.processor != "unknown"))


def with_code(found: "_native.Coverage") -> "tuple[_native.LibraryCoverage, ...]":
    """Return the libraries that have code for any GPUs, in their files or in archives."""
    return tuple(library for library in found.libraries if library.targets or any(on.total > 0 for on in library.gpus))


def needs_translation(found: "_native.Coverage", index: int | None = None) -> bool:
    """Return whether a library has only SPIR-V for a GPU: for any of them, or for the one at `index`."""
    places = slice(None) if index is None else slice(index, index + 1)
    return any(
        on.verdict == "compiled at first use" and on.covered > 0
        for library in found.libraries
        if any(each.target == SPIRV for each in library.targets)
        for on in library.gpus[places]
    )


def supported_by_code(found: "_native.Coverage") -> tuple[str, ...]:
    """Return the GPUs that were asked for and that some library has code for, in their order."""
    supported = {on.gpu for library in found.libraries for on in library.gpus if _has_code(library, on)}
    order = dict.fromkeys(on.gpu for library in found.libraries[:1] for on in library.gpus)
    return tuple(gpu for gpu in order if gpu in supported)


def _has_code(library: "_native.LibraryCoverage", on: "_native.GpuCoverage") -> bool:
    """Return whether the library has code for the GPU; SPIR-V counts. Code that it could compile itself does not."""
    if on.verdict == "compiled at first use":
        return any(each.target == SPIRV for each in library.targets)
    return on.verdict in _HAVING_CODE

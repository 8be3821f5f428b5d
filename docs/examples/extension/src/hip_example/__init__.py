"""The GPUs that HIP sees. The package works without ROCm, too, and finds none there."""

from importlib.util import find_spec

import rocm_sdk

__all__ = ["device_count", "why_no_rocm"]

_extension = find_spec(f"{__name__}._hip")
assert _extension is not None
assert _extension.origin is not None

why_no_rocm: str | None = None
try:
    rocm_sdk.preload_for(_extension.origin)  # of the SDK; () where the system has this ROCm
except rocm_sdk.PackageNotInstalledError as error:  # neither has it
    why_no_rocm = str(error)  # with the line to type

    def device_count() -> int:
        """Return 0."""
        return 0

else:
    from ._hip import device_count

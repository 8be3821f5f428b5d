"""How ROCm's runtime reads the variables that choose and present GPUs, as the installed file shows.

Reading the list of GPUs needs no SDK: the SDK is asked only if runtimes read a variable's value differently.
"""

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError

from .known_faults import release_of

# The releases whose runtime fails at doorbells of an older type: clr 269 (6.4.2 does not), rocm-systems 8801. Which
# release has the correction (rocm-systems 4936, August 2026) is not known: its file shows it.
_FIRST, _LAST = (7, 0), (7, 14)


def installed_rules() -> tuple[bool, bool, bool]:
    """Return whether the runtime reads 0b1 as 1, accepts any version as an override, and fails at older doorbells.

    All are False if that is not known.
    """
    try:
        path = _native.locate("hsa-runtime64").path
        binary, any_version, ends = _native.runtime_rules(path) if path is not None else (False, False, None)
        release = release_of(_native.open_sdk().facts()["version"])
    except (RocmSdkError, OSError, ImportError):
        return False, False, False  # no SDK, or a damaged one, which others report
    return binary, any_version, release is not None and _FIRST <= release <= _LAST if ends is None else ends

"""The rules by which ROCm's runtime reads the variables that choose and present GPUs, as the installed file shows them.

Reading the list of GPUs needs no SDK: one is asked only where a variable has a value that runtimes read differently.
"""

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError


def installed_rules() -> tuple[bool, bool]:
    """Return whether the runtime takes 0b1 for 1, and whether it takes any version as an override.

    Both are False where that is not known.
    """
    try:
        path = _native.locate("hsa-runtime64").path
        return _native.runtime_rules(path) if path is not None else (False, False)
    except (RocmSdkError, OSError, ImportError):
        return False, False  # no SDK, or a damaged one, which others report

"""Why an adoption is refused."""

from rocm_sdk.errors import RocmSdkError


class AdoptionError(RocmSdkError):
    """The environment is not one in which names can change their owner, or a file of ours cannot be restored."""

    code = "E-PKG-006"

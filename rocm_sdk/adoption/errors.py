"""The error for a refused adoption."""

from rocm_sdk.errors import RocmSdkError


class AdoptionError(RocmSdkError):
    """The error for an environment that does not allow an adoption, or a file that cannot be restored."""

    code = "E-PKG-006"

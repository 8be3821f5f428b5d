"""Why an adoption is refused."""

from rocm_sdk.errors import RocmSdkError


class AdoptionError(RocmSdkError):
    """The environment does not allow an adoption, or a file cannot be restored."""

    code = "E-PKG-006"

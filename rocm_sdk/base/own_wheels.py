"""Where to get this project's distributions: they are on no index yet, and a source tree makes their wheels.

Only this module says so. It imports nothing of this package: the message of a failed import uses it too.
"""

# A wheel of rocm-sdk-build needs the loader's wheel of the same version beside it.
_FILES = {"rocm-sdk-loader": "rocm_sdk_loader-*.whl", "rocm-sdk-build": "rocm_sdk_*.whl"}


def install_command(distribution: str, *, pip: str = "pip", again: bool = False) -> str:
    """Return the command that installs "rocm-sdk-loader" or "rocm-sdk-build".

    again: install it over a damaged installation.
    """
    options = "--force-reinstall --no-deps " if again else ""
    return f"make wheel && {pip} install {options}build/wheel/{_FILES[distribution]}  # in the source tree of rocm_sdk"

"""The reason why the extension cannot be imported. This module imports nothing that needs the extension."""

import os
import sys

from .own_wheels import install_command


def explained(error: ImportError) -> ImportError:
    """Return the error with a fix added; the same error if no fix is known."""
    text = str(error)
    directory = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # of rocm_sdk
    if not os.path.isdir(directory):
        archive = directory
        while archive != os.path.dirname(archive) and not os.path.isfile(archive):
            archive = os.path.dirname(archive)
        text = f"rocm_sdk cannot be used out of an archive ({archive}): the linker loads its extension from a file"
        fix = "install rocm-sdk-loader beside the archive, or unpack the archive and run the directory"
    elif "failed to map segment" in text or "Cannot allocate memory" in text:
        text = f"there is no memory for the extension of rocm_sdk: {text}"
        fix = "give the process a larger address space: ulimit -v unlimited (RLIMIT_AS)"
    elif "libelf" in text and "cannot open shared object file" in text:
        fix = (
            "install the system's libelf: apt-get install libelf1 (Debian, Ubuntu; libelf1t64 in later releases),"
            " dnf install elfutils-libelf (Fedora), zypper install libelf1 (SUSE)"
        )
    elif os.path.isfile(os.path.join(os.path.dirname(directory), "csrc", "compiler-flags")):
        text = f"{directory} is the source tree of rocm_sdk, and nothing is compiled in it"
        fix = (
            "run this in another directory, where Python finds the installed package;"
            " or compile the source tree: make develop, then build/venv-develop/bin/python"
        )
    elif not any(name.startswith("_native.") and name.endswith(".so") for name in os.listdir(directory)):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        text = f"{directory} has no extension (_native): it was not installed, or for another Python than {version}"
        fix = install_command("rocm-sdk-loader", pip=f"{sys.executable} -m pip", again=True)
    else:
        return error
    return type(error)(f"{text}\n  fix: {fix}", name=error.name, path=error.path)

"""The subject `opencl`: the system's ICD loader would find AMD's driver."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from rocm_sdk.base.files import read_beginning
from rocm_sdk.doctor.load_results import load_all
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.view import Installed

_DRIVER = "libamdocl64.so"
_LOADER = "libOpenCL.so.1"  # the SONAME of each ICD loader
_VENDORS = "/etc/OpenCL/vendors"


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check whether the loader finds the driver.

    Nothing is checked if the SDK has no driver, or the system no loader.
    """
    if _DRIVER not in installation.linker_names:
        return
    [result] = load_all([_LOADER], options.seconds, 1)
    if result.outcome == "refused":
        return
    directory = os.environ.get("OCL_ICD_VENDORS", _VENDORS)
    fault = _fault_of(directory, options.seconds)
    if fault is None:
        recorder.good(f"{directory} names AMD's driver")
    else:
        recorder.bad("W-OCL-001", _LOADER, directory=directory, found=fault)


def _fault_of(directory: str, seconds: int) -> str | None:
    """Return what is there instead of AMD's driver; None if the driver is there."""
    try:
        drivers = [driver for driver in _drivers(directory) if _DRIVER in os.path.basename(driver)]
    except OSError as error:
        return f"unknown ({error.strerror})"
    absent = [driver for driver in drivers if not _is_there(driver, seconds)]
    if len(absent) < len(drivers):
        return None
    return f"{absent[0]}, which does not exist" if absent else "none that is AMD's"


def _is_there(driver: str, seconds: int) -> bool:
    """Return whether a driver is there. A name without a directory is the linker's to find."""
    if "/" in driver:
        return os.path.exists(driver)
    [result] = load_all([driver], seconds, 1)
    return result.outcome != "refused"


def _drivers(directory: str) -> Iterator[str]:
    """Yield the libraries that the .icd files of the directory name. The variable may also name a file or a library.

    Raises OSError if the directory cannot be listed.
    """
    if not os.path.isdir(directory):
        yield directory
        return
    for name in sorted(os.listdir(directory)):
        if name.endswith(".icd"):
            with suppress(OSError):
                yield read_beginning(os.path.join(directory, name), 4096).decode(errors="replace").strip()

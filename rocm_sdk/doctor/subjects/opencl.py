"""Subject `opencl`: whether the system's ICD loader would find AMD's driver."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from rocm_sdk.base.files import read_beginning
from rocm_sdk.doctor.loading import load_all
from rocm_sdk.doctor.options import Options
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.installation import Installed

_DRIVER = "libamdocl64.so"
_LOADER = "libOpenCL.so.1"  # the SONAME of each ICD loader
_VENDORS = "/etc/OpenCL/vendors"


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Checks nothing if the SDK has no OpenCL driver, or the system no loader."""
    if _DRIVER not in installation.linker_names:
        return
    [result] = load_all([_LOADER], options.seconds, 1)
    if result.outcome == "refused":
        return
    directory = os.environ.get("OCL_ICD_VENDORS", _VENDORS)
    drivers = [driver for driver in _drivers(directory) if _DRIVER in os.path.basename(driver)]
    if any(os.path.exists(driver) or "/" not in driver for driver in drivers):
        recorder.good(f"{directory} names AMD's driver")
    else:
        found = f"{drivers[0]}, which does not exist" if drivers else "none that is AMD's"
        recorder.bad("W-OCL-001", _LOADER, directory=directory, found=found)


def _drivers(directory: str) -> Iterator[str]:
    """The libraries that the .icd files of the directory name. The variable may also name a file or a library."""
    if not os.path.isdir(directory):
        yield directory
        return
    for name in sorted(os.listdir(directory)):
        if name.endswith(".icd"):
            with suppress(OSError):
                yield read_beginning(os.path.join(directory, name), 4096).decode(errors="replace").strip()

"""The check whether the SDK's libraries would call their own functions in the process of a checked program.

The libraries that a program is linked with come first in its process. An LLVM without symbol versions answers there for
the LLVM of libamd_comgr, which HIP opens later: another release's functions compile the kernels.
"""

from __future__ import annotations

import os

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.binding_faults import binding_faults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_sdk._native import HostFiles
    from rocm_sdk.problems import Problem

    from .missing import Against
    from .subject import Subject


def beside_program(subject: Subject, analysis: HostFiles, against: Against) -> Iterator[Problem]:
    """Yield a problem for each library of the SDK with each that answers for it, in a program that uses ROCm.

    Libraries are not asked about: initialize_process loads the SDK before them.
    """
    uses_rocm = analysis.opened or any(need.place == "SDK" for file in analysis.files for need in file.needs)
    is_program = subject.kind == "file" and any(file.is_program for file in analysis.files)
    if not is_program or against.installed is None or not uses_rocm:
        return
    installed = against.installed
    own = {os.path.realpath(path) for path in against.libraries}
    opened = [need.path for need in analysis.opened if need.place == "SDK" and need.path is not None]
    try:
        comgr = installed.locations.get("amd_comgr")
        opened += [comgr.path] if comgr is not None and comgr.path is not None else []
        found = installed.sdk.bindings(files=(*subject.files, *opened))
    except RocmSdkError:
        return  # the error is the SDK's, and `rocm-sdk test` reports it
    faults = (each for each in found.references if os.path.realpath(each.library) in own)
    yield from binding_faults(faults, installed, needing=subject.name)

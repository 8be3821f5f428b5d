"""The subject `bindings`: each library would call its own functions, in the order in which programs preload."""

from __future__ import annotations

from collections.abc import Iterator

from rocm_sdk.base.value_text import counted
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.binding_faults import binding_faults
from rocm_sdk.installed.init_module import init_module, preload_names
from rocm_sdk.installed.view import Installed

_FRAMEWORKS = ("torch",)


def check(installation: Installed, recorder: Recorder, _options: Options) -> None:
    """Follow the plan of all installed libraries, and the plan of each framework."""
    try:
        lists = [("all libraries", tuple(installation.locations)), *_lists_of_frameworks(recorder)]
    except (ModuleNotFoundError, RocmSdkError):
        return  # the subject `packages` reports it
    for what, shortnames in lists:
        if shortnames:
            _check_plan(installation, what, shortnames, recorder)


def _lists_of_frameworks(recorder: Recorder) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in _FRAMEWORKS:
        path = init_module(name)
        try:
            if path is not None:
                yield f"the libraries that {name} preloads", preload_names(path)
        except (OSError, ValueError) as error:
            recorder.skip(f"the libraries that {name} preloads: {path}: {error}")


def _check_plan(installation: Installed, what: str, shortnames: tuple[str, ...], recorder: Recorder) -> None:
    try:
        found = installation.sdk.bindings(*shortnames)
    except (ModuleNotFoundError, RocmSdkError) as error:
        recorder.skip(f"{what}: {error}")  # the subjects `api` and `libraries` report it
        return
    faults = list(binding_faults(found.references, installation))
    for each in faults:
        recorder.add(each, what)
    if not faults:
        recorder.good(f"{what}: {counted(found.reference_count, 'symbol')} would bind to the right file")

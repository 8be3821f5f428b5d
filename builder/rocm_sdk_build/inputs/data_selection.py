"""The data files that a tree with the code of fewer GPUs does without: none of the GPUs uses them."""

from __future__ import annotations

from pathlib import Path

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.code.trees import Left, Select, Selection

from .data_files import DataFile, data_files, files_below, not_needed
from .kernel_indexes import lost_tables


def select_for(gpus: tuple[str, ...], unofficial: bool) -> Select:
    """Return the selection of data files for GPUs.

    With `unofficial`, files that only patched runtimes try on the GPUs stay, too.
    """
    return lambda place: select_files(directory := Path(place), files_below(directory), gpus, unofficial)


def select_files(directory: Path, paths: tuple[str, ...], gpus: tuple[str, ...], unofficial: bool) -> Selection:
    """Return the selection among some files of a directory.

    `paths` are the paths of regular files below the directory, in order.
    """
    files = data_files(directory, paths)
    choice = not_needed(directory, files, gpus, unofficial)
    dropped = {file.path for file in choice.dropped}
    held = {each.file.path for each in choice.held}
    _prove(directory, paths, dropped, gpus, unofficial)
    return Selection(
        left_out=dict.fromkeys(sorted(dropped), f"it is not for {', '.join(gpus)}"),
        kinds=_counted(files),
        held=tuple(Left(each.file.path, each.why) for each in choice.held),
        suffices=bool(dropped) and any(file.targets and file.path not in dropped | held for file in files),
    )


def _counted(files: tuple[DataFile, ...]) -> dict[str, str]:
    """Return the kind of each file whose kind has files for single targets."""
    kinds = {file.kind for file in files if file.targets}
    return {file.path: file.kind for file in files if file.kind in kinds}


def _prove(directory: Path, paths: tuple[str, ...], dropped: set[str], gpus: tuple[str, ...], unofficial: bool) -> None:
    """Refuse a choice after which an index names a table that is no longer there."""
    kept = (path for path in paths if path not in dropped)
    for lost in lost_tables(directory, paths, kept, gpus, unofficial):
        raise refusal(lost.named_in, f"it names {lost.table}, which would not be there", "E-CODE-013")

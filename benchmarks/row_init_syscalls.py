"""The row `init-syscalls`: the system calls on files that initialize_process makes beyond the dynamic linker's.

A process that imports the empty package and runs the bare loop of dlopen over the same files makes the calls of the
linker, and of importing.
"""

from __future__ import annotations

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, figure
from .load_order import dlopen_order, planned_files
from .observation import observe_file_calls
from .row_init import figure_of_shape, require_same_files
from .stage import SHORTNAMES, Stage


def run(stage: Stage) -> list[Figure]:
    """Return the figures for each shape; raise ProcessError if loop and initialize_process load different files."""
    return [figure_of_shape(row, shape) for shape in stage.shapes for row in _run_shape(stage, shape)]


def _run_shape(stage: Stage, shape: Shape) -> list[Figure]:
    environment = stage.environment(shape)
    record = stage.directory / f"strace-{shape.value}"
    ours = observe_file_calls(environment.command("initialize", "rocm_sdk", *SHORTNAMES), record.with_suffix(".ours"))
    order = dlopen_order(environment)
    loop = observe_file_calls(environment.command("open_all", *order), record.with_suffix(".loop"))
    require_same_files(ours, loop, environment)
    assert ours.file_calls is not None
    assert loop.file_calls is not None
    own = ours.file_calls.copy()
    own.subtract(loop.file_calls)
    files = len(planned_files(environment))
    bound = 4 * files + 10 + 2 * ours.search_path_entries
    kinds = ", ".join(f"{number:+} {name}" for name, number in own.most_common() if number)
    listed = ours.listed_directories - loop.listed_directories - {str(environment.site / "rocm_sdk")}
    strangers = listed - {path for path in environment.sdk_files(listed) if path.endswith("/lib")}
    return [
        figure(
            f"calls of our own; {files} files, {ours.search_path_entries} path entries: {kinds}",
            "calls",
            [own.total()],
            Target("at most", bound),
        ),
        figure("directories listed", "directories", [len(listed)]),
        figure("of them other than a library directory", "directories", [len(strangers)], Target("at most", 0)),
    ]

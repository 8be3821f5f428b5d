"""The end of a process that runs one command."""

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_OBJECTS = 50_000  # between two collections; 700 by default, so one for each few modules


def as_process(run: "Callable[[], int]") -> int:
    """Return what `run` returns, for a process that ends afterwards.

    Imports leave no garbage, and what is left at the end goes with the process: looking for garbage took a
    tenth to a quarter of a command's time.
    """
    gc.set_threshold(_OBJECTS)
    try:
        return run()
    finally:
        gc.freeze()

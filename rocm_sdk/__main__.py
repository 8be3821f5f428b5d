"""The program `python -m rocm_sdk`, and the entry point of the command `rocm-sdk`, which is the same."""

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

_OBJECTS = 50_000  # between two collections; 700 by default, so one for each few modules


def main(arguments: "list[str] | None" = None) -> int:
    """Run the command, and return its exit status. Say which file it is if one takes the place of a module."""
    return _run(arguments) if arguments is not None else as_process(lambda: _run(None))


def as_process(run: "Callable[[], int]") -> int:
    """Return what `run` returns, for a process that ends then.

    Imported modules leave no garbage, and what is left in the end goes with the process: looking for garbage took a
    tenth to a quarter of a command.
    """
    gc.set_threshold(_OBJECTS)
    try:
        return run()
    finally:
        gc.freeze()


def _run(arguments: "list[str] | None") -> int:
    try:
        from .cli import main as run

        return run(arguments)
    except Exception as error:
        from .base.shadow import shadow_behind

        shadow = shadow_behind(error)
        if shadow is None:
            raise
        where = f"{shadow.path} takes the place of {shadow.replaced} {shadow.name}"
        print(f"rocm-sdk: {where}: {type(error).__name__}: {error} [E-ENV-013]", file=sys.stderr)
        in_words = f"Rename {shadow.path}, or take its directory out of {shadow.variable}"
        print(f"  fix: {shadow.repair or in_words}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

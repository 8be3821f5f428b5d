"""The program `python -m rocm_sdk`, and the entry point of the command `rocm-sdk`, which is the same."""

import sys

from rocm_sdk.base.process_end import as_process

__all__ = ["main"]


def main(arguments: "list[str] | None" = None) -> int:
    """Run the command, and return its exit status. Say which file it is if one takes the place of a module."""
    return _run(arguments) if arguments is not None else as_process(lambda: _run(None))


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

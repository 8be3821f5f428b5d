"""`python -m rocm_sdk`, and the entry point of the command `rocm-sdk`, which is the same."""

import sys

__all__ = ["main"]


def main(arguments: "list[str] | None" = None) -> int:
    """Runs the command; says which file it is if one takes the place of a module."""
    try:
        from .cli import main as run

        return run(arguments)
    except Exception as error:
        from .base.shadowing import shadow_behind

        shadow = shadow_behind(error)
        if shadow is None:
            raise
        where = f"{shadow.path} takes the place of {shadow.replaced} {shadow.name}"
        print(f"rocm-sdk: {where}: {type(error).__name__}: {error} [E-ENV-013]", file=sys.stderr)
        by_hand = f"by hand: rename {shadow.path}, or take its directory out of {shadow.variable}"
        print(f"  fix: {shadow.repair or by_hand}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

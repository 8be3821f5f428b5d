"""`python -m rocm_sdk`, and the entry point of the command `rocm-sdk`, which is the same."""

import sys

from .cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())

"""`python -m rocm_sdk`: the same as the command `rocm-sdk`."""

import sys

from .cli import main

sys.exit(main())

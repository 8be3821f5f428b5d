"""The program `python -m rocm_sdk.adoption`: `rocm-sdk adopt`, if that command belongs to the other distribution."""

import argparse
import sys

from rocm_sdk.base.value_text import harmless
from rocm_sdk.errors import RocmSdkError

from .command import DESCRIPTION, add_arguments, run


def main() -> int:
    """Parse the arguments of the process, run the command, and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m rocm_sdk.adoption", description=DESCRIPTION)
    add_arguments(parser)
    try:
        return run(parser.parse_args())
    except RocmSdkError as error:
        print(f"rocm-sdk: {harmless(error.message)} [{error.code}]", file=sys.stderr)
        if error.fix is not None:
            print(f"  fix: {harmless(error.fix)}", file=sys.stderr)
        return 1


sys.exit(main())

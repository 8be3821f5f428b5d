"""The command `rocm-sdk adopt`, which takes over files from AMD's distribution `rocm`.

The implementation is in rocm_sdk.adoption.
"""

from rocm_sdk.adoption.command import DESCRIPTION, EXAMPLE, add_arguments, run

__all__ = ["DESCRIPTION", "EXAMPLE", "add_arguments", "run"]

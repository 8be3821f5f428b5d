"""`rocm-sdk adopt`: lives beside AMD's distribution `rocm`. All of it is in rocm_sdk.adoption."""

from rocm_sdk.adoption.command import DESCRIPTION, EXAMPLE, add_arguments, run

__all__ = ["DESCRIPTION", "EXAMPLE", "add_arguments", "run"]

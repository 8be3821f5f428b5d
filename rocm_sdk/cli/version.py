"""The command `rocm-sdk version`, which prints the version of the installed SDK."""

import os

from rocm_sdk._native import open_sdk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = 'pip download --no-deps "rocm==$(rocm-sdk version)"'


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the option: the form of the output."""
    parser.add_argument("--json", action="store_true", help="for programs, with the version of the loader")


def run(options: "Namespace") -> int:
    """Print the version, and return status 0.

    Raises BadMetadataError if there is no version, or a text that is not one.
    """
    sdk = open_sdk()
    facts = sdk.facts()
    version = facts["version"]
    if version is None or not version.isascii() or not version.isprintable() or " " in version:
        from rocm_sdk.errors import BadMetadataError
        from rocm_sdk.problems.problem import reinstall_fix

        reason = "is missing" if version is None else "is damaged"
        raise BadMetadataError(
            f"{version!a} is not a version: the SDK's _dist_info.py {reason}",
            reinstall_fix("rocm-sdk-core", os.path.dirname(sdk.package_directory("core"))),
        )
    fallback = facts["fallback"] if os.environ.get("ROCM_SDK_FALLBACK") else None
    if fallback is not None:
        from rocm_sdk.terminal.output import complain

        complain(f"no package of the SDK is installed: this is the ROCm of {fallback} (ROCM_SDK_FALLBACK)")
    if options.json:
        from rocm_sdk._native import loader_version
        from rocm_sdk.terminal.output import tell_json

        tell_json(1, version=version, loader=loader_version, root=facts["root"], fallback=fallback)
    else:
        print(version)
    return 0

"""The command `init-module`: the module that loads a framework's libraries."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the libraries and the place of the module."""
    names = command.add_mutually_exclusive_group(required=True)
    names.add_argument("--for", dest="files", type=Path, nargs="+", metavar="FILE", help="libraries of the framework")
    names.add_argument(
        "--shortnames", nargs="*", metavar="NAME", help="libraries of the SDK (without names: as PyTorch lists them)"
    )
    command.add_argument("--version", help="of the SDK (that of the installed one)")
    command.add_argument("--output", type=Path, metavar="FILE", help="_rocm_init.py (standard output)")


def run(options: argparse.Namespace) -> int:
    """Write the module, and print its requirement."""
    from rocm_sdk.terminal.output import remember_done
    from rocm_sdk_build.base.new_file import new_file
    from rocm_sdk_build.output.init_module import checked, established, make, shortnames_for

    version = _installed_version() if options.version is None else options.version
    names = shortnames_for(options.files) if options.files else checked(options.shortnames or established(version))
    module = make(names, version)
    if options.output is None:
        sys.stdout.write(module.text)
    else:
        with new_file(str(options.output)) as new:
            os.write(new, module.text.encode())
        remember_done(f"{options.output} is written")
    print(f"requires: {module.requirement}", file=sys.stderr if options.output is None else sys.stdout)
    return 0


def _installed_version() -> str:
    from rocm_sdk import RocmSdkError
    from rocm_sdk.installed.readers import sdk_facts
    from rocm_sdk_build.base.errors import PackagingError

    try:
        return str(sdk_facts()["version"])
    except RocmSdkError as error:
        raise PackagingError(error.message, "--version VERSION") from error

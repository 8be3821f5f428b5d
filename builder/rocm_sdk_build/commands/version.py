"""The command `version`: the version of a build, for three package formats."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .options import add_version_file


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the build."""
    kind = command.add_mutually_exclusive_group(required=True)
    kind.add_argument("--release-type", choices=RELEASE_TYPES)
    kind.add_argument("--custom-version-suffix", metavar="SUFFIX")
    add_version_file(command)
    command.add_argument("--override-base-version", metavar="VERSION")
    command.add_argument("--override-git-sha", metavar="SHA")
    command.add_argument("--prerelease-version", metavar="N")


def run(options: argparse.Namespace) -> int:
    """Print a line for each format, and append the lines to the file $GITHUB_OUTPUT."""
    import datetime

    from rocm_sdk_build.packages.version import (
        VERSION_FILE,
        VersionFile,
        check_version,
        commit,
        read_version_file,
        versions,
        versions_of_suffix,
    )

    base, place = options.override_base_version, options.version_file or VERSION_FILE
    file = VersionFile(base, "") if base and not place.exists() else read_version_file(place)
    file = file._replace(base=base) if base else file
    if options.custom_version_suffix is not None:
        found = versions_of_suffix(file.base, options.custom_version_suffix)
    else:
        today = datetime.datetime.now().astimezone().strftime("%Y%m%d")
        found = versions(
            options.release_type, file, today, lambda: commit(options.override_git_sha), options.prerelease_version
        )
    check_version(found.wheel)
    names = ("rocm_package_version", "rocm_deb_package_version", "rocm_rpm_package_version")
    lines = [f"{name}={value}" for name, value in zip(names, found, strict=True)]
    print("\n".join(lines))
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    return 0


RELEASE_TYPES = ("ci", "dev", "dev-bkc", "nightly", "nightly-bkc", "prerelease", "release")

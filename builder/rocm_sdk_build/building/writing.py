"""The writer of a package, which stages its own files, and gives all files to a wheel or a site."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from rocm_sdk import loader_version
from rocm_sdk_build.files.text_files import write_text
from rocm_sdk_build.files.wheels import Wheel
from rocm_sdk_build.inputs.rules import MetadataRule
from rocm_sdk_build.output.site_directory import SitePackage
from rocm_sdk_build.packages.debian_copyright import expression_of_all, licences_of_debian
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.making import Making, check_processors
from rocm_sdk_build.packages.sbom import ArtifactDigests, sbom_name, sbom_text
from rocm_sdk_build.packages.staging import Package, members_of, write_dist_info
from rocm_sdk_build.packages.tar_archives import DEVEL_ARCHIVES, size_of_archive, write_devel_archive

from .plan import Plan


class Writer:
    """The writer of the packages of a plan, one after the other."""

    def __init__(self, plan: Plan, scratch: Path) -> None:
        self._plan, self._scratch, self._digests = plan, scratch, ArtifactDigests()

    def write(self, making: Making, output: AbstractContextManager[Wheel | SitePackage]) -> None:
        """Write a package to the output; nothing of its staging directory is left."""
        package, sdk = making.package, self._plan.sdk
        site = self._scratch / package.distribution
        staged = making.stage(site)
        info = f"{making.name}.dist-info"
        check_processors(making.name, site, making.needs)
        metadata = metadata_text(package, sdk, self._plan.rules.metadata, making.licences)
        write_dist_info(site / info, metadata, wheel_text(making.tag), staged.entry_points)
        digests = {each.directory.name: self._digests.of(each) for each in making.artifacts}
        debian = licences_of_debian(making.licences)
        text = sbom_text(package.distribution, sdk.version, loader_version, digests, debian=debian)
        write_text(site / info / sbom_name(package.distribution), text)
        with output as fresh:
            if staged.development is not None:
                name = f"rocm_sdk_devel/{DEVEL_ARCHIVES[making.compression]}"
                with fresh.adding(name, size_of_archive(staged.development)) as archive:
                    tree = f"_rocm_sdk_devel{sdk.nonce}"
                    write_devel_archive(staged.development, tree, archive, making.compression)
            for name, path in members_of(site, info, {**staged.unchanged, **making.in_wheel(info)}).items():
                fresh.add_file(name, path, staged.rests.get(name))
        shutil.rmtree(site)


_PYTHON = ">=3.10"  # as the loader requires
_LICENCE = "License-Expression"


def metadata_text(package: Package, sdk: SdkFacts, rules: Iterable[MetadataRule], licences: Mapping[str, Path]) -> str:
    """Return METADATA; `licences` are the files in `licenses`, by their paths there.

    The licence comes from the rules, or else from Debian's copyright files where all of them state one.
    """
    own = [rule for rule in rules if rule.package in (package.logical_name, "all")]
    is_said = any(rule.field == _LICENCE for rule in own)
    expression = None if is_said else expression_of_all(licences)
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {package.distribution}",
        f"Version: {sdk.version}",
        f"Summary: {package.summary}",
        "Description-Content-Type: text/markdown",
        *(f"{rule.field}: {rule.value}" for rule in own),
        *([f"{_LICENCE}: {expression}"] if expression is not None else []),
        *(f"License-File: {path}" for path in licences),
        f"Requires-Python: {_PYTHON}",
        *(f"Requires-Dist: {each}" for each in package.requires),
    ]
    told = "`pip install rocm` installs what fits a machine; `rocm-sdk test` checks what is installed."
    return "\n".join([*lines, "", f"# {package.distribution}", "", f"{package.summary}.", "", told, ""])


def wheel_text(tag: str) -> str:
    """Return WHEEL, whose tag is for one machine.

    The wheel is Purelib, although the files are for one machine: the packages find each other as siblings.
    """
    lines = ["Wheel-Version: 1.0", "Generator: rocm_sdk_build", "Root-Is-Purelib: true", f"Tag: {tag}"]
    return "\n".join(lines) + "\n"

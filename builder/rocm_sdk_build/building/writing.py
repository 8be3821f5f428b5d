"""The writer of a package, which stages its own files, and gives all files to a wheel or a site."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from pathlib import Path

from rocm_sdk import loader_version
from rocm_sdk_build.files.text_files import write_text
from rocm_sdk_build.files.wheels import Wheel
from rocm_sdk_build.output.site_directory import SitePackage
from rocm_sdk_build.packages.debian_copyright import licences_of_debian
from rocm_sdk_build.packages.making import Making, check_processors
from rocm_sdk_build.packages.metadata import metadata_text, wheel_text
from rocm_sdk_build.packages.sbom import ArtifactDigests, sbom_name, sbom_text
from rocm_sdk_build.packages.staging import members_of, write_dist_info
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

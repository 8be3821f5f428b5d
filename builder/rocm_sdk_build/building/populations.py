"""The packages with files of a build, and the files of each package."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.inputs.catalog import GENERIC, Artifact
from rocm_sdk_build.inputs.rules import Rules
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.parts import Choice
from rocm_sdk_build.packages.population import Population, populate
from rocm_sdk_build.packages.staging import Package

from .wish import Wish

_log = logging.getLogger(__name__)


class Populations(NamedTuple):
    """The input of the packages; `choice` has the packages that are asked for, None stands for all of the artifacts."""

    wish: Wish
    rules: Rules
    catalog: Sequence[Artifact]
    sdk: SdkFacts
    choice: Choice | None

    def makes(self, distribution: str) -> bool:
        """Return whether the build makes a package, which otherwise is only known."""
        return self.choice is None or self.choice.makes(distribution)

    def runtime(self) -> dict[Package, Population]:
        """Return all runtime packages, before a package is made: the development tree links to their files.

        Raise PackagingError if a package has no files.
        """
        found: dict[Package, Population] = {}
        if self._populates("core"):
            core = self._package("core", "rocm-sdk-core", "ROCm SDK: runtime libraries and tools")
            found[core] = self._of("core", self.catalog)
        if self._populates("profiler"):
            found |= self._profiler()
        found |= dict(self._libraries())
        for package, population in found.items():
            if not population.files:
                raise PackagingError(f"{self.wish.names}: no artifact has files for {package.distribution}")
        return found

    def _profiler(self) -> dict[Package, Population]:
        profiler = self._of("profiler", self.catalog)
        if profiler.files:
            return {self._package("profiler", "rocm-profiler", "ROCm SDK: profilers"): profiler}
        if (self.wish.needs_profiler or self.choice) and (wanted := self.rules.packages["profiler"].artifacts):
            names = sorted({name for name, _ in wanted})
            raise PackagingError(
                f"{self.wish.names}: no artifact has files for rocm-profiler",
                f"fetch the artifacts {' and '.join(names)} too, or build without them: --allow-no-profiler",
            )
        _log.info("there is no package rocm-profiler: no file is for it")
        return {}

    def _libraries(self) -> Iterator[tuple[Package, Population]]:
        generic = [each for each in self.catalog if each.family == GENERIC]
        summary = "ROCm SDK: math libraries"
        if self.sdk.one_libraries_package:
            if self._populates("libraries"):
                package = self._package("libraries", "rocm-sdk-libraries", summary)
                yield package, self._of("libraries", generic)
            return
        for family in self.families():
            if self._populates("libraries", family):
                own = [each for each in self.catalog if each.family in (GENERIC, family)]
                name = f"rocm-sdk-libraries-{family.partition(':')[0]}"
                yield self._package("libraries", name, summary, family), self._of("libraries", own)

    def families(self) -> list[str]:
        """Return the families of all packages, also of packages that another run makes."""
        found = self.choice.families if self.choice else {each.family for each in self.catalog} - {GENERIC}
        return sorted(found)

    def devices(self) -> Iterator[tuple[Package, Population]]:
        """Yield each device package that is made, with its files.

        Raise PackagingError if a package that is asked for has no files.
        """
        if not self.sdk.one_libraries_package:
            return
        for target in sorted({each.target for each in self.catalog if each.family != GENERIC}):
            distribution = f"rocm-sdk-device-{target}"
            if not self.makes(distribution):
                continue
            own = [each for each in self.catalog if each.target == target]
            population = self._of("device", own, by_soname=False)
            if population.files:
                yield self._device(target, distribution), population
            elif self.choice:
                raise PackagingError(f"{self.wish.names}: no artifact has files for {distribution}")

    def _device(self, target: str, distribution: str) -> Package:
        rules = self.rules.packages["device"]
        return Package(
            logical_name="device",
            distribution=distribution,
            summary=f"ROCm SDK: GPU code for {target}",
            pure_module=None,
            platform_directory=f"_rocm_sdk_libraries{self.sdk.nonce}",
            family=target,
            requires=(f"rocm-sdk-libraries=={self.sdk.version}",),
            search=rules.search,
            own_search=rules.own_search,
            shape=self.wish.shape,
        )

    def _populates(self, logical: str, family: str = "") -> bool:
        return self.choice is None or self.choice.populates(logical, family)

    def _of(self, package: str, artifacts: Iterable[Artifact], by_soname: bool = True) -> Population:
        rules = self.rules.packages[package]
        own = [each for each in artifacts if (each.name, each.component) in rules.artifacts]
        return populate(own, rules.includes, rules.excludes, rules.linker_names, by_soname)

    def _package(self, logical: str, distribution: str, summary: str, family: str | None = None) -> Package:
        module = distribution.replace("-", "_")
        rules = self.rules.packages[logical]
        directory = f"_{module}{self.sdk.nonce}"
        return Package(
            logical_name=logical,
            distribution=distribution,
            summary=summary,
            pure_module=module,
            platform_directory=directory,
            family=family,
            search=rules.search,
            own_search=rules.own_search,
            shape=self.wish.shape,
        )

"""The packages of a build: the input of each package, and the stage of its own files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from rocm_sdk_build.code.debug_split import which_strip
from rocm_sdk_build.code.stack_decision import decide
from rocm_sdk_build.files.text_files import write_text
from rocm_sdk_build.inputs.catalog import GENERIC, Artifact
from rocm_sdk_build.inputs.rules import Rules, Script
from rocm_sdk_build.output.left_out import LeftOut
from rocm_sdk_build.packages import staging
from rocm_sdk_build.packages.absent_libraries import FACTS, FACTS_OF_LIBRARIES, facts_text, find_absent
from rocm_sdk_build.packages.debug_files import DEBUG, DebugFiles
from rocm_sdk_build.packages.development import DevelEntry, plan_development
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.families import Families
from rocm_sdk_build.packages.licences import find_licences
from rocm_sdk_build.packages.making import Contents, Making
from rocm_sdk_build.packages.parts import LICENCE_COMPONENTS, SELECTOR, Choice, choose, short_name
from rocm_sdk_build.packages.platform_tag import ANY, Names, Needs, checked_tag, needs_of, oldest_tag, tag_of, usual_tag
from rocm_sdk_build.packages.population import Population
from rocm_sdk_build.packages.relocation import relocated
from rocm_sdk_build.packages.sbom import inputs_of
from rocm_sdk_build.packages.staging import Changes, Package, is_changed, write_pure_module, write_scripts

from .populations import Populations
from .wish import Wish

_log = logging.getLogger(__name__)

Runtime = Mapping[Package, Population]


class Plan:
    """The packages and the artifacts from which each is made.

    The plan writes nothing except debug information, in a scratch directory.
    """

    def __init__(
        self,
        wish: Wish,
        rules: Rules,
        catalog: Sequence[Artifact],
        families: Families,
        sdk: SdkFacts,
        *,
        choice: Choice | None = None,
    ) -> None:
        self.wish, self.rules, self.families, self.sdk = wish, rules, families, sdk
        self._catalog, self._choice, self._is_kpack = catalog, choice, sdk.one_libraries_package
        self._populations = Populations(wish, rules, catalog, sdk, choice)
        self._platform = checked_tag(wish.platform_tag)
        self._packaged = set[str]()  # paths of files in the packages that `packages` has yielded

    def packages(self, scratch: Path) -> Iterator[Making]:
        """Yield all packages except the selector, in their order; each is made before the next is asked for."""
        runtime, devices = self._populations.runtime(), [*self._populations.devices()]  # all, before one is made
        for package, population in runtime.items():
            if self._populations.makes(package.distribution):
                yield from self._of_files(package, population, runtime, scratch)
        for package, population in devices:
            yield from self._of_files(package, population, runtime, scratch)
        if self._populations.makes("rocm-sdk-devel"):
            yield from self._development(runtime)

    def selectors(self) -> list[tuple[str, str]]:
        """Return the directory below `dist` of each selector, and the family to which the selector is restricted.

        The family is "" for a selector of all families.
        """
        if not self._populations.makes(SELECTOR):
            return []
        families = ([] if self._is_kpack else self._populations.families()) or [""]
        return [(family if len(families) > 1 else "", family) for family in families]

    def offered(self, made: set[str]) -> set[str]:
        """Return the logical names of the packages of the SDK, also of packages that other machines make."""
        if self._choice is None:
            return made
        has_profiler = self.wish.needs_profiler and self.rules.packages["profiler"].artifacts
        return {"libraries", "devel", *(["device"] if self._is_kpack else []), *(["profiler"] if has_profiler else [])}

    def artifacts_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the artifacts from which a package, given by its short name, is made."""
        if self._choice is not None:
            families = list(self._choice.families)
        else:
            own = (each for each in self._catalog if each.family != GENERIC)
            families = sorted({each.target if self._is_kpack else each.family for each in own})
        alone = choose([name], families, self._is_kpack, self.rules)
        return tuple(each.directory.name for each in self._catalog if alone.needs(each.directory.name))

    def left_out(self) -> list[LeftOut]:
        """Return the artifacts with files in no package, without those that a rule leaves, when all packages are made.

        A run that makes some of the packages knows nothing of the others, and leaves nothing out.
        """
        found = []
        for each in self._catalog if self._choice is None else ():
            files = [entry for entry in each.entries if entry.kind == "file" and entry.path not in self._packaged]
            if files and not self.rules.leaves(each.name, each.component):
                size = sum(entry.source.stat().st_size for entry in files)
                found.append(LeftOut(each.directory.name, len(files), size))
        return found

    def _of_files(self, package: Package, population: Population, runtime: Runtime, scratch: Path) -> Iterator[Making]:
        """Yield a runtime or device package, and then the package with its debug information."""
        self._packaged.update(population.files, population.aliases)
        sources = [file.source for file in population.files.values()]
        rules = self.rules.packages[package.logical_name]
        without_stack = self._without_stack(package, population)
        absent = find_absent(package.logical_name, population.files)
        own = [each for each in self._catalog if each.name in population.artifacts]
        own = [each for each in own if each.component in LICENCE_COMPONENTS]
        artifacts = [each for each in own if each.family == GENERIC or package.family in (each.family, each.target)]
        debug = self._debug_files(package, population, scratch)
        changes = Changes(without_stack, debug)
        changed = [each.source for each in population.files.values() if is_changed(package, each, changes)]
        facts = (population.files, population.aliases, rules.scripts, absent, sorted(without_stack), debug is not None)
        programs = sum(bool(each.link) for each in population.files.values())
        programs += sum(script.path in population.files for script in rules.scripts)
        needs, inputs = self._needs(package, population, runtime), inputs_of(self._catalog, sources)
        entries = (entry for each in artifacts for entry in each.entries if entry.kind == "file")
        usual = ANY if needs.machines else oldest_tag(entry.source for entry in entries)
        tools = [Path(which_strip())] if debug is not None else []
        changed += debug.sources if debug is not None else []  # each source becomes two files
        name, tag = self._name_and_tag(package, needs, usual)
        stage = partial(stage_runtime, package, population, rules.scripts, self.sdk, absent=absent, changes=changes)
        licences = find_licences(artifacts)
        making = Making(
            package, name, tag, needs, sources, facts, stage, licences, "", changed, programs, inputs, tools
        )
        yield making
        if debug is not None and debug.sources:
            yield self._debug(making, debug)
            debug.clear()

    def _debug_files(self, package: Package, population: Population, scratch: Path) -> DebugFiles | None:
        """Return the debug information of a package's files, or None if the wish does not split it off.

        The log lists libraries that keep their debug information.
        """
        if not self.wish.splits_debug:
            return None
        found = DebugFiles(population.files.values(), scratch / f"debug-{package.distribution}")
        for path, why in sorted(found.kept.items()):
            _log.warning("%s: %s keeps its debug information: %s", package.distribution, path, why)
        return found

    def _debug(self, whole: Making, debug: DebugFiles) -> Making:
        """Return the package with the debug information of another package."""
        of = whole.package.distribution
        package = Package(
            logical_name="debug",
            distribution=f"{DEBUG}{short_name(of)}",
            summary=f"ROCm SDK: debug information of {of}",
            pure_module=None,
            platform_directory=f"_rocm_debug_{short_name(of).replace('-', '_')}{self.sdk.nonce}",
            family=whole.package.family,
        )
        name, stage = f"{package.file_name}-{self.sdk.version}", partial(stage_debug, package, debug)
        whole = whole._replace(package=package, name=name, sources=debug.sources, facts=of, stage=stage)
        return whole._replace(changed=debug.sources, programs=0, artifacts=inputs_of(self._catalog, debug.sources))

    def _without_stack(self, package: Package, population: Population) -> frozenset[str]:
        """Return the libraries that ask for an executable stack by mistake; the log lists them."""
        files = population.files.values()
        flagged = {file.path: file.source for file in files if file.facts.executable_stack and not file.link}
        decision = decide(flagged, self.wish.keeps_stack)
        if decision.told:
            _log.warning("%s: %s", package.distribution, decision.told)
        return decision.cleared

    def _development(self, runtime: Runtime) -> Iterator[Making]:
        """Yield the package of the development tree; without kpack archives one package for each family."""
        linked = {each: found for each, found in runtime.items() if each.logical_name != "profiler"}
        core = next(each for each in linked if each.logical_name == "core")
        names = {name for each in ("core", "libraries") for name, _ in self.rules.packages[each].artifacts}
        names |= self.rules.devel["kpack" if self._is_kpack else "family"]
        left = {"test"} if self._is_kpack else set()  # components
        own = [each for each in self._catalog if not names.isdisjoint((each.name, f"{each.name}_{each.component}"))]
        own = [each for each in own if each.component not in left]
        families = [None] if self._is_kpack else self._populations.families()
        for family in families:
            artifacts = [each for each in own if each.family in (GENERIC, family)]
            trees = {
                str(each.platform_directory): found
                for each, found in linked.items()
                if family is None or each.family in (None, family)
            }
            summary = "ROCm SDK: headers, CMake packages, build tools"
            compression = self.wish.devel_compression
            requires = ("rocm-sdk-loader[devel]",) if compression == "zstd" else ()  # brings a reader of zstd
            package = Package("devel", "rocm-sdk-devel", summary, "rocm_sdk_devel", None, family, requires)
            entries = list(relocated(plan_development(artifacts, trees), self.rules))
            self._packaged.update(entry.path for entry in entries)
            sources = [entry.source for entry in entries if entry.source is not None]
            directory = "" if family is None or len(families) == 1 else family
            others = Names(_sonames(linked.values()), self.rules.libraries_of_others("core", "libraries", "device"))
            needs = needs_of(sources, others)
            usual = ANY if needs.machines else usual_tag(self._needs(core, linked[core], runtime))
            name, tag = self._name_and_tag(package, needs, usual)
            inputs, facts = inputs_of(artifacts, sources), (entries, compression)
            stage, licences = partial(stage_development, package, entries, self.sdk), find_licences(artifacts)
            made = Making(package, name, tag, needs, sources, facts, stage, licences, directory, artifacts=inputs)
            yield made._replace(compression=compression)

    def _needs(self, package: Package, population: Population, runtime: Runtime) -> Needs:
        """Return the needs of a package's files, derived from these files alone.

        The rules tell which libraries other packages have. If the build is whole, its packages tell.
        """
        own = package.logical_name
        libraries = ("libraries", "device") if own in ("libraries", "device") else (own,)
        others = Names(frozenset(), self.rules.libraries_of_others(*libraries))
        if self.wish.is_whole:
            others = Names(_sonames(runtime.values()))
        return needs_of((file.source for file in population.files.values() if not file.link), others)

    def _name_and_tag(self, package: Package, needs: Needs, usual: str) -> tuple[str, str]:
        """Return the name of the package's wheel without tag, and its tag.

        `usual` is the platform tag of a package without programs and libraries.
        """
        name = f"{package.file_name}-{self.sdk.version}"
        return name, f"py3-none-{self._platform or tag_of(name, needs, usual)}"


def _sonames(populations: Iterable[Population]) -> frozenset[str]:
    """Return the SONAMEs and file names of the files that packages have."""
    files = (file for population in populations for file in population.files.values())
    return frozenset(name for file in files for name in (file.facts.soname, PurePosixPath(file.path).name) if name)


def stage_runtime(
    package: Package,
    population: Population,
    scripts: Sequence[Script],
    sdk: SdkFacts,
    site: Path,
    *,
    absent: list[str],
    changes: Changes,
) -> Contents:
    """Stage the files of a runtime or device package, and its commands; return the content of the package.

    `absent` are the libraries that the package does not have.
    """
    staged = staging.stage_runtime(package, population, sdk, site, changes)
    facts = staged.unchanged.pop(f"{package.platform_directory}/{FACTS}", None)
    if facts is not None:
        write_text(site / f"{package.platform_directory}/{FACTS}", facts_text(facts, absent))
    elif absent and package.logical_name == "libraries":
        write_text(site / f"{package.platform_directory}/{FACTS_OF_LIBRARIES}", facts_text(None, absent))
    if not package.pure_module or not scripts:
        return Contents(unchanged=staged.unchanged, rests=staged.rests)
    entry_points = write_scripts(package, population, scripts, sdk, site)
    return Contents(unchanged=staged.unchanged, rests=staged.rests, entry_points=entry_points)


def stage_development(package: Package, entries: list[DevelEntry], sdk: SdkFacts, site: Path) -> Contents:
    """Stage the module of the development package; return the content of the package."""
    write_pure_module(package, sdk, site)
    return Contents(development=entries)


def stage_debug(package: Package, debug: DebugFiles, site: Path) -> Contents:
    """Stage the debug information of a package's files; return the content of the debug package."""
    site.mkdir()
    return Contents(unchanged=debug.members(str(package.platform_directory)))

"""From artifacts to a directory `dist` of packages: what there is, in which order, and what must come out."""

from __future__ import annotations

import logging
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from rocm_sdk import loader_version
from rocm_sdk.base.value_text import size_text

from .code.debug_split import which_strip
from .code.patchelf import Shape
from .code.stack_decision import decide
from .errors import PackagingError
from .files.new_file import move_files
from .files.scratch import scratch_directory
from .files.text_files import write_text
from .files.wheels import Wheel, writing
from .inputs.catalog import GENERIC, Artifact, everything, read_catalog
from .inputs.overlay import OVERLAY, is_kpack_split
from .inputs.rules import Rules
from .output.finished import Finished, Keys
from .output.proof import prove
from .output.selector import write_selector
from .output.site_directory import SitePackage, filling
from .output.unpacked import unpack
from .packages.absent_libraries import FACTS, facts_text, find_absent
from .packages.costs import Estimate, Load, cost_of
from .packages.debug_files import DEBUG, DebugFiles
from .packages.development import DevelEntry, plan_development
from .packages.dist_info import SdkFacts
from .packages.families import Families
from .packages.licences import find_licences
from .packages.making import Contents, Making, check_processors, making_tools
from .packages.metadata import metadata_text, wheel_text
from .packages.parts import LICENCE_COMPONENTS, SELECTOR, Choice, choose, short_name
from .packages.platform_tag import ANY, Names, Needs, checked_tag, needs_of, oldest_tag, tag_of, usual_tag
from .packages.population import Population, populate
from .packages.sbom import ArtifactDigests, inputs_of, sbom_name, sbom_text
from .packages.staging import (
    Changes,
    Package,
    is_changed,
    members_of,
    stage_runtime,
    write_dist_info,
    write_pure_module,
    write_scripts,
)
from .packages.tar_archives import DEVEL_ARCHIVES, size_of_archive, write_devel_archive
from .packages.version import check_version

_log = logging.getLogger(__name__)
_NONCE = re.compile(r"[A-Za-z0-9_]*")


class Wish(NamedTuple):
    """What is to be built."""

    artifacts: Sequence[Path]
    output: Path  # working directory; gets a directory `dist`
    version: str
    nonce: str = ""
    linux_families: str | None = None
    windows_families: str | None = None
    deflate: bool = True
    devel_compression: str = "none"  # of the development tree's archive: a key of DEVEL_ARCHIVES
    is_checked: bool = True  # the packages are installed and tested before they appear
    jobs: int = 0  # threads that compress; 0: one for each processor
    size_limit: int | None = 100_000_000  # bytes of a file that the index takes: PyPI's
    platform_tag: str | None = None  # of all wheels; None: each has that of its files
    makes_packages: bool = True  # False: directories with what they would have
    keeps_stack: bool = False  # libraries may ask for an executable stack
    splits_debug: bool = False  # debug information goes into packages of its own
    needs_profiler: bool = True  # there must be files for rocm-profiler
    loader: Path | None = None  # the wheel of rocm-sdk-loader, which lies beside the packages then
    dist: Path | None = None  # where the packages appear, if not in `output / "dist"`
    written: Path | None = None  # a directory of input that this run has written itself
    shape: Shape = Shape.RPATH
    key: str = ""  # is written into the wheels, see `wheel_key`
    site: Path | None = None  # in place of wheels: a new directory like site-packages, of hard links
    only: Sequence[str] = ()  # short names of the packages that are made; (): all
    is_whole: bool = False  # its packages are always made together, so that each knows the libraries of the others

    @property
    def names(self) -> str:
        """The artifacts, for messages."""
        return ", ".join(map(str, self.artifacts))


def build(wish: Wish, rules: Rules) -> list[Path]:
    """Writes the packages; returns their files.

    PackagingError says what is missing or wrong. Nothing half-written is left in `dist` then.
    """
    with _naming_output(wish):
        return _prepared(wish, rules).run()


def estimate(wish: Wish, rules: Rules) -> list[Estimate]:
    """What `build` would write, and its cost. Archives of artifacts are unpacked for it. Errors as of `build`."""
    with _naming_output(wish):
        return _prepared(wish, rules).estimate()


def _prepared(wish: Wish, rules: Rules) -> _Build:
    check_names(wish)
    choice = choice_of(wish, rules)
    catalog = read_catalog(wish.artifacts, wish.output / ".artifacts", choice.needs if choice else everything)
    present = {each.family for each in catalog if each.family != GENERIC}
    families = Families(wish.linux_families, wish.windows_families, present)
    is_kpack = choice.is_kpack if choice else is_kpack_split(catalog, wish.artifacts[0])
    if choice:
        choice.refuse_absent(catalog, wish.names)
    elif is_kpack and families.linux:
        missing = sorted(set(families.linux) - present)
        if missing:
            raise PackagingError(
                f"{wish.names}: no artifact is for {', '.join(missing)}",
                "fetch the artifacts of these targets, or leave them out of --linux-amdgpu-families",
            )
    sdk = SdkFacts(
        wish.version,
        families.available,
        families.default,
        wish.nonce,
        families.linux if families.linux or families.windows else (),
        families.windows if families.linux or families.windows else (),
        is_kpack,
    )
    return _Build(wish, rules, catalog, families, sdk, choice=choice)


def choice_of(wish: Wish, rules: Rules) -> Choice | None:
    """The packages that are asked for; None: all that the artifacts have. Reads the one artifact that all need.

    PackagingError for a name that no package has, and without families: nobody sees the artifacts of all.
    """
    if not wish.only:
        return None
    families = Families(wish.linux_families, wish.windows_families, set())
    if not families.available:
        raise PackagingError(
            "--only: the packages say for which targets the SDK is, and one machine need not have the artifacts of all",
            "name them: --linux-amdgpu-families gfx94X-dcgpu,gfx1100",
        )
    overlay = read_catalog(wish.artifacts, wish.output / ".artifacts", lambda stem: stem == OVERLAY)
    is_kpack = is_kpack_split(overlay, wish.artifacts[0])
    return choose(wish.only, families.targets() if is_kpack else families.named, is_kpack, rules)


def check_names(wish: Wish) -> None:
    """PackagingError for an invalid version or nonce, and for a file that is not the loader's wheel."""
    check_version(wish.version)
    if wish.loader is not None and not _is_loader(wish.loader):
        raise PackagingError(f"--loader {wish.loader}: is not a wheel of rocm-sdk-loader")
    if not _NONCE.fullmatch(wish.nonce):
        raise PackagingError(f"--version-suffix {wish.nonce!r}: names of directories end with letters, digits and `_`")


def _is_loader(path: Path) -> bool:
    try:
        name, *_ = parse_wheel_filename(path.name)
        return name == "rocm-sdk-loader" and zipfile.is_zipfile(path)
    except InvalidWheelFilename:
        return False


def write_packages(wish: Wish, rules: Rules, catalog: list[Artifact], families: Families, sdk: SdkFacts) -> list[Path]:
    """The packages of these artifacts, as `build`."""
    with _naming_output(wish):
        return _Build(wish, rules, catalog, families, sdk).run()


@contextmanager
def _naming_output(wish: Wish) -> Iterator[None]:
    """An error of the system that names no file is one of the output."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise PackagingError(f"{wish.output}: the packages cannot be written there: {error.strerror}") from error


class _Build:
    def __init__(
        self,
        wish: Wish,
        rules: Rules,
        catalog: list[Artifact],
        families: Families,
        sdk: SdkFacts,
        *,
        choice: Choice | None = None,
    ) -> None:
        self.wish, self.rules, self.catalog, self.families, self.choice = wish, rules, catalog, families, choice
        self.sdk, self.is_kpack = sdk, sdk.one_libraries_package
        self.runtime: dict[Package, Population] = {}
        self.made: list[Path] = []
        self.platform = checked_tag(wish.platform_tag)
        self.finished, self.keys = Finished(wish.output / ".rocm-sdk-finished"), Keys(wish.written)
        self.digests = ArtifactDigests()
        self.packages: set[str] = set()  # logical names
        self.estimates: list[Estimate] | None = None  # of packages that are not made, but looked at

    def run(self) -> list[Path]:
        dist = self.wish.dist or self.wish.output / "dist"
        if self.wish.makes_packages and self.wish.site is None:
            dist.mkdir(parents=True, exist_ok=True)
        with scratch_directory(self.wish.output) as self.scratch:
            self.dist = self.scratch / "dist"
            self.dist.mkdir()
            self._wheels()
            if self.wish.site is not None:
                return [self.dist.rename(self.wish.site)]
            if self._makes(SELECTOR):
                self._selectors()
            self._warn_of_sizes()
            if self.wish.is_checked:
                _log.info("testing %d packages", len(self.made))
                prove((path for path in self.made if path.suffix == ".whl"), self.scratch / "installed")
            appeared = self._appear(dist) if self.wish.makes_packages else list(self._unpack())
        self.finished.clear()
        return appeared

    def estimate(self) -> list[Estimate]:
        """What each package would be."""
        self.estimates = []
        self.dist = self.wish.dist or self.wish.output / "dist"
        self._wheels()
        if self._makes(SELECTOR):
            families = self._restricted_families()
            for family in families:
                place = f"{family}/" if len(families) > 1 and family else ""
                self._estimate(SELECTOR, f"{place}rocm-{self.sdk.version}.tar.gz", Load(()), SELECTOR)
        return self.estimates

    def _wheels(self) -> None:
        """All but the selector."""
        self.runtime = self._runtime()
        for package, population in self.runtime.items():
            if self._makes(package.distribution):
                self._wheel(package, population)
        self._devices()
        if self._makes("rocm-sdk-devel"):
            self._devel()

    def _appear(self, dist: Path) -> list[Path]:
        if self.wish.loader is not None:
            self.made.append(self.dist / self.wish.loader.name)
            shutil.copyfile(self.wish.loader, self.made[-1])
        targets = {path: dist / path.relative_to(self.dist) for path in self.made}
        move_files(targets)
        return list(targets.values())

    def _unpack(self) -> Iterator[Path]:
        for path in self.made:
            yield unpack(path, self.wish.output / path.parent.relative_to(self.dist), self.scratch)

    def _warn_of_sizes(self) -> None:
        limit = self.wish.size_limit
        for path in self.made:
            size = path.stat().st_size
            if limit is not None and size > limit:
                _log.warning(
                    "%s has %s; the index takes files of at most %s (--size-limit; PyPI: 100 MB)",
                    *(path.name, size_text(size), size_text(limit)),
                )

    # ---- packages ----

    def _makes(self, distribution: str) -> bool:
        return self.choice is None or self.choice.makes(distribution)

    def _populates(self, logical: str, family: str = "") -> bool:
        return self.choice is None or self.choice.populates(logical, family)

    def _runtime(self) -> dict[Package, Population]:
        """Populates all runtime packages before one is made: the development tree links to their files."""
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
        if self.is_kpack:
            if self._populates("libraries"):
                package = self._package("libraries", "rocm-sdk-libraries", summary)
                yield package, self._of("libraries", generic)
            return
        for family in self._families_of_artifacts():
            if self._populates("libraries", family):
                own = [each for each in self.catalog if each.family in (GENERIC, family)]
                name = f"rocm-sdk-libraries-{family.partition(':')[0]}"
                yield self._package("libraries", name, summary, family), self._of("libraries", own)

    def _families_of_artifacts(self) -> list[str]:
        """Those of all packages, also of those that another run makes."""
        found = self.choice.families if self.choice else {each.family for each in self.catalog} - {GENERIC}
        return sorted(found)

    def _devices(self) -> None:
        if self.is_kpack:
            for target in sorted({each.target for each in self.catalog if each.family != GENERIC}):
                if self._makes(f"rocm-sdk-device-{target}"):
                    self._device_wheel(target)

    def _device_wheel(self, target: str) -> None:
        population = self._of("device", [each for each in self.catalog if each.target == target], by_soname=False)
        distribution = f"rocm-sdk-device-{target}"
        if not population.files:
            if self.choice:
                raise PackagingError(f"{self.wish.names}: no artifact has files for {distribution}")
            return
        package = Package(
            logical_name="device",
            distribution=distribution,
            summary=f"ROCm SDK: GPU code for {target}",
            pure_module=None,
            platform_directory=f"_rocm_sdk_libraries{self.sdk.nonce}",
            family=target,
            requires=(f"rocm-sdk-libraries=={self.sdk.version}",),
            search=self.rules.packages["device"].search,
            own_search=self.rules.packages["device"].own_search,
            shape=self.wish.shape,
        )
        self._wheel(package, population)

    def _devel(self) -> None:
        linked = {each: found for each, found in self.runtime.items() if each.logical_name != "profiler"}
        core = next(each for each in linked if each.logical_name == "core")
        names = {name for population in linked.values() for name in population.artifacts}
        names |= self.rules.devel["kpack" if self.is_kpack else "family"]
        own = [each for each in self.catalog if each.name in names and (each.component != "test" or not self.is_kpack)]
        families = [None] if self.is_kpack else self._families_of_artifacts()
        for family in families:
            artifacts = [each for each in own if each.family in (GENERIC, family)]
            runtime = {
                str(each.platform_directory): found
                for each, found in linked.items()
                if family is None or each.family in (None, family)
            }
            summary = "ROCm SDK: headers, CMake packages, build tools"
            compression = self.wish.devel_compression
            requires = ("rocm-sdk-loader[devel]",) if compression == "zstd" else ()  # it brings a reader of that form
            package = Package("devel", "rocm-sdk-devel", summary, "rocm_sdk_devel", None, family, requires)
            entries = plan_development(artifacts, runtime)
            sources = [entry.source for entry in entries if entry.source is not None]
            directory = "" if family is None or len(families) == 1 else family
            others = Names(
                self._sonames(linked.values()), self.rules.libraries_of_others("core", "libraries", "device")
            )
            needs = needs_of(sources, others)
            usual = ANY if needs.machines else usual_tag(self._needs(core, linked[core]))
            inputs = inputs_of(artifacts, sources)
            making = Making(package, directory, find_licences(artifacts), needs, usual, artifacts=inputs)
            self._make(making, sources, (entries, compression), partial(self._stage_devel, package, entries))

    def _needs(self, package: Package, population: Population) -> Needs:
        """What a package's files need, from these alone: that another one has a library is known by the rules."""
        own = package.logical_name
        libraries = ("libraries", "device") if own in ("libraries", "device") else (own,)
        others = Names(frozenset(), self.rules.libraries_of_others(*libraries))
        if self.wish.is_whole:
            others = Names(self._sonames(self.runtime.values()))
        return needs_of((file.source for file in population.files.values() if not file.link), others)

    def _sonames(self, populations: Iterable[Population]) -> frozenset[str]:
        """The SONAMEs and file names of the files that packages have."""
        files = (file for population in populations for file in population.files.values())
        return frozenset(name for file in files for name in (file.facts.soname, PurePosixPath(file.path).name) if name)

    def _selectors(self) -> None:
        families = self._restricted_families()
        packages = self.packages if self.choice is None else self._packages_of_others()
        for family in families:
            directory = self.dist / family if len(families) > 1 and family else self.dist
            directory.mkdir(exist_ok=True)
            path = write_selector(directory, self.sdk, self.families, family, is_kpack=self.is_kpack, packages=packages)
            self.made.append(path)

    def _packages_of_others(self) -> set[str]:
        """Logical names of the packages that this run and those of other machines make."""
        has_profiler = self.wish.needs_profiler and self.rules.packages["profiler"].artifacts
        return {"libraries", "devel", *(["device"] if self.is_kpack else []), *(["profiler"] if has_profiler else [])}

    def _restricted_families(self) -> list[str]:
        if self.is_kpack:
            return [""]
        return self._families_of_artifacts() or [""]

    # ---- pieces ----

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

    def _wheel(self, package: Package, population: Population) -> None:
        sources = [file.source for file in population.files.values()]
        rules = self.rules.packages[package.logical_name]
        without_stack = self._without_stack(package, population)
        absent = find_absent(package.logical_name, population.files)
        own = [each for each in self.catalog if each.name in population.artifacts]
        own = [each for each in own if each.component in LICENCE_COMPONENTS]
        artifacts = [each for each in own if each.family == GENERIC or package.family in (each.family, each.target)]
        debug = self._debug_files(package, population)
        changes = Changes(without_stack, debug)
        changed = [each.source for each in population.files.values() if is_changed(package, each, changes)]
        facts = (population.files, population.aliases, rules.scripts, absent, sorted(without_stack), debug is not None)
        programs = sum(bool(each.link) for each in population.files.values())
        programs += sum(script.path in population.files for script in rules.scripts)
        needs, inputs = self._needs(package, population), inputs_of(self.catalog, sources)
        usual = (
            ANY
            if needs.machines
            else oldest_tag(entry.source for each in artifacts for entry in each.entries if entry.kind == "file")
        )
        tools = [Path(which_strip())] if debug is not None else []
        changed += debug.sources if debug is not None else []  # each becomes two files
        making = Making(package, "", find_licences(artifacts), needs, usual, changed, programs, inputs, tools)
        self._make(making, sources, facts, partial(self._stage_runtime, package, population, absent, changes))
        if debug is not None and debug.sources:
            self._debug_wheel(making, debug)
            debug.clear()

    def _debug_files(self, package: Package, population: Population) -> DebugFiles | None:
        """The log lists libraries that keep their debug information."""
        if not self.wish.splits_debug:
            return None
        scratch = self.wish.output if self.estimates is not None else self.scratch
        found = DebugFiles(population.files.values(), scratch / f"debug-{package.distribution}")
        for path, why in sorted(found.kept.items()):
            _log.warning("%s: %s keeps its debug information: %s", package.distribution, path, why)
        return found

    def _debug_wheel(self, whole: Making, debug: DebugFiles) -> None:
        """The package with the debug information of another one."""
        of = whole.package.distribution
        package = Package(
            logical_name="debug",
            distribution=f"{DEBUG}{short_name(of)}",
            summary=f"ROCm SDK: debug information of {of}",
            pure_module=None,
            platform_directory=f"_rocm_debug_{short_name(of).replace('-', '_')}{self.sdk.nonce}",
            family=whole.package.family,
        )
        inputs = inputs_of(self.catalog, debug.sources)
        making = whole._replace(package=package, changed=debug.sources, programs=0, artifacts=inputs)
        self._make(making, debug.sources, of, partial(self._stage_debug, package, debug))

    def _stage_debug(self, package: Package, debug: DebugFiles, site: Path) -> Contents:
        site.mkdir()
        return Contents(unchanged=debug.members(str(package.platform_directory)))

    def _without_stack(self, package: Package, population: Population) -> frozenset[str]:
        """The libraries that ask for an executable stack by mistake. The log lists them."""
        files = population.files.values()
        flagged = {file.path: file.source for file in files if file.facts.executable_stack and not file.link}
        decision = decide(flagged, self.wish.keeps_stack)
        if decision.told:
            _log.warning("%s: %s", package.distribution, decision.told)
        return decision.cleared

    def _stage_runtime(
        self,
        package: Package,
        population: Population,
        absent: list[str],
        changes: Changes,
        site: Path,
    ) -> Contents:
        staged = stage_runtime(package, population, self.sdk, site, changes)
        facts = staged.unchanged.pop(f"{package.platform_directory}/{FACTS}", None)
        if facts is not None or (absent and package.logical_name == "libraries"):
            write_text(site / f"{package.platform_directory}/{FACTS}", facts_text(facts, absent))
        scripts = self.rules.packages[package.logical_name].scripts
        if not package.pure_module or not scripts:
            return Contents(unchanged=staged.unchanged, rests=staged.rests)
        entry_points = write_scripts(package, population, scripts, self.sdk, site)
        return Contents(unchanged=staged.unchanged, rests=staged.rests, entry_points=entry_points)

    def _stage_devel(self, package: Package, entries: list[DevelEntry], site: Path) -> Contents:
        write_pure_module(package, self.sdk, site)
        return Contents(development=entries)

    def _make(self, making: Making, sources: Iterable[Path], facts: object, stage: Callable[[Path], Contents]) -> None:
        """Makes a wheel, or takes the one of an earlier run. sources, facts: everything that decides its content."""
        package = making.package
        self.packages.add(package.logical_name)
        name = f"{package.file_name}-{self.sdk.version}"
        tag = f"py3-none-{self.platform or tag_of(name, making.needs, making.usual_platform)}"
        if self.estimates is not None:
            sizes = [path.stat().st_size for path in (*sources, *making.licences.values())]
            is_devel = package.logical_name == "devel"
            load = Load(
                sizes,
                [path.stat().st_size for path in making.changed],
                making.programs,
                self.wish.devel_compression if is_devel else "none",
            )
            file = f"{making.directory}/{name}-{tag}.whl".removeprefix("/")
            short = short_name(package.distribution)
            self._estimate(short, file, load, short.removeprefix("debug-"))
            return
        if self.wish.site is not None:
            self._stage_and_write(making, name, tag, stage, filling(self.dist, f"{name}.dist-info"))
            return
        wheel = self.dist / making.directory / f"{name}-{tag}.whl"
        wheel.parent.mkdir(exist_ok=True)
        self.made.append(wheel)
        files = [*sources, *making.licences.values(), *making.input_files, *making_tools(), *making.tools]
        place = (wheel.name, making.directory, making.licences)
        everything = (package, place, self.sdk, self.rules.metadata, self.wish.deflate, self.wish.key, facts)
        key = self.keys.of(everything, files)
        if self.finished.take(key, wheel):
            _log.info("%s: an earlier run has made it", wheel.name)
            return
        _log.info("%s: staging", wheel.name)
        fresh = writing(wheel, f"{name}.dist-info", self.wish.key, deflate=self.wish.deflate, jobs=self.wish.jobs)
        self._stage_and_write(making, name, tag, stage, fresh)
        _log.info("%s: written, %s", wheel.name, size_text(wheel.stat().st_size))
        if self.keys.of(everything, files) == key:
            self.finished.keep(key, wheel)

    def _estimate(self, name: str, file: str, load: Load, made_with: str) -> None:
        """made_with: the package of whose artifacts it is made."""
        assert self.estimates is not None
        alone = choose([made_with], self._families_of_packages(), self.is_kpack, self.rules)
        artifacts = tuple(each.directory.name for each in self.catalog if alone.needs(each.directory.name))
        wish = self.wish
        cost = cost_of(load, jobs=wish.jobs, deflates=wish.deflate, is_checked=wish.is_checked)
        self.estimates.append(Estimate(name, file, artifacts, cost))

    def _families_of_packages(self) -> list[str]:
        if self.choice is not None:
            return list(self.choice.families)
        found = {each.target if self.is_kpack else each.family for each in self.catalog if each.family != GENERIC}
        return sorted(found)

    def _stage_and_write(
        self,
        making: Making,
        name: str,
        tag: str,
        stage: Callable[[Path], Contents],
        output: AbstractContextManager[Wheel | SitePackage],
    ) -> None:
        package = making.package
        site = self.scratch / package.distribution
        staged = stage(site)
        info = f"{name}.dist-info"
        check_processors(name, site, making.needs)
        metadata = metadata_text(package, self.sdk, self.rules.metadata, making.licences)
        write_dist_info(site / info, metadata, wheel_text(tag), staged.entry_points)
        digests = {each.directory.name: self.digests.of(each) for each in making.artifacts}
        text = sbom_text(package.distribution, self.sdk.version, loader_version, digests)
        write_text(site / info / sbom_name(package.distribution), text)
        with output as fresh:
            self._write(fresh, members_of(site, info, {**staged.unchanged, **making.in_wheel(info)}), staged)
        shutil.rmtree(site)

    def _write(self, fresh: Wheel | SitePackage, members: Mapping[str, Path], staged: Contents) -> None:
        if staged.development is not None:
            compression = self.wish.devel_compression
            name = f"rocm_sdk_devel/{DEVEL_ARCHIVES[compression]}"
            with fresh.adding(name, size_of_archive(staged.development)) as archive:
                tree = f"_rocm_sdk_devel{self.sdk.nonce}"
                write_devel_archive(staged.development, tree, archive, compression)
        for name, path in members.items():
            fresh.add_file(name, path, staged.rests.get(name))

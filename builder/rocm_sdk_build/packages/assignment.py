"""The assignment of artifacts to packages: each package gets all its files at once, before one is written.

SONAMEs, absent libraries and the development tree need whole sets of files. What no rule takes is a result, too.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk_build.base.damaged import package_damage, read_document, refusing_damage
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.text_files import write_text
from rocm_sdk_build.code.debug_split import which_strip
from rocm_sdk_build.code.stack_decision import decide
from rocm_sdk_build.inputs.catalog import GENERIC, Artifact, is_name
from rocm_sdk_build.inputs.rules import Rules

from .debug_files import find_debuggable
from .development import plan_development
from .dist_info import SdkFacts, find_absent
from .licences import find_licences
from .package import DEBUG, Package
from .parts import LICENCE_COMPONENTS, SELECTOR, Choice, Families, choose, short_name
from .platform_tag import ANY, Names, Needs, checked_tag, needs_of, oldest_tag, tag_of, usual_tag
from .population import populate
from .sbom import inputs_of
from .wish import Wish

_log = logging.getLogger(__name__)


LEFT_OUT = ".rocm-sdk-left-out.json"  # the list that a build leaves beside its packages for `check`
FIX_OF_LEFT_OUT = "write `artifact`, `devel` or `leave` rows for them: rocm-sdk-build artifacts --rules FILE"


class LeftOut(NamedTuple):
    """An artifact, and the number and bytes of its files that are in no package."""

    artifact: str
    files: int
    size: int

    def __str__(self) -> str:
        return f"{self.artifact}: {counted(self.files, 'file')}, {size_text(self.size)}, in no package"


class Assignment(NamedTuple):
    """The packages of an SDK, the selectors, and the artifacts with files in no package."""

    wish: Wish
    rules: Rules
    families: Families
    facts: SdkFacts
    catalog: Sequence[Artifact]
    choice: Choice | None  # the packages that are asked for; None: all of the artifacts
    packages: tuple[Package, ...]  # in the order in which they are made
    selectors: tuple[tuple[str, str], ...]  # directory below `dist`, and the only family that is chosen there or ""
    left_out: tuple[LeftOut, ...]  # [] if some packages are made: the others are not known

    @property
    def offered(self) -> set[str]:
        """The logical names of the packages of the SDK, also of packages that other machines make."""
        if self.choice is None:
            return {each.logical_name for each in self.packages}
        has_profiler = self.wish.needs_profiler and self.rules.packages["profiler"].artifacts
        names = {"libraries", "devel", *(["device"] if self.facts.one_libraries_package else [])}
        return names | ({"profiler"} if has_profiler else set())

    def artifacts_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the artifacts from which a package, given by its short name, is made."""
        is_kpack = self.facts.one_libraries_package
        if self.choice is not None:
            families = list(self.choice.families)
        else:
            own = (each for each in self.catalog if each.family != GENERIC)
            families = sorted({each.target if is_kpack else each.family for each in own})
        alone = choose([name], families, is_kpack, self.rules)
        return tuple(each.directory.name for each in self.catalog if alone.needs(each.directory.name))


def assign(
    wish: Wish,
    rules: Rules,
    catalog: Sequence[Artifact],
    families: Families,
    sdk: SdkFacts,
    *,
    choice: Choice | None = None,
) -> Assignment:
    """Return the packages; nothing is written. The log names what a user should know of their files.

    Raise PackagingError if a package would have no files, or files that do not belong together.
    """
    return _Assigning(wish, rules, catalog, sdk, choice).run(families)


class _Assigning:
    def __init__(
        self, wish: Wish, rules: Rules, catalog: Sequence[Artifact], sdk: SdkFacts, choice: Choice | None
    ) -> None:
        self.wish, self.rules, self.catalog, self.sdk, self.choice = wish, rules, catalog, sdk, choice
        self.is_kpack = sdk.one_libraries_package
        self.platform = checked_tag(wish.platform_tag)
        # Families of all packages, also of packages that another run makes.
        found = choice.families if choice else {each.family for each in catalog} - {GENERIC}
        self.families = sorted(found)
        if wish.splits_debug:
            which_strip()

    def run(self, families: Families) -> Assignment:
        runtime = [*self._runtime()]
        for package in runtime:
            if not package.files:
                raise PackagingError(f"{self.wish.names}: no artifact has files for {package.distribution}")
        made = [each for each in runtime if self._makes(each.distribution)]
        packages = [each for package in [*made, *self._devices()] for each in self._finished(package, runtime)]
        if self._makes("rocm-sdk-devel"):
            packages += self._development(runtime)
        of_selectors = ([] if self.is_kpack else self.families) or [""]
        selectors = [(family if len(of_selectors) > 1 else "", family) for family in of_selectors]
        return Assignment(
            self.wish,
            self.rules,
            families,
            self.sdk,
            self.catalog,
            self.choice,
            tuple(packages),
            tuple(selectors if self._makes(SELECTOR) else ()),
            tuple(self._left_out(packages) if self.choice is None else ()),
        )

    def _makes(self, distribution: str) -> bool:
        """Return whether the build makes a package, which otherwise is only known."""
        return self.choice is None or self.choice.makes(distribution)

    # ---- the files of packages ----

    def _runtime(self) -> Iterator[Package]:
        """Yield the runtime packages with their files, also packages to whose files a development tree links."""
        if self._populates("core"):
            yield self._of_rules("core", "rocm-sdk-core", "ROCm SDK: runtime libraries and tools", self.catalog)
        if self._populates("profiler"):
            yield from self._profiler()
        summary = "ROCm SDK: math libraries"
        if self.is_kpack:
            if self._populates("libraries"):
                generic = [each for each in self.catalog if each.family == GENERIC]
                yield self._of_rules("libraries", "rocm-sdk-libraries", summary, generic)
            return
        for family in self.families:
            if self._populates("libraries", family):
                own = [each for each in self.catalog if each.family in (GENERIC, family)]
                name = f"rocm-sdk-libraries-{family.partition(':')[0]}"
                yield self._of_rules("libraries", name, summary, own, family)

    def _populates(self, logical: str, family: str = "") -> bool:
        return self.choice is None or self.choice.populates(logical, family)

    def _profiler(self) -> Iterator[Package]:
        profiler = self._of_rules("profiler", "rocm-profiler", "ROCm SDK: profilers", self.catalog)
        if profiler.files:
            yield profiler
        elif (self.wish.needs_profiler or self.choice) and (wanted := self.rules.packages["profiler"].artifacts):
            names = sorted({name for name, _ in wanted})
            raise PackagingError(
                f"{self.wish.names}: no artifact has files for rocm-profiler",
                f"fetch the artifacts {' and '.join(names)} too, or build without them: --allow-no-profiler",
            )
        else:
            _log.info("there is no package rocm-profiler: no file is for it")

    def _devices(self) -> Iterator[Package]:
        """Yield each device package that is made.

        Raise PackagingError if a package that is asked for has no files.
        """
        targets = sorted({each.target for each in self.catalog if each.family != GENERIC}) if self.is_kpack else []
        for target in targets:
            distribution = f"rocm-sdk-device-{target}"
            if self._makes(distribution):
                own = [each for each in self.catalog if each.target == target]
                package = self._of_rules("device", distribution, f"ROCm SDK: GPU code for {target}", own, target)
                if package.files:
                    yield package
                elif self.choice:
                    raise PackagingError(f"{self.wish.names}: no artifact has files for {distribution}")

    def _of_rules(
        self, logical: str, distribution: str, summary: str, artifacts: Iterable[Artifact], family: str | None = None
    ) -> Package:
        """Return a package with the files that the rules take from artifacts.

        Device packages have the directory of the libraries package, no module, and all names of their files.
        """
        rules, is_device = self.rules.packages[logical], logical == "device"
        own = [each for each in artifacts if (each.name, each.component) in rules.artifacts]
        found = populate(own, rules.includes, rules.excludes, rules.linker_names, not is_device)
        module = distribution.replace("-", "_")
        return Package(
            logical,
            distribution,
            summary,
            self.sdk.version,
            pure_module=None if is_device else module,
            platform_directory=f"_{'rocm_sdk_libraries' if is_device else module}{self.sdk.nonce}",
            family=family,
            requires=(f"rocm-sdk-libraries=={self.sdk.version}",) if is_device else (),
            search=rules.search,
            own_search=rules.own_search,
            shape=self.wish.shape,
            files=found.files,
            aliases=found.aliases,
            scripts=rules.scripts,
            artifacts=own,
        )

    # ---- what follows from the files ----

    def _finished(self, package: Package, runtime: Sequence[Package]) -> Iterator[Package]:
        """Yield a runtime or device package with what follows from its files, and the one of its debug information."""
        files, names = package.files.values(), {each.name for each in package.artifacts}
        of_licences = [
            each
            for each in self.catalog
            if each.name in names
            and each.component in LICENCE_COMPONENTS
            and (each.family == GENERIC or package.family in (each.family, each.target))
        ]
        flagged = {file.path: file.source for file in files if file.facts.executable_stack and not file.link}
        stack = decide(flagged, self.wish.keeps_stack)
        if stack.told:
            _log.warning("%s: %s", package.distribution, stack.told)
        debug, kept = find_debuggable(files) if self.wish.splits_debug else ({}, {})
        for path, why in sorted(kept.items()):
            _log.warning("%s: %s keeps its debug information: %s", package.distribution, path, why)
        package = package._replace(
            absent=tuple(find_absent(package.logical_name, package.files)),
            without_stack=stack.cleared,
            debug=debug,
            licences=find_licences(of_licences),
            artifacts=inputs_of(self.catalog, package.sources),
            needs=self._needs(package, runtime),
        )
        entries = (entry.source for each in of_licences for entry in each.entries if entry.kind == "file")
        package = self._tagged(package, ANY if package.needs.machines else oldest_tag(entries))
        yield package
        if debug:
            yield self._debug(package)

    def _debug(self, whole: Package) -> Package:
        """Return the package with the debug information of another package."""
        short = short_name(whole.distribution)
        found = Package(
            "debug",
            f"{DEBUG}{short}",
            f"ROCm SDK: debug information of {whole.distribution}",
            whole.version,
            pure_module=None,
            platform_directory=f"_rocm_debug_{short.replace('-', '_')}{self.sdk.nonce}",
            family=whole.family,
            tag=whole.tag,
            needs=whole.needs,
            debug=whole.debug,
            licences=whole.licences,
        )
        return found._replace(artifacts=inputs_of(self.catalog, found.sources))

    def _development(self, runtime: Sequence[Package]) -> Iterator[Package]:
        """Yield the package of the development tree; without kpack archives one package for each family."""
        linked = [each for each in runtime if each.logical_name != "profiler"]
        core = next(each for each in linked if each.logical_name == "core")
        names = {name for each in ("core", "libraries") for name, _ in self.rules.packages[each].artifacts}
        names |= self.rules.devel["kpack" if self.is_kpack else "family"]
        left = {"test"} if self.is_kpack else set()  # components
        own = [each for each in self.catalog if not names.isdisjoint((each.name, f"{each.name}_{each.component}"))]
        own = [each for each in own if each.component not in left]
        compression = self.wish.devel_compression
        families = [None] if self.is_kpack else self.families
        for family in families:
            artifacts = [each for each in own if each.family in (GENERIC, family)]
            of_tree = [each for each in linked if family is None or each.family in (None, family)]
            package = Package(
                "devel",
                "rocm-sdk-devel",
                "ROCm SDK: headers, CMake packages, build tools",
                self.sdk.version,
                pure_module="rocm_sdk_devel",
                platform_directory=None,
                family=family,
                requires=("rocm-sdk-loader[devel]",) if compression == "zstd" else (),  # brings a reader of zstd
                tree=tuple(plan_development(artifacts, of_tree, self.rules)),
                compression=compression,
                licences=find_licences(artifacts),
                directory="" if family is None or len(families) == 1 else family,
            )
            others = Names(_sonames(linked), self.rules.libraries_of_others("core", "libraries", "device"))
            package = package._replace(
                needs=needs_of(package.sources, others), artifacts=inputs_of(artifacts, package.sources)
            )
            yield self._tagged(package, ANY if package.needs.machines else usual_tag(self._needs(core, runtime)))

    def _needs(self, package: Package, runtime: Iterable[Package]) -> Needs:
        """Return the needs of a package's files, derived from these files alone.

        The rules tell which libraries other packages have. If the build is whole, its packages tell.
        """
        own = package.logical_name
        libraries = ("libraries", "device") if own in ("libraries", "device") else (own,)
        others = Names(frozenset(), self.rules.libraries_of_others(*libraries))
        if self.wish.is_whole:
            others = Names(_sonames(runtime))
        return needs_of((file.source for file in package.files.values() if not file.link), others)

    def _tagged(self, package: Package, usual: str) -> Package:
        """Return the package with its tag; `usual` is the platform tag of one without programs and libraries."""
        return package._replace(tag=f"py3-none-{self.platform or tag_of(package.name, package.needs, usual)}")

    def _left_out(self, packages: Iterable[Package]) -> Iterator[LeftOut]:
        """Yield the artifacts with files in no package, without those that a rule leaves."""
        packaged = {
            path for each in packages for path in (*each.files, *each.aliases, *(own.path for own in each.tree))
        }
        for each in self.catalog:
            files = [entry for entry in each.entries if entry.kind == "file" and entry.path not in packaged]
            if files and not self.rules.leaves(each.name, each.component):
                yield LeftOut(each.directory.name, len(files), sum(entry.source.stat().st_size for entry in files))


def _sonames(packages: Iterable[Package]) -> frozenset[str]:
    """Return the SONAMEs and file names of the files that packages have."""
    files = (file for package in packages for file in package.files.values())
    return frozenset(name for file in files for name in (file.facts.soname, PurePosixPath(file.path).name) if name)


def write_left_out(directory: Path, version: str, found: Sequence[LeftOut]) -> Path:
    """Write the list; return its file."""
    path = directory / LEFT_OUT
    write_text(path, json.dumps({"version": version, "left_out": [each._asdict() for each in found]}, indent=2) + "\n")
    return path


def read_left_out(directory: Path, versions: Sequence[str]) -> list[LeftOut]:
    """Return the list of the build of these versions; [] if there is none.

    Raise PackagingError for a damaged list.
    """
    path = directory / LEFT_OUT
    if not path.is_file() or path.is_symlink():
        return []
    document = read_document(path)
    with refusing_damage(package_damage(path)):
        if not isinstance(document, dict) or document["version"] not in versions:
            return []
        found = [LeftOut(str(each["artifact"]), int(each["files"]), int(each["size"])) for each in document["left_out"]]
        if wrong := [each.artifact for each in found if not is_name(each.artifact) or not each.artifact.isprintable()]:
            raise ValueError(f"{wrong[0][:80]!r} is not the name of an artifact")
        if any(number not in range(1 << 63) for each in found for number in (each.files, each.size)):
            raise ValueError("it has a number that no count of files or bytes is")
        return found

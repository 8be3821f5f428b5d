"""The way from an installed ROCm to packages: files of the installation become artifacts, and artifacts packages."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import UnknownTargetError
from rocm_sdk import targets as gpu_targets
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.inputs.catalog import GENERIC, Artifact, Entry
from rocm_sdk_build.inputs.globs import matches
from rocm_sdk_build.inputs.prefix.code_split import reads_archives, split_code
from rocm_sdk_build.inputs.prefix.file_list import read_lists
from rocm_sdk_build.inputs.prefix.roots import Search, find_files
from rocm_sdk_build.inputs.prefix.target_code import for_family, in_hardware_order, runs, split, targets_of
from rocm_sdk_build.inputs.prefix.tree import DEVEL, DOCUMENTS, Tree, lay_out
from rocm_sdk_build.inputs.rules import Rules, read_rules
from rocm_sdk_build.packages.assignment import Assignment, assign
from rocm_sdk_build.packages.dist_info import FACTS, SdkFacts, json_text
from rocm_sdk_build.packages.licences import find_licences
from rocm_sdk_build.packages.parts import Families, names_in
from rocm_sdk_build.packages.wish import Wish, check_names, naming_output, refuse_output_inside

from .wheel_maker import make_wheels

_log = logging.getLogger(__name__)


class PrefixWish(NamedTuple):
    """The wish for packages of an installed ROCm."""

    packages: Wish  # the wish, with roots instead of artifacts
    lists: Sequence[Path] = ()  # files with the names of files
    families: str | None = None  # the libraries become a package for each of these families
    is_split: bool = False  # the files for single targets become a package for each target
    llvm: Path | None = None  # a root that is laid out below lib/llvm
    is_complete: bool = False  # the roots have all that libraries need, except the libraries that every system has


def build(
    wish: PrefixWish, rules: Rules | None = None, make: Callable[[Assignment], list[Path]] = make_wheels
) -> list[Path]:
    """Make the packages by the rules (None: our own); return their files.

    Raise PackagingError, which says what is missing or wrong. Then nothing half-written is left in the output.
    """
    packages = wish.packages
    check_names(packages)
    families = _families(wish.families)
    search = find_files(packages.artifacts, read_lists(list(wish.lists)), wish.llvm)
    refuse_output_inside(search.whole, packages.output)
    with scratch_directory(packages.output) as scratch:
        sdk = _Build(wish, rules or read_rules(), families, search, scratch).run()
        with naming_output(packages):
            return make(sdk)


def _families(names: str | None) -> dict[str, tuple[str, ...]]:
    """Return the targets of each family, by the name that the user gave to the family.

    Raise PackagingError if `names` names no family.
    """
    found = {name: _expanded(name) for name in names_in(names or "")}
    if names is not None and not found:
        raise PackagingError("--families names none", "--families gfx103X-all,gfx90a")
    return found


def _expanded(family: str) -> tuple[str, ...]:
    try:
        return gpu_targets.expand(family)
    except UnknownTargetError as error:
        raise WrongUsageError(error.message, error.fix or "") from error


class _Build:
    def __init__(
        self, wish: PrefixWish, rules: Rules, families: dict[str, tuple[str, ...]], search: Search, scratch: Path
    ) -> None:
        self.wish, self.rules, self.families, self.search, self.scratch = wish, rules, families, search, scratch
        self.roots = search.roots
        self.packages = wish.packages._replace(
            artifacts=search.roots, written=scratch, needs_profiler=False, is_whole=True
        )

    def run(self) -> Assignment:
        """Lay out the files, make artifacts of them, and return their packages."""
        tree = lay_out(self.search, self.rules, self.scratch / "texts", is_complete=self.wish.is_complete)
        self._tell(tree)
        found = [each for each in targets(tree) if self._is_wanted(each)]
        tree = with_facts(tree, found, self.scratch)
        catalog = [self._artifact(part, GENERIC, tree.parts[part]) for part in ("core", "profiler", DEVEL)]
        catalog += self._documents(tree)
        libraries, single = tree.parts["libraries"], tree.parts["device"]
        if self.families:
            catalog += self._for_families(libraries, single)
            names = sorted(self.families)
        elif self.wish.is_split:
            neutral, devices = self._split(libraries, single, tree.parts["core"])
            catalog.append(self._artifact("libraries", GENERIC, neutral))
            catalog += [self._artifact("device", target, entries) for target, entries in sorted(devices.items())]
            names = sorted(devices)
        else:
            catalog.append(self._artifact("libraries", GENERIC, [*libraries, *single]))
            names = found
        sdk = SdkFacts(
            version=self.packages.version,
            available=tuple(names),
            default=min(names, default=None),
            nonce=self.packages.nonce,
            one_libraries_package=not self.families,
        )
        return assign(self.packages, self._rules(), catalog, Families(None, None, set(names)), sdk)

    def _is_wanted(self, target: str) -> bool:
        gpus = [gpu for family in self.families.values() for gpu in family]
        return not gpus or any(runs(target, gpu) for gpu in gpus)

    def _tell(self, tree: Tree) -> None:
        others = () if self.wish.is_complete else map(str, tree.other_roots)
        lists = (
            ("not part of ROCm: only what its libraries need is taken from", others),
            ("in no root, and left out", self.search.outside),
            ("links that lead out of the roots, or to nothing that is packaged, and are left out", tree.lost_links),
            ("taken by no rule, and packaged in rocm-sdk-devel", tree.unclassified),
        )
        for what, names in lists:
            if listed := list(names):
                _log.warning("%s:\n  %s", what, "\n  ".join(listed))

    def _documents(self, tree: Tree) -> Iterator[Artifact]:
        """Yield for each package an artifact with the documents that may contain licences of its files.

        Licences of libraries that are not ROCm's go with core.
        """
        documents = [each for each in tree.parts[DEVEL] if each.path.startswith(DOCUMENTS)]
        known = {each.path for each in documents}
        licences = find_licences([self._artifact("core", GENERIC, tree.host_documents)])
        of_hosts = [Entry(path, source, "file") for path, source in licences.items() if path not in known]
        owners = DocumentOwners(tree, self.rules.prefix.licences, self.roots)
        for package in self.rules.packages:
            part = "libraries" if package == "device" else package  # device packages have code of these libraries
            own = [each for each in documents if part in owners.of(each)]
            more = of_hosts if package == "core" else ()
            yield self._artifact(package, GENERIC, [*own, *more])._replace(component="doc")

    # ---- libraries ----

    def _for_families(self, libraries: Sequence[Entry], single: Sequence[Entry]) -> Iterable[Artifact]:
        for family, gpus in sorted(self.families.items()):
            _log.info("reducing libraries to the code of %s", family)
            made = for_family(libraries, single, gpus, self.scratch / "families" / family)
            if made.whole:
                _log.warning("packaged for %s with all their code:\n  %s", family, "\n  ".join(made.whole))
            yield self._artifact("libraries", family, made.entries)

    def _split(
        self, libraries: Iterable[Entry], single: Iterable[Entry], core: Iterable[Entry]
    ) -> tuple[Sequence[Entry], Mapping[str, Sequence[Entry]]]:
        """Return the entries for all targets, and for each base target the entries for this target alone.

        Raise PackagingError if no entry is for one target alone.
        """
        found, devices = split(single)
        neutral: Sequence[Entry] = [*libraries, *found]
        if reads_archives(core):
            _log.info("moving code of libraries to kpack archives")
            made = split_code(neutral, self.scratch / "split")
            neutral = made.entries
            for target, archive in made.archives.items():
                devices.setdefault(target, []).append(archive)
            if made.whole:
                _log.warning("packaged in rocm-sdk-libraries with their code:\n  %s", "\n  ".join(made.whole))
        else:
            _log.warning(
                "code that is in libraries stays there, for all targets: libamdhip64.so of the prefix does not need "
                "librocm_kpack.so, and could not find it elsewhere"
            )
        if not devices:
            raise PackagingError(
                f"{self.packages.names}: no file is for a single target, so there is nothing to split",
                "leave out --split, or make packages for families: --families",
            )
        return neutral, devices

    # ---- artifacts ----

    def _artifact(self, name: str, family: str, entries: Iterable[Entry]) -> Artifact:
        return Artifact(name, "lib", family, self.roots[0], (*self.roots, self.scratch), tuple(entries))

    def _rules(self) -> Rules:
        """Return the table of rules for these artifacts, each of which is a package of its own."""
        packages = {
            name: row._replace(artifacts=frozenset({(name, "lib")}), includes=(), excludes=())
            for name, row in self.rules.packages.items()
        }
        return self.rules._replace(packages=packages, devel={mode: frozenset({DEVEL}) for mode in self.rules.devel})


class DocumentOwners:
    """The owner of a document: the package that the first fitting row names.

    If no row fits, the owners are all packages with files of the document's root, which is exact if each component has
    its own root.
    """

    def __init__(self, tree: Tree, rows: Iterable[tuple[str, str]], roots: Sequence[Path]) -> None:
        """Note the packages of each root; `rows` have a package or "devel", and a pattern."""
        self._rows, self._roots = tuple(rows), roots
        self._of_root: dict[Path | None, set[str]] = defaultdict(set)
        for part, entries in tree.parts.items():
            for entry in entries:
                if part != DEVEL and entry.kind != "directory":
                    self._of_root[self._root_of(entry.source)].add(part)

    def of(self, document: Entry) -> set[str]:
        """Return the names of packages; "devel" stands for none of the others."""
        named = next((part for part, glob in self._rows if matches(document.path, glob)), None)
        return {named} if named is not None else self._of_root[self._root_of(document.source)]

    def _root_of(self, source: Path) -> Path | None:
        parents = set(source.parents)
        return next((root for root in self._roots if root in parents), None)


def targets(tree: Tree) -> list[str]:
    """Return the targets of the math libraries' code; if there is none, the targets of the code in core."""
    libraries = targets_of(_files(tree, "libraries", "device"))
    return in_hardware_order(libraries or targets_of(_files(tree, "core")))


def with_facts(tree: Tree, sdk_targets: Iterable[str], scratch: Path) -> Tree:
    """Return the tree with a new `dist_info.json`, written below `scratch`, instead of the prefix's file.

    The file gets the absent libraries when the packages are made.
    """
    path = scratch / "dist_info.json"
    path.write_text(json_text(sdk_targets, ()), encoding="utf-8")
    core = [each for each in tree.parts["core"] if each.path != FACTS]
    return tree._replace(parts={**tree.parts, "core": [*core, Entry(FACTS, path, "file")]})


def _files(tree: Tree, *parts: str) -> Iterator[Path]:
    for part in parts:
        yield from (entry.source for entry in tree.parts[part] if entry.kind == "file")

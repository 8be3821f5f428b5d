"""The packages of an SDK by their short names: the families, the choice of a run (`--only`), the artifacts of each.

A package's bytes depend on the artifacts that `Part.needs` names, and on nothing else: other artifacts, and packages
that are made before or beside the package, change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rocm_sdk import UnknownTargetError, targets
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.base.value_text import listed
from rocm_sdk.installed.readers import package_owner
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.inputs.catalog import GENERIC, OVERLAY, Artifact, is_name
from rocm_sdk_build.inputs.rules import Rules

SELECTOR = "rocm"
# Components in which licences of runtime and device packages may be, beside the components of the package itself.
LICENCE_COMPONENTS = frozenset(("lib", "run", "dev", "doc"))


class Part(NamedTuple):
    """A package that the user can ask for."""

    name: str  # "device-gfx942"
    logical: str  # "device"; the selector has "rocm"
    family: str = ""  # family of artifacts; "" for a package that is for all

    @property
    def distribution(self) -> str:
        """The name of the package on an index, as METADATA has it."""
        return self.name if self.name == SELECTOR else f"rocm-{'' if self.logical == 'profiler' else 'sdk-'}{self.name}"


def short_name(distribution: str) -> str:
    """Return the name by which the user calls a package."""
    return distribution.removeprefix("rocm-sdk-").removeprefix("rocm-")


class Choice(NamedTuple):
    """The packages that a run makes, from all packages of an SDK."""

    asked: tuple[Part, ...]
    families: tuple[str, ...]  # families of all artifacts, other machines' too
    is_kpack: bool
    rules: Rules

    def makes(self, distribution: str) -> bool:
        """Return whether the run makes the package with this name on an index, such as "rocm-sdk-core"."""
        return any(each.name == short_name(distribution) for each in self.asked)

    def populates(self, logical: str, family: str = "") -> bool:
        """Return whether the files of a runtime package must be known.

        The run makes the package, or makes a development tree that links to it.
        """
        is_linked = logical in ("core", "libraries") and any(each.logical == "devel" for each in self.asked)
        return is_linked or any(each.logical == logical and each.family in ("", family) for each in self.asked)

    def needs(self, stem: str) -> bool:
        """Return whether a package of the choice needs an artifact."""
        return stem == OVERLAY or (is_name(stem) and any(self._needs(each, *stem.split("_")) for each in self.asked))

    def _needs(self, part: Part, name: str, component: str, family: str) -> bool:
        if part.logical == "devel":
            linked = [Part("", logical) for logical in ("core", "libraries")]
            own = {*self.rules.devel["kpack" if self.is_kpack else "family"]}.union(*map(self._names, linked))
            is_own = family == GENERIC or (not self.is_kpack and family in self.families)
            is_cores = self._feeds(Part("", "core"), name, component)
            is_named = name in own or f"{name}_{component}" in own
            return is_named and (is_own or is_cores) and (component != "test" or not self.is_kpack)
        if part.logical == SELECTOR or name not in self._names(part):
            return False
        is_own = family == GENERIC or _is_of(part, family)
        has_files = (is_own or part.logical in ("core", "profiler")) and self._feeds(part, name, component)
        return has_files or (is_own and component in LICENCE_COMPONENTS)

    def _names(self, part: Part) -> set[str]:
        return {name for name, _ in self.rules.packages[part.logical].artifacts}

    def _feeds(self, part: Part, name: str, component: str) -> bool:
        return (name, component) in self.rules.packages[part.logical].artifacts

    def refuse_absent(self, catalog: Iterable[Artifact], places: str) -> None:
        """Raise PackagingError for an absent artifact without which a package of the choice would be incomplete."""
        there = {each.directory.name for each in catalog}
        for part in self.asked:
            if part.logical in ("core", "libraries", "device", "profiler"):
                self._refuse_absent(part, there, places)
            elif part.logical == "devel":
                for each in parts_of(self.families, self.is_kpack):
                    if each.logical in ("core", "libraries"):
                        self._refuse_absent(each, there, places, "rocm-sdk-devel links to its files")

    def _refuse_absent(self, part: Part, there: set[str], places: str, why: str = "") -> None:
        own = sorted(
            stem
            for stem in there
            if self._feeds(part, *stem.split("_")[:2])
            and (not part.family or _is_of(part, stem.split("_")[2]))
            and self._needs(part, *stem.split("_"))
        )
        if not own:
            family = part.family or GENERIC
            artifacts = sorted(self.rules.packages[part.logical].artifacts)
            wanted = ", ".join(f"{name}_{component}_{family}" for name, component in artifacts)
            what = f"no artifact is for {part.distribution}"
            raise PackagingError(f"{places}: {what}{why and f': {why}'}", f"fetch its artifacts: {wanted}")
        for stem in own if part.logical == "device" else ():
            name, component, _ = stem.split("_")
            if (neighbour := f"{name}_{component}_{GENERIC}") not in there:
                raise PackagingError(
                    f"{places}: {neighbour} is not there: {part.distribution} has the code of {stem} for the libraries "
                    "in it, and their licences",
                    f"fetch the artifact {neighbour} too",
                )


def _is_of(part: Part, family: str) -> bool:
    """Return whether an artifact's family is the family of a part.

    A device package has all families that it owns.
    """
    return part.family == (package_owner(family) if part.logical == "device" else family)


def parts_of(families: Sequence[str], is_kpack: bool) -> list[Part]:
    """Return all packages that an SDK can have.

    `families` are targets without features, or families as artifacts have them.
    """
    if is_kpack:
        found = [Part("libraries", "libraries"), *(Part(f"device-{each}", "device", each) for each in families)]
    else:
        found = [Part(f"libraries-{each}", "libraries", each) for each in families]
    others = [Part("devel", "devel"), Part("profiler", "profiler"), Part(SELECTOR, SELECTOR)]
    return [Part("core", "core"), *found, *others]


def choose(only: Sequence[str], families: Sequence[str], is_kpack: bool, rules: Rules) -> Choice:
    """Return the choice of the packages with these names, with or without `rocm-sdk-`.

    Raise WrongUsageError for a package that the SDK does not have.
    """
    known = {part.name: part for part in parts_of(families, is_kpack)}
    asked = []
    for name in only:
        part = known.get(short_name(name))
        if part is None:
            meant = did_you_mean(name, known, 2)
            raise WrongUsageError(
                f"--only {name}: no package of this SDK is called so{meant and f'; {meant}'}",
                f"there are {', '.join(known)}",
            )
        asked.append(part)
    return Choice(tuple(dict.fromkeys(asked)), tuple(families), is_kpack, rules)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names that `,` or `;` separate, each once."""
    return tuple(dict.fromkeys(listed(text)))


def expand(names: str | None) -> tuple[str, ...] | None:
    """Return the targets of families, sorted, or None if no family is named: there is no such platform.

    Names of families are separated by `,` or `;`. Raise WrongUsageError for a family that is not known.
    """
    if names is None or not names_in(names):
        return None
    try:
        return tuple(sorted(targets.expand(names)))
    except UnknownTargetError as error:
        raise WrongUsageError(error.message, error.fix or "") from error


def is_family(name: str) -> bool:
    """Return whether the loader's table has a family or target of this name."""
    try:
        targets.expand(name)
    except UnknownTargetError:
        return False
    return True


class Families:
    """The targets that the packages are for, and the systems of these targets."""

    def __init__(self, linux: str | None, windows: str | None, present: set[str]) -> None:
        """Expand the families that are asked for, `linux` and `windows`; without both, `present` counts.

        `present` has the families of the artifacts, features included.
        """
        self.linux, self.windows = expand(linux) or (), expand(windows) or ()
        self.named = names_in(f"{linux or ''},{windows or ''}")  # families by the names of the user
        if self.linux or self.windows:
            self.available = tuple(sorted({*self.linux, *self.windows}))
            both = sorted(set(self.linux) & set(self.windows))
            self.default: str | None = next(iter(both or self.available), None)
        else:
            self.available = tuple(sorted(present))
            self.default = self.available[0] if self.available else None

    def targets(self) -> tuple[str, ...]:
        """Return the targets that packages are named after, each once."""
        return tuple(dict.fromkeys(map(package_owner, self.available)))

    def marker(self, target: str) -> str:
        """Return the environment marker of a requirement of this target; "" if the target is for all systems."""
        if not (self.linux and self.windows):
            return ""
        on_linux, on_windows = target in map(package_owner, self.linux), target in map(package_owner, self.windows)
        if on_linux == on_windows:
            return ""
        return 'sys_platform == "linux"' if on_linux else 'sys_platform == "win32"'

"""The check that packages state the same facts, and that all the packages that they require are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from packaging.utils import canonicalize_name

from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.output.extras import SELECTOR, IndexedFile, Unmet, read_selector, unmet
from rocm_sdk_build.output.index import fix_of_clash
from rocm_sdk_build.output.package_files import PackageFile
from rocm_sdk_build.packages.parts import expand, is_family

from .package_list import ELSEWHERE, LOADER
from .problems import Problems, again
from .wheel_facts import WheelFacts

_T = TypeVar("_T")


class Group(NamedTuple):
    """A selector, and the wheels from which it chooses."""

    selector: PackageFile
    wheels: tuple[PackageFile, ...]


def compare(
    directory: Path, packages: Sequence[PackageFile], facts: Mapping[Path, WheelFacts], problems: Problems
) -> list[Group]:
    """Return the selectors with their packages.

    `facts` are the facts of the wheels of the SDK that could be read.
    """
    own = [each for each in packages if each.is_of_sdk]
    _compare_versions(own, problems)
    _compare_families(facts, problems)
    _compare_inputs(facts, problems)
    selectors = [each for each in own if each.project == SELECTOR and not each.is_wheel]
    if not selectors:
        problems.tell(directory, "has no selector, rocm-VERSION.tar.gz", again(SELECTOR))
    groups: list[Group] = []
    is_clear = not _tell_clash(directory, selectors, packages, facts, problems)
    for file in selectors if is_clear else ():
        with problems.of(file.path, again(SELECTOR)):
            groups += _group(file, _pool_of(directory, file, packages), facts, problems)
    named = {each.path for group in groups for each in (group.selector, *group.wheels)}
    for package in own:
        if package.debug_of is not None:
            if not any((each.project, each.version) == (package.debug_of, package.version) for each in own):
                what = f"is the debug information of {package.debug_of} {package.version}, which is not there"
                problems.tell(package.path, what, f"{ELSEWHERE}, or {again(package.debug_of)}")
        elif len(groups) == len(selectors) > 0 and package.path not in named:
            what = "is chosen by no selector: neither it nor an extra of it requires this package"
            problems.tell(package.path, what, f"{ELSEWHERE}, or {again(SELECTOR)}")
    return groups


def _compare_versions(packages: Sequence[PackageFile], problems: Problems) -> None:
    selectors = [each.version for each in packages if each.project == SELECTOR]
    usual = _most(selectors or [each.version for each in packages])
    for each in packages:
        if usual is not None and each.version != usual:
            fix = again(each.project, usual)
            problems.tell(each.path, f"has version {each.version}, {_SELECTOR_OR_MOST[not selectors]} {usual}", fix)


_SELECTOR_OR_MOST = ("the selector", "the others")


def _compare_families(facts: Mapping[Path, WheelFacts], problems: Problems) -> None:
    told = {path: each.shared for path, each in facts.items() if each.shared is not None}
    usual = _most(list(told.values()))
    for path, shared in told.items():
        if usual is not None and shared != usual:
            differing = "; ".join(sorted(set(shared) ^ set(usual))) or "another order"
            problems.tell(
                path,
                f"says otherwise than the others what the SDK is for: {differing}",
                "make all packages with the same --linux-amdgpu-families, --windows-amdgpu-families, --version-suffix",
            )


def _compare_inputs(facts: Mapping[Path, WheelFacts], problems: Problems) -> None:
    """Report packages that were made from a different artifact than other packages, but with the same name."""
    for name in sorted({name for each in facts.values() for name in each.inputs}):
        told = {path: each.inputs[name] for path, each in facts.items() if name in each.inputs}
        usual = _most(list(told.values()))
        for path, digest in told.items():
            if digest != usual:
                what = f"was made from another artifact {name} than the others: SHA-256 {digest}, not {usual}"
                problems.tell(path, what, "give all machines the same artifacts, and make all packages again")


def _group(
    file: PackageFile, pool: Sequence[PackageFile], facts: Mapping[Path, WheelFacts], problems: Problems
) -> list[Group]:
    selector = read_selector(file.path)
    if selector is None:
        problems.tell(file.path, "is no selector of rocm-sdk-build", again(SELECTOR))
        return []
    if selector.version != file.version:
        problems.tell(file.path, f"says that it has version {selector.version}", again(SELECTOR))
    families = {family for each in facts.values() for family in each.families}
    if more := [
        each for each in selector.families if families and not families.issuperset(_targets_of(each, families))
    ]:
        problems.tell(file.path, f"chooses {', '.join(more)}, which no package names", again(SELECTOR))
    for each in _lacking(pool, facts):
        fix = f"put that version of {LOADER} there" if each.project == LOADER else again(each.project)
        path = each.told[0][0]
        problems.tell(path, str(each).removeprefix(f"{path}: "), fix)
    required = (*selector.requires, *(each.requirement for each in selector.extras))
    wanted = {canonicalize_name(each.name) for each in required}
    return [Group(file, tuple(each for each in pool if each.project in wanted and each.is_of_sdk))]


def _targets_of(family: str, known: set[str]) -> set[str]:
    """Return the targets of a family of libraries, or the family itself if packages name it so."""
    return {family} if family in known or not is_family(family) else set(expand(family) or ())


def _tell_clash(
    directory: Path,
    selectors: Sequence[PackageFile],
    packages: Sequence[PackageFile],
    facts: Mapping[Path, WheelFacts],
    problems: Problems,
) -> bool:
    """Report two different selectors with one version and without their own indexes; return whether there are any.

    Such a selector requires packages that only the other one has beside it. Their requirements are then not reported,
    since they have this one cause.
    """
    with suppress(PackagingError):  # a damaged selector is reported where it is read
        for number, file in enumerate(selectors):
            for other in (each for each in selectors[:number] if each.version == file.version):
                pools = [_pool_of(directory, each, packages) for each in (other, file)]
                lost = {each.requirement for pool in pools for each in _lacking(pool, facts)}
                lost -= {each.requirement for each in _lacking(packages, facts)}
                if lost and sha256_of(other.path).digest() != sha256_of(file.path).digest():
                    known = {each.path: _indexed(each, facts) for each in packages}
                    known = {path: each._replace(sha256=sha256_of(path).hexdigest()) for path, each in known.items()}
                    fix = fix_of_clash(directory, (known[other.path], known[file.path]), list(known.values()))
                    what = f"and {other.path} are different, and installers could not tell which is meant"
                    problems.tell(file.path, what, fix)
                    return True
    return False


def _pool_of(directory: Path, selector: PackageFile, packages: Sequence[PackageFile]) -> list[PackageFile]:
    """Return the packages from which a selector chooses: packages of its directory, and of the whole directory."""
    pool = [each for each in packages if each.path.parent in (directory, selector.path.parent)]
    return [each for each in pool if each.project != SELECTOR or each == selector]


def _lacking(pool: Sequence[PackageFile], facts: Mapping[Path, WheelFacts]) -> list[Unmet]:
    """Return the requirements of the SDK's packages that the pool lacks; the loader may be on another index."""
    return [each for each in unmet([_indexed(each, facts) for each in pool]) if each.is_ours and each.is_certain]


def _indexed(package: PackageFile, facts: Mapping[Path, WheelFacts]) -> IndexedFile:
    metadata = (facts[package.path].metadata if package.path in facts else b"") if package.is_wheel else None
    return IndexedFile(package.path, package.project, package.version, "", 0, metadata)


def _most(values: Sequence[_T]) -> _T | None:
    """Return the most frequent value, of several the first; None if there are no values."""
    return max(values, key=values.count) if values else None

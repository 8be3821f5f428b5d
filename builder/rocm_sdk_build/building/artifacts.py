"""The way from artifacts to packages."""

from __future__ import annotations

import logging
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.catalog import GENERIC, OVERLAY, everything, is_kpack_split, read_catalog, versions_of_build
from rocm_sdk_build.inputs.rules import Rules
from rocm_sdk_build.packages.assignment import Assignment, assign
from rocm_sdk_build.packages.costs import Estimate, Load, cost_of
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.parts import SELECTOR, Choice, Families, choose, short_name
from rocm_sdk_build.packages.version import version_of_artifacts
from rocm_sdk_build.packages.wish import Wish, check_names, naming_output, refuse_output_inside

from .wheel_maker import make_wheels

_log = logging.getLogger(__name__)


def build(wish: Wish, rules: Rules) -> list[Path]:
    """Write the packages; return their files.

    Raise PackagingError, which says what is missing or wrong. Then nothing half-written is left in `dist`.
    """
    with naming_output(wish):
        return make_wheels(_assigned(wish, rules))


def estimate(wish: Wish, rules: Rules) -> list[Estimate]:
    """Return the packages that `build` would write, with their cost.

    Archives of artifacts are unpacked for the estimate. The errors are the same as for `build`.
    """
    with naming_output(wish):
        sdk, found = _assigned(wish, rules), []
        for package in sdk.packages:
            sizes = [path.stat().st_size for path in (*package.sources, *package.licences.values())]
            changed = [path.stat().st_size for path in package.changed]
            load = Load(sizes, changed, package.programs, package.compression)
            name = short_name(package.distribution)
            found.append(_estimate(sdk, name, package.wheel, load, name.removeprefix("debug-")))
        for place, _ in sdk.selectors:
            file = f"{place}/rocm-{sdk.facts.version}.tar.gz".removeprefix("/")
            found.append(_estimate(sdk, SELECTOR, file, Load(()), SELECTOR))
        return found


def _estimate(sdk: Assignment, name: str, file: str, load: Load, made_with: str) -> Estimate:
    """Return the estimate of a file; `made_with` is the package whose artifacts the file is made of."""
    wish = sdk.wish
    cost = cost_of(load, jobs=wish.jobs, deflates=wish.deflate, is_checked=wish.is_checked)
    return Estimate(name, file, sdk.artifacts_of(made_with), cost)


def _assigned(wish: Wish, rules: Rules) -> Assignment:
    check_names(wish)
    choice = choice_of(wish, rules)
    catalog = read_catalog(wish.artifacts, wish.output / ".artifacts", choice.needs if choice else everything)
    refuse_output_inside((root for each in catalog for root in each.roots), wish.output)
    if not wish.version:
        wish = wish._replace(version=version_of_artifacts(*versions_of_build(catalog, wish.artifacts[0])))
    present = {each.family for each in catalog if each.family != GENERIC}
    if not present and not choice:
        _log.warning("%s: no artifact is for a GPU target or target family, so no package is", wish.names)
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
    return assign(wish, rules, catalog, families, sdk, choice=choice)


def choice_of(wish: Wish, rules: Rules) -> Choice | None:
    """Return the packages that the wish asks for; None stands for all packages in the artifacts.

    The function reads the artifact that all packages need. Raise PackagingError for a name that no package has, and for
    a wish without families: no machine sees the artifacts of all families.
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

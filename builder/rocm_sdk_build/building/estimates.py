"""The estimate of packages and their cost; nothing is made."""

from __future__ import annotations

from rocm_sdk_build.packages.costs import Estimate, Load, cost_of
from rocm_sdk_build.packages.parts import SELECTOR, short_name

from .plan import Plan


def estimate_packages(plan: Plan) -> list[Estimate]:
    """Return the estimate of each package, and of each selector."""
    found = []
    for making in plan.packages(plan.wish.output):
        sizes = [path.stat().st_size for path in (*making.sources, *making.licences.values())]
        changed = [path.stat().st_size for path in making.changed]
        load = Load(sizes, changed, making.programs, making.compression)
        name = short_name(making.package.distribution)
        found.append(_estimate(plan, name, making.file, load, name.removeprefix("debug-")))
    for place, _ in plan.selectors():
        file = f"{place}/rocm-{plan.sdk.version}.tar.gz".removeprefix("/")
        found.append(_estimate(plan, SELECTOR, file, Load(()), SELECTOR))
    return found


def _estimate(plan: Plan, name: str, file: str, load: Load, made_with: str) -> Estimate:
    """Return the estimate of a file; `made_with` is the package whose artifacts the file is made of."""
    wish = plan.wish
    cost = cost_of(load, jobs=wish.jobs, deflates=wish.deflate, is_checked=wish.is_checked)
    return Estimate(name, file, plan.artifacts_of(made_with), cost)

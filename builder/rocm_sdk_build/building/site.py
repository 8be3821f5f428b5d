"""The maker of a directory like site-packages, of hard links, in place of wheels."""

from __future__ import annotations

from pathlib import Path

from rocm_sdk_build.files.scratch import scratch_directory
from rocm_sdk_build.output.site_directory import filling

from .plan import Plan
from .writing import Writer


def make_site(plan: Plan, site: Path) -> list[Path]:
    """Make the directory `site`, which is new and in the file system of the output; return its path in a list."""
    with scratch_directory(plan.wish.output) as scratch:
        made = scratch / "dist"
        made.mkdir()
        writer = Writer(plan, scratch)
        for making in plan.packages(scratch):
            writer.write(making, filling(made, f"{making.name}.dist-info"))
        return [made.rename(site)]

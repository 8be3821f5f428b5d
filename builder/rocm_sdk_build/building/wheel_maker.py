"""The maker of wheels and selectors, which tests the files and lets them appear together; and of sites."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from packaging.version import Version

from rocm_sdk.base.processes import module_command, run
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk_build.base.damaged import read_small
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.named_directory import output_directory
from rocm_sdk_build.base.new_file import move_files
from rocm_sdk_build.base.page_list import FLAGS, checked
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.base.site_directory import filling
from rocm_sdk_build.base.unpacked import unpack, unpack_wheel
from rocm_sdk_build.base.wheel_name import wheel_name
from rocm_sdk_build.base.wheels import writing
from rocm_sdk_build.checking.check import check
from rocm_sdk_build.output.finished import Finished, Keys
from rocm_sdk_build.output.own_loader import loader_for
from rocm_sdk_build.output.selector import write_selector
from rocm_sdk_build.output.trial_installation import prove, read_back
from rocm_sdk_build.packages.assignment import FIX_OF_LEFT_OUT, LEFT_OUT, Assignment, write_left_out
from rocm_sdk_build.packages.writer import Writer, members_of

_log = logging.getLogger(__name__)


def make_wheels(sdk: Assignment) -> list[Path]:
    """Make the wheels and selectors of an SDK; return the files that appear.

    Nothing half-written is left after an error.
    """
    wish = sdk.wish
    _tell_left_out(sdk)
    dist = wish.dist or wish.output / "dist"
    finished = Finished(wish.output / ".rocm-sdk-finished")
    appears = output_directory(dist) if wish.makes_packages else nullcontext()
    with appears, scratch_directory(wish.output) as scratch:
        fresh = scratch / "dist"
        fresh.mkdir()
        made = [*_wheels(sdk, fresh, scratch, finished), *_selectors(sdk, fresh)]
        _warn_of_sizes(made, wish.size_limit)
        if wish.is_checked:
            _log.info("testing %d packages", len(made))
            wheels = [path for path in made if path.suffix == ".whl"]
            with _saying_how_to_go_on(finished):
                if wish.only or wish.records_pages:
                    prove(wheels, scratch / "installed")
                if wish.records_pages:
                    _log.info("recording what a load touches")
                    add_page_list(wheels, scratch / "installed", scratch, wish.key, wish.jobs)
                if not wish.only:
                    _refuse_problems(fresh, scratch)
        if wish.makes_packages:
            brings = wish.brings_loader and bool(sdk.selectors)
            appeared = _appear(made, fresh, dist, loader_for(wish.loader, brings, dist, scratch))
            if sdk.left_out or (dist / LEFT_OUT).exists():
                move_files({write_left_out(fresh, sdk.facts.version, sdk.left_out): dist / LEFT_OUT})
        else:
            appeared = [unpack(path, wish.output / path.parent.relative_to(fresh), scratch) for path in made]
    finished.clear()
    if sdk.selectors and Version(sdk.facts.version).is_prerelease:
        _log.warning(
            "installers take a version before a release by its number alone: pip install 'rocm[libraries]==%s'"
            " --find-links %s",
            *(sdk.facts.version, dist),
        )
    return appeared


def make_site(sdk: Assignment, site: Path) -> list[Path]:
    """Make the directory `site`, which is new and in the file system of the output; return its path in a list.

    The directory is like site-packages, made of hard links, and replaces wheels.
    """
    with scratch_directory(sdk.wish.output) as scratch:
        made = scratch / "dist"
        made.mkdir()
        writer = Writer(sdk.facts, sdk.rules.metadata, scratch)
        for package in sdk.packages:
            writer.write(package, filling(made, f"{package.name}.dist-info"))
        return [made.rename(site)]


@contextmanager
def _saying_how_to_go_on(finished: Finished) -> Iterator[None]:
    """Yield to a test of packages, whose PackagingError then says how to get the packages as they are.

    A test does not have the last word: whoever makes the packages may want them as they are.
    """
    try:
        yield
    except PackagingError as error:
        kept = f"; the wheels in {finished.directory} are not made again" if finished.has_some else ""
        raise type(error)(f"{error}\nto get the packages as they are, add --no-check{kept}", error.fix) from error


def _wheels(sdk: Assignment, fresh: Path, scratch: Path, finished: Finished) -> Iterator[Path]:
    """Yield the wheels, each made in the directory `fresh`, or taken from an earlier run."""
    wish = sdk.wish
    keys, writer = Keys(wish.written), Writer(sdk.facts, sdk.rules.metadata, scratch)
    for package in sdk.packages:
        wheel = fresh / package.wheel
        wheel.parent.mkdir(exist_ok=True)
        facts = (wheel.name, package.facts, sdk.facts, sdk.rules.metadata, wish.deflate, wish.key)
        key = keys.of(facts, package.input_files)
        if finished.take(key, wheel):
            _log.info("%s: an earlier run has made it", wheel.name)
        else:
            _log.info("%s: staging", wheel.name)
            info = f"{package.name}.dist-info"
            writer.write(package, writing(wheel, info, wish.key, deflate=wish.deflate, jobs=wish.jobs))
            _log.info("%s: written, %s", wheel.name, size_text(wheel.stat().st_size))
            if keys.of(facts, package.input_files) == key:
                finished.keep(key, wheel)
        yield wheel


def _selectors(sdk: Assignment, fresh: Path) -> Iterator[Path]:
    for place, family in sdk.selectors:
        (fresh / place).mkdir(exist_ok=True)
        yield write_selector(fresh / place, sdk.facts, sdk.families, family, sdk.offered)


def _refuse_problems(fresh: Path, scratch: Path) -> None:
    """Raise PackagingError with the problems that `rocm-sdk-build check` would report for the new packages."""
    if found := check(fresh, scratch).problems:
        lines = [f"{each.file}: {each.what}".replace(f"{fresh}/", "").removeprefix(f"{fresh}: ") for each in found]
        raise PackagingError("\n".join(lines), found[0].fix)


def _tell_left_out(sdk: Assignment) -> None:
    """List artifacts with files that go into no package in the log; raise PackagingError if the wish allows none."""
    for each in sdk.left_out:
        _log.warning("%s", each)
    if sdk.left_out and sdk.wish.is_strict:
        raise PackagingError(
            f"{counted(len(sdk.left_out), 'artifact')} with files in no package, listed above", FIX_OF_LEFT_OUT
        )


def _warn_of_sizes(made: Iterable[Path], limit: int | None) -> None:
    for path in made:
        size = path.stat().st_size
        if limit is not None and size > limit:
            _log.warning(
                "%s has %s; the index takes files of at most %s (--size-limit; PyPI: 100 MB)",
                *(path.name, size_text(size), size_text(limit)),
            )


def _appear(made: Sequence[Path], fresh: Path, dist: Path, loader: Path | None) -> list[Path]:
    """Move the files from `fresh` to `dist`, with the loader's wheel beside them; return the new paths."""
    files = list(made)
    if loader is not None:
        files.append(fresh / loader.name)
        shutil.copyfile(loader, files[-1])
    targets = {path: dist / path.relative_to(fresh) for path in files}
    move_files(targets)
    return list(targets.values())


def add_page_list(wheels: Iterable[Path], installed: Path, scratch: Path, key: str, jobs: int) -> None:
    """Write core's wheel again, with the list of the pages that a load of all libraries touches.

    `installed` is the directory in which the wheels are installed. `key` and `jobs` have the meaning that `writing`
    gives them. Raise PackagingError if the packages cannot be loaded here, or core is not among them.
    """
    core = next((path for path in wheels if wheel_name(path).project == "rocm-sdk-core"), None)
    if core is None:
        raise PackagingError(
            "--record-pages: core, which carries the list, is not among the packages", "--only core,..."
        )
    done = run(
        module_command("rocm_sdk", "init", "--record-pages"), variables={"ROCM_SDK_ROOT": str(installed.absolute())}
    )
    if done.returncode:
        what = done.stderr.strip() or f"exit status {done.returncode}"
        raise PackagingError(f"--record-pages: the packages cannot be loaded here: {what}", "leave it out")
    with os.fdopen(os.open(done.stdout.rstrip("\n"), FLAGS), "rb") as file:
        pages = checked(read_small(file), installed)
    site = scratch / "paged"
    deflate = unpack_wheel(core, site)
    (site / pages.place).write_bytes(pages.text)
    (info,) = (path.name for path in site.glob("*.dist-info"))
    core.unlink()
    with writing(core, info, key, deflate=deflate, jobs=jobs) as fresh:
        for name, path in members_of(site, info).items():
            fresh.add_file(name, path)
    shutil.rmtree(site)
    read_back(core)

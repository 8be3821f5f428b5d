"""The check that the packages of a selector can be installed together, and work: with each device package in turn."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.value_text import counted
from rocm_sdk.devel.absent import told
from rocm_sdk.devel.device_links import LINKS
from rocm_sdk.fit.verdicts.opened_names import OpenedName, opened_names
from rocm_sdk_build.base.damaged import package_damage, refusing_damage
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheel_name import wheel_name
from rocm_sdk_build.inputs.file_kind import look_at
from rocm_sdk_build.output.kernel_archives import FIX, lost_archives
from rocm_sdk_build.output.package_files import PackageFile
from rocm_sdk_build.output.trial_installation import Site
from rocm_sdk_build.packages.parts import short_name
from rocm_sdk_build.packages.platform_tag import Names, broken_promise, needs_of

from .comparison import Group
from .development_tree import Tree, archive_among, read_tree, unlisted
from .problems import Problems, again, project_of

_log = logging.getLogger(__name__)
_DEVICE = "rocm-sdk-device-"
_IN_TREE = ("rocm-sdk-core", "rocm-sdk-libraries")  # packages beside the device packages


class Opening(NamedTuple):
    """A name that a library of a package opens with dlopen, but that is a file in no package."""

    wheel: Path
    opener: str  # path of the library in the wheel
    opened: OpenedName


class Installation:
    """The packages of one selector in a scratch directory."""

    def __init__(self, group: Group, directory: Path, problems: Problems) -> None:
        """Prepare the installation of a group in `directory`, which is new."""
        self._group, self._problems = group, problems
        self._site, self._directory = Site(directory), directory
        self._libraries = Names()  # libraries of the packages for all GPUs
        self.tested: list[tuple[str, ...]] = []  # short names of packages that were installed and tested together
        self.openings: list[Opening] = []

    def run(self) -> None:
        """Install and test the packages; after the first problem read packages back, and test nothing."""
        devices = [each for each in self._group.wheels if each.project.startswith(_DEVICE)]
        hosts = [each for each in self._group.wheels if each not in devices]
        files = {each.path: self._add(each.path) for each in hosts}
        installed = [path for own in files.values() for path in own]
        self._libraries = Names(
            frozenset(name for path in installed for name in (path.name, look_at(path).soname) if name)
        )
        for path, own in files.items():
            self._check_promise(path, own)
        self._check_tree(hosts, files)
        self.openings = list(self._openings(files))
        of_devices = [path for device in devices for path in self._test_device(hosts, device, files)]
        if not devices:
            self._test(hosts)
        if not self._problems:  # otherwise a device package that is not installed may have the archives
            for path, own in files.items():
                for lost in lost_archives(own, of_devices):
                    self._problems.tell(path, lost.what, FIX)

    def _test_device(
        self, hosts: list[PackageFile], device: PackageFile, files: Mapping[Path, list[Path]]
    ) -> list[Path]:
        """Return the files of a device package, which is installed and tested meanwhile.

        `files` has the files of each of the other wheels.
        """
        own = self._add(device.path)
        if own:
            self._check_promise(device.path, own)
            if any(archive_among(each) is not None for each in files.values()):
                self._check_links(device.path, own)
            self._test([*hosts, device])
            self._site.remove(device.path)
        return own

    def _add(self, wheel: Path) -> list[Path]:
        """Return the files of a wheel, which is installed; [] if the installation fails."""
        try:
            return self._site.add(wheel)
        except PackagingError as error:
            what = str(error).removeprefix(f"{wheel}: ").removeprefix(f"{wheel} ")
            self._problems.tell(wheel, what, error.fix if " both have " in str(error) else again(project_of(wheel)))
            return []

    def _openings(self, files: Mapping[Path, Iterable[Path]]) -> Iterator[Opening]:
        """Yield the names that libraries of the packages for all GPUs open, and that no file of these packages has.

        `files` has the files of each wheel.
        """
        wheels = {str(path): wheel for wheel, own in files.items() for path in own if ".so" in path.name}
        for each in opened_names(wheels, wheels):
            opener = str(Path(each.opener).relative_to(self._directory))
            yield Opening(wheels[each.opener], opener, each._replace(opener=opener, present=Path(each.present).name))

    def _check_promise(self, wheel: Path, files: Iterable[Path]) -> None:
        """Report a wheel whose files need more from a system than the platform tag promises."""
        if broken := broken_promise(wheel_name(wheel).platform, needs_of(files, self._libraries)):
            fix = "make it again without --platform-tag, or make the package again that has what it needs"
            self._problems.tell(wheel, broken, fix)

    def _check_tree(self, hosts: list[PackageFile], files: Mapping[Path, list[Path]]) -> None:
        """Report a development tree in one of the packages for all GPUs that does not fit the other packages."""
        names = {path: [str(each.relative_to(self._directory)) for each in own] for path, own in files.items()}
        known = {name for own in names.values() for name in own}
        wanted = {name for each in hosts if each.project.startswith(_IN_TREE) for name in names[each.path]}
        for wheel, own in files.items():
            archive = archive_among(own)
            if archive is not None and not self._problems:  # a package that is not installed would be reported again
                with self._problems.of(wheel, again(project_of(wheel))):
                    self._compare(wheel, read_tree(archive, wheel, known, wanted))

    def _compare(self, wheel: Path, tree: Tree) -> None:
        if tree.lost:
            what = f"has {counted(tree.lost, 'link')} to files that no package has, as {tree.first}"
            fix = "make that package again where all of its artifacts are, or this one from the same artifacts"
            self._problems.tell(wheel, what, fix)
        if tree.absent:
            what = "lacks files that other packages have, and that compilers look for in it:"
            fix = "make it again from the artifacts of the others, with the same rules"
            self._problems.tell(wheel, f"{what} {told(tree.absent)} not there", fix)
        for each in [] if tree.absent or tree.lost else tree.unmet:  # these may be the cause
            fix = "make it again from artifacts that have it, or correct what the package has from its build"
            self._problems.tell(wheel, f"has a package for CMake or pkg-config that cannot be used: {each}", fix)
        for each in tree.notes:
            _log.warning("%s: note: %s", wheel.name, each)

    def _check_links(self, wheel: Path, files: list[Path]) -> None:
        """Report a device package that does not list all of its files for the development tree."""
        with self._problems.of(wheel, again(project_of(wheel))), refusing_damage(package_damage(wheel, LINKS)):
            if absent := unlisted(self._directory, files):
                what = f"lacks files in its list for the development tree ({LINKS}): {told(absent)} not there"
                self._problems.tell(wheel, what, again(project_of(wheel)))

    def _test(self, packages: Iterable[PackageFile]) -> None:
        if self._problems:
            return
        names = tuple(sorted(short_name(each.project) for each in packages))
        place = self._group.selector.path.parent
        try:
            self._site.test()
        except PackagingError as error:
            self._problems.tell(place, f"{', '.join(names)}: {error}", error.fix)
        self.tested.append(names)

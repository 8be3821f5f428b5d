"""The writer of packages as pip installs them: a tree for each, from which its wheel or site is made."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from rocm_sdk import loader_version
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.original_bytes import Rest
from rocm_sdk_build.base.site_directory import SitePackage
from rocm_sdk_build.base.text_files import write_text
from rocm_sdk_build.base.wheels import Wheel
from rocm_sdk_build.code import stack_decision as executable_stack
from rocm_sdk_build.code.patchelf import Shape, set_search_path
from rocm_sdk_build.code.sparse_copy import copy_file
from rocm_sdk_build.inputs.rules import MetadataRule

from .debug_files import debug_members, strip
from .dist_info import FACTS, FACTS_OF_LIBRARIES, SdkFacts, facts_text, module_text, python_text
from .licences import expression_of_all, licences_of_debian
from .package import Package, PlacedFile
from .platform_tag import machine_of
from .sbom import ArtifactDigests, sbom_name, sbom_text
from .tar_archives import DEVEL_ARCHIVES, size_of_archive, write_devel_archive
from .trampoline import place_of, write_stub, write_trampoline

_SCRIPTS = Path(__file__).with_name("script_template.py")
_PYTHON = ">=3.10"  # as the loader requires
_LICENCE = "License-Expression"


class Writer:
    """The writer of the packages of an SDK, one after the other."""

    def __init__(self, sdk: SdkFacts, rules: Iterable[MetadataRule], scratch: Path) -> None:
        """Use `scratch`, in which nothing is left of a package; `rules` are about METADATA."""
        self._sdk, self._rules, self._scratch = sdk, rules, scratch
        self._debug = scratch / "debug"  # debug information of a package, until the package that has it is written
        self._digests = ArtifactDigests()

    def write(self, package: Package, output: AbstractContextManager[Wheel | SitePackage]) -> None:
        """Write a package to the output."""
        site = self._scratch / package.distribution
        site.mkdir()
        entry_points: Mapping[str, str] = {}
        members, rests = dict[str, Path](), dict[str, Rest]()  # files elsewhere by their names; parts that files lack
        if package.is_debug:
            members = debug_members(package.debug, str(package.platform_directory), self._debug)
        elif package.platform_directory is not None:
            self._stage(package, site, members, rests)
            if package.pure_module is not None and package.scripts:
                entry_points = write_scripts(package, self._sdk.nonce, site)
        if package.pure_module is not None:
            write_text(site / package.pure_module / "__init__.py", module_text(package.summary))
            text = python_text(package.logical_name, self._sdk, package.family)
            write_text(site / package.pure_module / "_dist_info.py", text)
        info = f"{package.name}.dist-info"
        check_processors(package, site)
        self._write_dist_info(package, site / info, entry_points)
        members |= {f"{info}/licenses/{path}": source for path, source in package.licences.items()}
        with output as fresh:
            if package.tree:
                name = f"rocm_sdk_devel/{DEVEL_ARCHIVES[package.compression]}"
                with fresh.adding(name, size_of_archive(package.tree)) as archive:
                    tree = f"_rocm_sdk_devel{self._sdk.nonce}"
                    write_devel_archive(package.tree, tree, archive, package.compression)
            for name, path in members_of(site, info, members).items():
                fresh.add_file(name, path, rests.get(name))
        shutil.rmtree(site)
        if package.is_debug:
            shutil.rmtree(self._debug)

    def _stage(self, package: Package, site: Path, members: dict[str, Path], rests: dict[str, Rest]) -> None:
        """Write the own files of a runtime or device package below `site`; note the others."""
        root = site / str(package.platform_directory)
        if package.debug:
            with suppress(FileNotFoundError):
                shutil.rmtree(self._debug)
        for file in package.files.values():
            target, name = root / file.path, f"{root.name}/{file.path}"
            if not file.link and not package.changes(file):
                members[name] = file.source
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.link:
                write_stub(target, file.link)
            elif (rest := self._write_copy(package, file, target)) is not None:
                rests[name] = rest
        if package.logical_name != "device":  # the directory of a device package belongs to the libraries package
            write_text(root / "__init__.py", "")
        else:
            self._write_link_manifest(package, root)
        facts = members.pop(f"{root.name}/{FACTS}", None)
        if facts is not None:
            write_text(root / FACTS, facts_text(facts, package.absent))
        elif package.absent and package.logical_name == "libraries":
            write_text(root / FACTS_OF_LIBRARIES, facts_text(None, package.absent))

    def _write_copy(self, package: Package, file: PlacedFile, target: Path) -> Rest | None:
        """Write a changed file; return the part that the copy lacks."""
        rest = None
        if file.source in package.debug:
            strip(file.source, target, self._debug / package.debug[file.source].place)
        else:
            rest = copy_file(file.source, target)
        if (shape := package.shape_of(file)) is not Shape.NONE:
            rest = set_search_path(target, search_entries(package, file.path, self._sdk.nonce), rest, shape)
        if file.path in package.without_stack:
            executable_stack.clear(target)
        return rest

    def _write_link_manifest(self, package: Package, root: Path) -> None:
        """Write the list of the links that the development tree gets to a device package's files."""
        links = [
            {"relpath": path, "target": "/".join([*[".."] * len(PurePosixPath(path).parts), root.name, path])}
            for path in sorted(package.files)
        ]
        text = json.dumps({"version": package.version, "links": links}, indent=2) + "\n"
        write_text(root / ".devel_links" / f"{package.family}.json", text)

    def _write_dist_info(self, package: Package, directory: Path, scripts: Mapping[str, str]) -> None:
        """Write METADATA, WHEEL, the bill of materials and, if there are scripts, entry_points.txt.

        The wheel is Purelib, although its tag is for one machine: the packages find each other as siblings.
        """
        lines = ["Wheel-Version: 1.0", "Generator: rocm_sdk_build", "Root-Is-Purelib: true", f"Tag: {package.tag}"]
        write_text(directory / "METADATA", metadata_text(package, self._rules))
        write_text(directory / "WHEEL", "\n".join(lines) + "\n")
        if scripts:
            lines = ["[console_scripts]", *(f"{command} = {target}" for command, target in scripts.items())]
            write_text(directory / "entry_points.txt", "\n".join(lines) + "\n")
        digests = {each.directory.name: self._digests.of(each) for each in package.artifacts}
        debian = licences_of_debian(package.licences)
        text = sbom_text(package.distribution, package.version, loader_version, digests, debian=debian)
        write_text(directory / sbom_name(package.distribution), text)


def members_of(site: Path, dist_info: str, more: Mapping[str, Path] = MappingProxyType({})) -> dict[str, Path]:
    """Return the files of a wheel except RECORD, by their names in the wheel.

    The order is the order in the wheel: files of dist-info are the last.
    """
    own = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    own.pop(f"{dist_info}/RECORD", None)
    found = {**more, **own}
    return {name: found[name] for name in sorted(found, key=lambda name: (name.startswith(f"{dist_info}/"), name))}


def check_processors(package: Package, site: Path) -> None:
    """Raise PackagingError if a program compiled for a package is for another processor than the package's files."""
    machines = package.needs.machines
    for path in sorted(site.rglob("*") if machines else ()):
        machine = machine_of(path) if path.is_file() else None
        if machine is not None and machine not in machines:
            raise PackagingError(
                f"{package.name}: {path.name} is compiled for {machine}, the package is for {', '.join(machines)}",
                "set CC to a compiler for that processor",
            )


def write_scripts(package: Package, nonce: str, site: Path) -> dict[str, str]:
    """Write a command for each program of the package: a program of its own, as far as the compiler can make it.

    Return the entry points of the other commands; these are functions of the module `_cli`, which has a function for
    each command.
    """
    own = [script for script in package.scripts if script.path in package.files]
    place = place_of(str(package.platform_directory), nonce, f"{package.name}.dist-info")
    lines = [f"PLATFORM_DIRECTORY = {package.platform_directory!r}"]
    lines += [f"DEVEL_DIRECTORY = {place.devel!r}", f"CORE_DIRECTORY = {place.core!r}"]
    entry_points = {}
    for script in own:
        entry_points[script.name] = entry_point_of(str(package.pure_module), script.name)
        function = entry_points[script.name].rpartition(":")[2]
        lines += ["", "", f"def {function}() -> None:", f"    start({script.path!r}, {script.expands})"]
    text = _SCRIPTS.read_text(encoding="utf-8") + "\n".join(lines) + "\n"
    write_text(site / str(package.pure_module) / "_cli.py", text)
    directory = site / f"{package.name}.data/scripts"
    are_native = all(write_trampoline(directory / script.name, script, place) for script in own)
    if not are_native:
        shutil.rmtree(site / f"{package.name}.data")
    return {} if are_native else entry_points


def entry_point_of(module: str, command: str) -> str:
    """Return the function of a package's module that starts the program of a command."""
    return f"{module}._cli:{re.sub(r'[^0-9A-Za-z]', '_', command.replace('+', 'p'))}"


def search_entries(package: Package, path: str, nonce: str) -> list[str]:
    """Return the entries that a file's search path gets behind its own entries.

    The entries are directories of the file's package and of core, relative to the file.
    """
    parent = PurePosixPath(path).parent
    own = [os.path.relpath(directory, parent) for directory in package.own_search]
    up = "/".join([".."] * len(PurePosixPath(str(package.platform_directory), parent).parts))
    core = [f"{up}/_rocm_sdk_core{nonce}/{directory}" for directory in package.search]
    return ["$ORIGIN" if each == "." else f"$ORIGIN/{each}" for each in (*own, *core)]


def metadata_text(package: Package, rules: Iterable[MetadataRule]) -> str:
    """Return METADATA.

    The licence comes from the rules, or else from Debian's copyright files where all of them state one.
    """
    own = [rule for rule in rules if rule.package in (package.logical_name, "all")]
    is_said = any(rule.field == _LICENCE for rule in own)
    expression = None if is_said else expression_of_all(package.licences)
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {package.distribution}",
        f"Version: {package.version}",
        f"Summary: {package.summary}",
        "Description-Content-Type: text/markdown",
        *(f"{rule.field}: {rule.value}" for rule in own),
        *([f"{_LICENCE}: {expression}"] if expression is not None else []),
        *(f"License-File: {path}" for path in package.licences),
        f"Requires-Python: {_PYTHON}",
        *(f"Requires-Dist: {each}" for each in package.requires),
    ]
    told = "`pip install rocm` installs what fits a machine; `rocm-sdk test` checks what is installed."
    return "\n".join([*lines, "", f"# {package.distribution}", "", f"{package.summary}.", "", told, ""])

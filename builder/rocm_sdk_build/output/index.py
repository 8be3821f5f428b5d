"""The pages from which pip and uv install: a page for each project (PEP 503), with hashes and metadata (PEP 658).

Each page also exists as JSON.
"""

from __future__ import annotations

import hashlib
import html
import json
import logging
import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk_build.base.damaged import package_damage, read_small, refusing_damage
from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.new_file import new_file, refuse_output
from rocm_sdk_build.base.own_directory import refuse_unknown, replace_directory
from rocm_sdk_build.base.pieces import naming_place, write_all
from rocm_sdk_build.base.scratch import scratch_directory

from .extras import LOADER_FIX, SELECTOR, IndexedFile, Unmet, unchosen, unmet
from .package_files import PackageFile, find_packages
from .rocm_selector.backend import LOADER

_log = logging.getLogger(__name__)


def write_index(directory: Path, roots: Sequence[Path] = (), *, of_sdk: bool = False) -> list[Path]:
    """Write the pages of an index into the directory; return the pages.

    The index is `simple/`, with a page for each project, and `links.html` with all files; metadata files lie beside the
    wheels. The pages list files in the directory, in its immediate subdirectories and directly in `roots`, where they
    are.

    of_sdk: refuse a directory without a package of an SDK, such as one of downloads or temporary files.

    Raise PackagingError if there are no files, for an invalid name or wheel, for two different files of one name, and
    if a package of the SDK has a requirement of the SDK that is not there. Raise IncompleteIndexError, after the pages
    are written, if a requirement of another package is not there that no other index has. A warning names requirements
    that another index may have.
    """
    files = _find(directory, roots, of_sdk)
    lacking = unmet(files)
    if wrong := [each for each in lacking if each.is_ours and each.is_certain]:
        raise PackagingError("\n".join(map(str, wrong)), _PUT_IT_THERE)
    if left := unchosen([each for each in files if directory in each.path.parents]):
        package, selector = left
        raise PackagingError(
            f"{package.path}: no extra of {selector.path} requires it, so nobody can choose it",
            "make the selector again, with the families of all packages",
        )
    projects: dict[str, list[IndexedFile]] = defaultdict(list)
    for file in files:
        projects[file.project].append(file)
    links = (_link(file, _address(directory, file)) for file in sorted(files, key=lambda file: file.path.name))
    simple, flat = directory / "simple", directory / "links.html"
    metadata = {f"{file.path}.metadata": file.metadata for file in files if file.metadata is not None}
    refuse_unknown(simple)
    for path in (str(flat), *metadata):
        refuse_output(path)
    with naming_place(str(directory)), scratch_directory(directory) as scratch:
        fresh = scratch / "simple"
        fresh.mkdir()
        names = sorted(projects)
        root_lines = (f'<a href="{name}/">{name}</a>' for name in names)
        pages = [_write(fresh / "index.html", _page("Simple index", root_lines))]
        root = {"meta": {"api-version": "1.1"}, "projects": [{"name": name} for name in names]}
        _write(fresh / "index.json", json.dumps(root, indent=2) + "\n")
        for project, own in sorted(projects.items()):
            own.sort(key=lambda file: file.path.name)
            lines = [_link(file, _project_address(directory, file)) for file in own]
            pages.append(_write(fresh / project / "index.html", _page(f"Links for {project}", lines)))
            document = json.dumps(_project_document(project, own, directory), indent=2)
            _write(fresh / project / "index.json", document + "\n")
        for path, content in {**metadata, str(flat): _page("All packages", links).encode()}.items():
            with new_file(path) as new:
                write_all(new, content, 0)
        replace_directory(fresh, simple)
    made = [*(simple / page.relative_to(fresh) for page in pages), flat]
    _tell_elsewhere([each for each in lacking if not each.is_certain])
    if wrong := [each for each in lacking if each.is_certain]:
        raise IncompleteIndexError("\n".join(map(str, wrong)), made)
    return made


_LEAVE_OUT = "leave one of them out"
_PUT_IT_THERE = "put what is required beside it, or name its directory: --root DIR"


class IncompleteIndexError(PackagingError):
    """The error for pages that are written, but have packages that cannot be installed from them with all extras."""

    def __init__(self, message: str, pages: list[Path]) -> None:
        super().__init__(message, _PUT_IT_THERE)
        self.pages = pages


def _tell_elsewhere(lacking: Iterable[Unmet]) -> None:
    """Warn of requirements that another index may have: the loader, and for each file the packages of no SDK."""
    others: dict[Path, list[str]] = defaultdict(list)
    for each in lacking:
        if each.project == LOADER:
            _log.warning("%s: %s", each, LOADER_FIX)
        else:
            others[each.told[0][0]].append(each.requirement)
    for path, names in others.items():
        what = "which is not there" if len(names) == 1 else "which are not there"
        _log.warning("%s: requires %s, %s: pip and uv have to get that from elsewhere", path, ", ".join(names), what)


def _find(directory: Path, roots: Sequence[Path], of_sdk: bool) -> list[IndexedFile]:
    packages = [*find_packages(directory), *(each for root in roots for each in find_packages(root, below=False))]
    named = ", ".join(map(str, (directory, *roots)))
    if not packages:
        raise PackagingError(f"{named}: there are no packages in it", "*.whl or *.tar.gz")
    if of_sdk and not any(each.is_of_sdk for each in packages):
        what = f"{named}: no package of a ROCm SDK is there; {packages[0].path} is one of other makers"
        raise PackagingError(what, "name the directory that has the SDK's packages, or give it too: --root DIR")
    found: dict[str, IndexedFile] = {}
    for package in packages:
        file = _read(package)
        other = found.setdefault(file.path.name, file)
        if other.sha256 != file.sha256:
            is_below = directory in (other.path.parent.parent, file.path.parent.parent)
            raise PackagingError(
                f"{other.path} and {file.path} are different, and installers could not tell which is meant",
                fix_of_clash(directory, (other, file), [_read(each) for each in find_packages(directory)])
                if is_below
                else _LEAVE_OUT,
            )
    return list(found.values())


def _read(package: PackageFile) -> IndexedFile:
    path = package.path
    metadata = _metadata_of(path) if package.is_wheel else None
    digest = sha256_of(path).hexdigest()
    return IndexedFile(path, package.project, package.version, digest, path.stat().st_size, metadata)


def _metadata_of(wheel: Path) -> bytes:
    with refusing_damage(package_damage(wheel)), wheel.open("rb") as file, open_zip(str(wheel), file) as archive:
        names = [name for name in archive.namelist() if name.count("/") == 1 and name.endswith(".dist-info/METADATA")]
        if len(names) == 1:
            with archive.open(names[0]) as member:
                return read_small(member)
    raise PackagingError(f"{wheel}: it has no METADATA")


def _address(page: Path, file: IndexedFile) -> str:
    """Return the address of a file from a page in the directory `page`."""
    return quote(os.fsencode(os.path.relpath(file.path, page)))


def _project_address(directory: Path, file: IndexedFile) -> str:
    return _address(directory / "simple" / file.project, file)


def _link(file: IndexedFile, address: str) -> str:
    extra = ""
    if file.metadata is not None:
        digest = hashlib.sha256(file.metadata).hexdigest()
        extra = f' data-core-metadata="sha256={digest}" data-dist-info-metadata="sha256={digest}"'
    return f'<a href="{address}#sha256={file.sha256}"{extra}>{html.escape(file.path.name)}</a>'


def _page(title: str, links: Iterable[str]) -> str:
    lines = [
        "<!DOCTYPE html>",
        "<html>",
        "<head>",
        '  <meta charset="utf-8">',
        '  <meta name="pypi:repository-version" content="1.1">',
        f"  <title>{html.escape(title)}</title>",
        "</head>",
        "<body>",
        f"  <h1>{html.escape(title)}</h1>",
        *(f"  {link}<br>" for link in links),
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _project_document(project: str, files: Iterable[IndexedFile], directory: Path) -> dict[str, object]:
    found = list(files)
    rows = []
    for file in found:
        row: dict[str, object] = {
            "filename": file.path.name,
            "url": _project_address(directory, file),
            "hashes": {"sha256": file.sha256},
            "size": file.size,
        }
        if file.metadata is not None:
            row["core-metadata"] = {"sha256": hashlib.sha256(file.metadata).hexdigest()}
        rows.append(row)
    versions = sorted({file.version for file in found})
    return {"meta": {"api-version": "1.1"}, "name": project, "versions": versions, "files": rows}


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def fix_of_clash(directory: Path, clashing: tuple[IndexedFile, IndexedFile], files: Sequence[IndexedFile]) -> str:
    """Return the fix that makes an index of `directory` possible, which has two different files of one name.

    The fix is an index for each of the two files if all their requirements are there; otherwise one selector in place
    of two. `files` are all files in the directory and directly below it.
    """
    below = sorted({each.path.parent for each in files} - {directory})
    own = [each for each in files if each.path.parent == directory]
    places = [each.path.parent for each in clashing]
    if all(place in below for place in places):
        for roots in ([directory], []):
            groups = [_index_of(place, own if roots else [], files) for place in places]
            if all(map(_is_complete, groups)):
                words = ["rocm-sdk-build", "index", str(places[1]), *(["--root", str(directory)] if roots else [])]
                return f"an index for each: {shlex.join(words)}"
    if all(each.project == SELECTOR for each in clashing):
        one = "rocm-sdk-build artifacts --only rocm with --linux-amdgpu-families and --windows-amdgpu-families of both"
        return f"make one selector for all packages, in place of these: {one}"
    return _LEAVE_OUT


def _index_of(place: Path, others: Iterable[IndexedFile], files: Iterable[IndexedFile]) -> list[IndexedFile]:
    return [*(each for each in files if each.path.parent == place), *others]


def _is_complete(files: Sequence[IndexedFile]) -> bool:
    """Return whether the files can be an index.

    Each file must have a name of its own, and the requirements of our packages must be there.
    """
    names = {each.path.name: each.sha256 for each in files}
    return all(names[each.path.name] == each.sha256 for each in files) and not any(
        each.is_ours and each.is_certain for each in unmet(files)
    )

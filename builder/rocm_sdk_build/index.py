"""Pages from which pip and uv install: one per project (PEP 503), with hashes and metadata (PEP 658), also as JSON."""

from __future__ import annotations

import hashlib
import html
import json
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .errors import PackagingError
from .file_digest import sha256_of
from .package_files import PackageFile, find_packages

_CHUNK = 1 << 20


class IndexedFile(NamedTuple):
    """A wheel or source distribution."""

    path: Path
    project: str  # normalised
    version: str
    sha256: str
    size: int
    metadata: bytes | None  # of a wheel


def write_index(directory: Path) -> list[Path]:
    """Writes `simple/` into the directory, with a page for each project and its metadata files, and returns the pages.

    Files in the directory and in its immediate subdirectories are listed, where they are. PackagingError where there
    are none, and for a name or wheel that is none.
    """
    files = [_read(package) for package in find_packages(directory)]
    if not files:
        raise PackagingError(f"{directory}: there are no packages in it", "*.whl or *.tar.gz")
    projects: dict[str, list[IndexedFile]] = defaultdict(list)
    for file in files:
        projects[file.project].append(file)
    simple, fresh = directory / "simple", directory / ".simple.partial"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    pages = [_write(fresh / "index.html", _root_page(sorted(projects)))]
    for project, own in sorted(projects.items()):
        own.sort(key=lambda file: file.path.name)
        pages.append(_write(fresh / project / "index.html", _project_page(project, own, directory)))
        _write(fresh / project / "index.json", json.dumps(_project_document(project, own, directory), indent=2) + "\n")
        for file in own:
            if file.metadata is not None:
                file.path.with_name(f"{file.path.name}.metadata").write_bytes(file.metadata)
    shutil.rmtree(simple, ignore_errors=True)
    fresh.rename(simple)
    return [simple / page.relative_to(fresh) for page in pages]


def _read(package: PackageFile) -> IndexedFile:
    path = package.path
    metadata = _metadata_of(path) if package.is_wheel else None
    digest = sha256_of(path).hexdigest()
    return IndexedFile(path, package.project, package.version, digest, path.stat().st_size, metadata)


def _metadata_of(wheel: Path) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [
                name for name in archive.namelist() if name.count("/") == 1 and name.endswith(".dist-info/METADATA")
            ]
            if len(names) == 1:
                return archive.read(names[0])
    except (zipfile.BadZipFile, OSError) as error:
        raise PackagingError(f"{wheel}: no readable wheel: {error}") from error
    raise PackagingError(f"{wheel}: it has no METADATA")


def _address(directory: Path, file: IndexedFile) -> str:
    """From the page of its project."""
    return "../../" + quote(file.path.relative_to(directory).as_posix())


def _root_page(projects: Iterable[str]) -> str:
    return _page("Simple index", (f'<a href="{name}/">{name}</a>' for name in projects))


def _project_page(project: str, files: Iterable[IndexedFile], directory: Path) -> str:
    return _page(f"Links for {project}", (_link(file, directory) for file in files))


def _link(file: IndexedFile, directory: Path) -> str:
    extra = ""
    if file.metadata is not None:
        digest = hashlib.sha256(file.metadata).hexdigest()
        extra = f' data-core-metadata="sha256={digest}" data-dist-info-metadata="sha256={digest}"'
    return f'<a href="{_address(directory, file)}#sha256={file.sha256}"{extra}>{html.escape(file.path.name)}</a>'


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
            "url": _address(directory, file),
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

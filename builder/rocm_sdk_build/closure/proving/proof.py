"""The proof of a closure in an otherwise empty root.

The proof runs in a root with Python and the loader, the application, and the libraries of the system that the plan
names. Files that the closure lacks cannot be found elsewhere.

The files of this system are at the same places in the root, and nothing there can change them: the code of the
application runs without privileges (namespaces.py).
"""

from __future__ import annotations

import errno
import json
import os
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rocm_sdk import coverage
from rocm_sdk.base.processes import PACKAGE_PARENT
from rocm_sdk.terminal.progress import waiting
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.page_list import PageList, checked
from rocm_sdk_build.closure.choosing.roots import Roots
from rocm_sdk_build.closure.choosing.selection import Selection
from rocm_sdk_build.closure.source_sdk import InstalledSdk
from rocm_sdk_build.closure.writing.site import Site

from .application import ApplicationFiles, application_files, is_program, modules_of
from .confinement import Way, find_way, run_confined
from .host_files import HostFiles, find_host_files
from .root import Root

_WITHOUT = {"none", "not needed"}  # a library without code for a GPU may lose all code
_OWN = "/.rocm-sdk-proof"  # files that are not this system's are in a directory that no application has
_PROGRAM = Path(__file__).with_name("program.py")
_NO_STDLIB = ("site-packages", "dist-packages", "test", "tests", "__pycache__", "idlelib", "tkinter", "ensurepip")
_VARIABLES = {
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
    "LD_BIND_NOW": "1",
    "HOME": "/tmp",
    "LOGNAME": "proof",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",  # threads for each processor would take much address space
    "OPENBLAS_NUM_THREADS": "1",
}
# Messages of application code that lacks permissions.
_LACK_OF_RIGHTS = tuple(map(os.strerror, (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENETUNREACH)))


class Attempt(NamedTuple):
    """The way in which the closure is tried."""

    way: Way
    place: Path  # an empty directory of the scratch directory, where the root is mounted
    records_pages: bool = False


class Proof(NamedTuple):
    """The result of the proof; `remarks` name files that were not tried, with the reason."""

    way: str
    preloaded: tuple[str, ...]
    libraries: tuple[str, ...]  # each loaded alone, with all that it needs and every symbol found
    files: tuple[str, ...]  # files of applications, loaded after what they need
    modules: tuple[str, ...]  # modules that were imported
    remarks: tuple[str, ...]
    host_files: tuple[str, ...]  # files of this system that the libraries use
    seconds: float
    page_list: PageList | None  # the pages that a load of all libraries touches, if requested


def find_attempt(scratch: Path, *, may_be_unsafe: bool, records_pages: bool) -> Attempt:
    """Return the way that works here.

    Raise PackagingError if there is no way, or if pages are to be recorded without namespaces.
    """
    place = scratch / "root"
    place.mkdir()
    way = find_way(place, may_be_unsafe=may_be_unsafe)
    if records_pages and not way.is_safe:
        what = "pages cannot be recorded without namespaces: there is no /proc, where the kernel lists them"
        raise PackagingError(what, "leave out --record-pages; rocm-sdk init --record-pages writes a list later")
    return Attempt(way, place, records_pages=records_pages)


def prove(  # noqa: PLR0917
    sdk: InstalledSdk,
    roots: Roots,
    selection: Selection,
    site: Site,
    gpus: tuple[str, ...],
    attempt: Attempt,
) -> Proof:
    """Try the closure; return the result.

    Raise PackagingError, which says what fails.
    """
    start = time.monotonic()
    modules, remarks = modules_of(roots)
    application = application_files(roots)
    host = find_host_files(sdk, selection, application.files)
    loaded = [path for path in roots.files if path not in selection.needed.unread and not is_program(path)]
    # What these files need may come from other files, which their import loads.
    of_packages = {path for each in roots.applications if each.kind != "file" for path in each.files}
    search_path = [f"{_OWN}/loader", f"{_OWN}/closure", *application.search_path]
    wish: dict[str, Any] = {
        "preloads": roots.preloaded,
        "libraries": roots.shortnames,
        "paths": list(selection.needed.reasons),
        "files": loaded,
        "behind": [path for path in loaded if path in of_packages],
        "modules": modules,
        "records_pages": attempt.records_pages,
        "search_path": search_path,
    }
    root = _root(attempt, site, host, application)
    root.texts[_inside("wish.json")] = json.dumps(wish)
    command = (os.path.realpath(_python()), "-I", "-B", f"{_OWN}/program.py", f"{_OWN}/wish.json")
    variables = _VARIABLES | {"PYTHONPATH": ":".join(search_path)}
    with waiting("trying the closure"):
        answer = run_confined(attempt.way, attempt.place, root, command, variables)
    if refused := answer.get("refused"):
        raise PackagingError(f"the closure cannot be tried: {refused}", "--no-proof leaves this out")
    if wrong := answer["wrong"]:
        shown = "\n".join(f"{each['what']}: {each['why']}" for each in wrong)
        raise PackagingError(f"the closure does not work where nothing else is:\n{shown}", _fix_of(wrong))
    _compare_coverage(sdk, selection, site, gpus)
    return Proof(
        attempt.way.name,
        roots.preloaded,
        tuple(wish["paths"]),
        tuple(loaded),
        tuple(modules),
        tuple(remarks) + ((attempt.way.remark,) if attempt.way.remark is not None else ()),
        host.of_libraries,
        time.monotonic() - start,
        checked(str(answer["pages"]).encode(), site.place) if attempt.records_pages else None,
    )


def _fix_of(wrong: Sequence[dict[str, str]]) -> str:
    if any(word in each["why"] for each in wrong for word in _LACK_OF_RIGHTS):
        return "the proof gives no rights: no network, devices or writable files but /tmp; --no-proof leaves it out"
    codes = dict.fromkeys(each["code"] for each in wrong if each.get("code"))
    explained = " && ".join(f"rocm-sdk explain {code}" for code in codes)
    return "--library NAME, or --trace, adds what is missing" + (explained and f"  # {explained}")


# ---- the root ----


def _root(attempt: Attempt, site: Site, host: HostFiles, application: ApplicationFiles) -> Root:
    """Return the root: Python, the loader, the closure, the application and the system's libraries."""
    root = Root(attempt.place.with_name("copies"), for_others=attempt.way.for_root)
    bases = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    for name in ("stdlib", "platstdlib"):
        root.add_tree(sysconfig.get_path(name, vars=bases), without=_NO_STDLIB)
    python = os.path.realpath(_python())
    for path in (python, *host.paths):
        root.add_file(path)
    root.links |= {root.place_of(link): target for link, target in host.links.items()}
    for top, files in application.trees.items():
        root.add_tree(top, chosen=files)
    in_trees = {path for files in application.trees.values() for path in files}
    for path in application.files:
        if path not in in_trees:
            root.add_file(path)
    root.add_tree(os.path.realpath(f"{PACKAGE_PARENT}/rocm_sdk"), _inside("loader/rocm_sdk"))
    root.add_tree(str(site.place), _inside("closure"))
    root.texts[_inside("program.py")] = _PROGRAM.read_text(encoding="utf-8")
    root.texts["etc/ld.so.conf"] = "".join(f"{each}\n" for each in host.directories)
    return root


def _inside(name: str) -> str:
    return f"{_OWN}/{name}".lstrip("/")


def _python() -> str:
    return getattr(sys, "_base_executable", None) or sys.executable


# ---- the code ----


def _compare_coverage(sdk: InstalledSdk, selection: Selection, site: Site, gpus: tuple[str, ...]) -> None:
    """Raise PackagingError if check-gpu's verdict on a kept library has changed."""
    kept = {os.path.basename(path) for path in selection.needed.reasons}
    before = {
        (library.name, on.gpu): (on.verdict, on.tables)
        for directory in sdk.sites
        for name in sorted({file.package for file in sdk.files.values() if file.package.startswith("_")})
        if gpus and os.path.isdir(os.path.join(directory, name))
        for library in coverage(gpus, os.path.join(directory, name)).libraries
        for on in library.gpus
    }
    for library in site.code.libraries if site.code is not None else ():
        for on in library.gpus if kept.intersection(map(os.path.basename, library.files)) else ():
            was = before.get((library.name, on.gpu))
            now = (on.verdict, on.tables)
            if was is not None and was != now and not {was[0], on.verdict} <= _WITHOUT:
                what = f"the code for {on.gpu} is {_shown(now)} in the closure, and {_shown(was)} in the SDK"
                raise PackagingError(f"{library.name}: {what}", "report this as a fault of rocm-sdk-build")


def _shown(found: tuple[str, str | None]) -> str:
    verdict, tables = found
    return verdict if tables is None else f"{verdict} (tables of kernels: {tables})"

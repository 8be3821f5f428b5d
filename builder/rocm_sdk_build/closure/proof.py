"""Tries the closure where nothing else is: in a root with Python and the loader, the application, and the libraries of
the system that the plan names. What the closure lacks cannot be found elsewhere.

The files of this system are copied to the same places in the root. Its programs are those of util-linux.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from rocm_sdk import coverage
from rocm_sdk.tooling import PACKAGE_PARENT
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.file_system import type_of_file_system
from rocm_sdk_build.files.scratch import PREFIX

from .host_files import HostFiles, find_host_files
from .installation import InstalledSdk
from .proof_application import ApplicationFiles, application_files, is_program, modules_of
from .roots import Roots
from .selection import Selection
from .writing import Site

_SECONDS = 1800
_WITHOUT = {"none", "not needed"}  # a library without code for a GPU may lose all code
# What is not of this system lies in a directory that no application has.
_OWN = "/.rocm-sdk-proof"
RESULT = Path(_OWN.removeprefix("/"), "closure")  # where the closure is in a root
_PROGRAM = Path(__file__).with_name("proof_program.py")
# The root itself may lie in platstdlib, which is in the environment.
_NO_STDLIB = (
    f"{PREFIX}*",
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "__pycache__",
    "idlelib",
    "tkinter",
    "ensurepip",
)
# Binds /proc and /dev, which are in no root that was made of files, and becomes the program in the root.
_ENTER = """
mkdir -p "$0/proc" "$0/dev"
mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev"
exec chroot "$0" "$@"
"""


class Proof(NamedTuple):
    """What was tried. remarks say what was not, and why."""

    preloaded: tuple[str, ...]
    libraries: tuple[str, ...]  # each loaded alone, with all that it needs, every symbol found
    files: tuple[str, ...]  # of applications, loaded behind what they need
    modules: tuple[str, ...]  # imported
    remarks: tuple[str, ...]
    host_files: tuple[str, ...]  # of this system, that the libraries use
    seconds: float


def prove(  # noqa: PLR0917
    sdk: InstalledSdk,
    roots: Roots,
    selection: Selection,
    site: Site,
    gpus: tuple[str, ...],
    replaced: Mapping[str, Path] = {},
) -> Proof:
    """Tries the closure, which lies as RESULT in a directory that becomes the root.

    replaced: files of applications -> what takes their places. PackagingError says what fails.
    """
    start = time.monotonic()
    root = site.place.parents[1]
    enter = _way_in()
    modules, remarks = modules_of(roots)
    application = application_files(roots)
    host = find_host_files(sdk, selection, application.files)
    _fill(root, host, application, replaced)
    loaded = [path for path in roots.files if path not in selection.needed.unread and not is_program(path)]
    wish: dict[str, Any] = {
        "preloads": roots.preloaded,
        "libraries": roots.shortnames,
        "paths": list(selection.needed.reasons),
        "files": loaded,
        "behind": [path for path in loaded if path in _of_packages(roots)],
        "modules": modules,
    }
    answer = _run(enter, root, wish, application.search_path)
    if wrong := answer["wrong"]:
        shown = "\n".join(f"{each['what']}: {each['why']}" for each in wrong)
        raise PackagingError(f"the closure does not work where nothing else is:\n{shown}", _fix_of(wrong))
    _compare_coverage(sdk, selection, site, gpus)
    _empty(root)
    return Proof(
        roots.preloaded,
        tuple(wish["paths"]),
        tuple(loaded),
        tuple(modules),
        tuple(remarks),
        host.of_libraries,
        time.monotonic() - start,
    )


def _of_packages(roots: Roots) -> set[str]:
    """Files of applications that have packages: what they need may come from others, which their import loads."""
    return {path for each in roots.applications if each.kind != "file" for path in each.files}


def _fix_of(wrong: Sequence[dict[str, str]]) -> str:
    codes = dict.fromkeys(each["code"] for each in wrong if each.get("code"))
    explained = " && ".join(f"rocm-sdk explain {code}" for code in codes)
    return explained or "--library NAME, or --trace, adds what is missing"


# ---- the root ----


def _fill(root: Path, host: HostFiles, application: ApplicationFiles, replaced: Mapping[str, Path]) -> None:
    """Copies Python, the loader, the application and the system's libraries to their places."""
    for name in ("bin", "lib", "lib64", "lib32", "sbin"):
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(os.readlink(f"/{name}"))
            (root / "usr" / name).mkdir(parents=True, exist_ok=True)
    for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")):
        _copy_tree(Path(path), root, _NO_STDLIB)
    _copy_tree(Path(PACKAGE_PARENT, "rocm_sdk"), root, ("__pycache__",), Path(_OWN, "loader/rocm_sdk"))
    python = os.path.realpath(_python())
    _copy(python, root, python)
    for path in host.paths:
        _copy(path, root, path)
    for path in application.files:
        place = _inside(root, path)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            _link(replaced.get(path, path), place)
    for link, target in host.links.items():
        place = _inside(root, link)
        if not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)
    (root / "etc").mkdir(exist_ok=True)
    (root / "tmp").mkdir(exist_ok=True)
    (root / "dev").mkdir(exist_ok=True)
    (root / "dev/null").touch()  # stands for the device where nothing can be bound
    (root / "etc/ld.so.conf").unlink(missing_ok=True)
    (root / "etc/ld.so.conf").write_text("".join(f"{each}\n" for each in host.directories), encoding="utf-8")
    shutil.copyfile(_PROGRAM, _inside(root, f"{_OWN}/program.py"))
    if (program := shutil.which("ldconfig", path=f"{os.environ.get('PATH', os.defpath)}:/sbin:/usr/sbin")) is not None:
        subprocess.run([program, "-r", str(root)], check=False, capture_output=True)


def _python() -> str:
    return getattr(sys, "_base_executable", None) or sys.executable


def _copy_tree(source: Path, root: Path, without: Iterable[str], place: Path | None = None) -> None:
    target = _inside(root, str(place or source))
    if not target.exists():
        ignored = shutil.ignore_patterns(*without)
        shutil.copytree(source, target, copy_function=_link, ignore=ignored, ignore_dangling_symlinks=True)


def _copy(path: str, root: Path, name: str) -> None:
    target = _inside(root, name)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def _link(path: str | Path, target: str | Path) -> None:
    """A link to a file, as Python has thousands and a framework gigabytes; a copy where there can be none.

    On overlayfs a link to a file of a lower layer is a copy that stays in the upper one.
    """
    try:
        if type_of_file_system(Path(path)) == "overlay":
            raise OSError(errno.EXDEV, "in a layer")
        os.link(os.path.realpath(path), target)
    except OSError:  # on another file system, or of another user
        shutil.copy(path, target)


def _inside(root: Path, path: str) -> Path:
    """The place of an absolute path in the root, whose links lead inside it."""
    parts = Path(path).relative_to("/").parts
    if (root / parts[0]).is_symlink():
        parts = ("usr", *parts)
    return root.joinpath(*parts)


def _empty(root: Path) -> None:
    """Removes what was copied beside the closure."""
    own = _inside(root, _OWN)
    for path in (*root.iterdir(), *own.iterdir()):
        if path in (own, own / RESULT.name):
            continue
        if path.is_symlink() or path.is_file():
            path.unlink()
        else:
            shutil.rmtree(path)


# ---- the run ----


def _way_in() -> list[str]:
    """The command that starts a program in a root: as root of a namespace, else by chroot."""
    is_root = os.geteuid() == 0
    namespace = ["unshare", "--mount"] if is_root else ["unshare", "--user", "--map-root-user", "--mount"]
    with suppress(OSError):  # there is no such program
        if subprocess.run([*namespace, "true"], check=False, capture_output=True).returncode == 0:
            return [*namespace, "sh", "-c", _ENTER]
    if is_root:
        return ["sh", "-c", 'exec chroot "$0" "$@"']
    raise PackagingError(
        "the closure cannot be tried here: this system allows neither a user namespace (unshare) nor chroot",
        "run as root, allow user namespaces, or leave it out: --no-proof",
    )


def _run(enter: Sequence[str], root: Path, wish: dict[str, Any], search_path: Iterable[str]) -> dict[str, Any]:
    _inside(root, f"{_OWN}/wish.json").write_text(json.dumps(wish), encoding="utf-8")
    command = [*enter, str(root), os.path.realpath(_python()), f"{_OWN}/program.py", f"{_OWN}/wish.json"]
    environment = {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "PYTHONPATH": ":".join((f"{_OWN}/loader", f"{_OWN}/{RESULT.name}", *search_path)),
        "LD_BIND_NOW": "1",
        "HOME": "/tmp",
    }
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PackagingError(f"trying the closure takes longer than {_SECONDS} seconds", "--no-proof") from error
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError) as error:
        told = done.stderr.strip()[-2000:] or f"exit status {done.returncode}"
        raise PackagingError(f"the closure cannot be tried: {told}", "--no-proof leaves this out") from error
    if not isinstance(answer, dict):
        raise PackagingError("the closure cannot be tried: no answer", "--no-proof leaves this out")
    return answer


# ---- the code ----


def _compare_coverage(sdk: InstalledSdk, selection: Selection, site: Site, gpus: tuple[str, ...]) -> None:
    """check-gpu must say the same of each kept library as before."""
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
                raise PackagingError(
                    f"{library.name}: the code for {on.gpu} is {on.verdict} in the closure, and {was[0]} in the SDK",
                    "report this as a fault of rocm-sdk-build",
                )

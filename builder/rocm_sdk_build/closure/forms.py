"""What the directory of a closure becomes: a directory, wheels, an image of a file system, or a layer of a container.

The programs that write images are those of the system. The same directory gives the same bytes: times, owners and modes
are set, and nothing of this machine goes in.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tarfile
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rocm_sdk.installed.record import read_record
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.digest import sha256_of
from rocm_sdk_build.files.new_file import move_files
from rocm_sdk_build.files.wheels import writing

from .writing import Site

_LAYER_PLACE = "opt/rocm-sdk"  # in a container
# Programs that write images -> the packages of Debian, Fedora that have them.
_PROGRAMS = {"mksquashfs": ("squashfs-tools", "squashfs-tools"), "mkfs.erofs": ("erofs-utils", "erofs-utils")}
_COMPRESSORS = ("zstd", "lz4hc", "lz4")  # of EROFS, the best first; older programs have lz4 alone


def as_directory(site: Site, output: Path, _scratch: Path) -> int:
    """Moves the directory to its place; returns the size of its files."""
    site.place.rename(output)
    return _size_of(output)


def as_wheels(site: Site, output: Path, scratch: Path) -> int:
    """A directory with a wheel of each package, from which pip and uv install; returns their size."""
    directory = scratch / "wheels"
    directory.mkdir()
    for info in sorted(site.place.glob("*.dist-info")):
        _write_wheel(site.place, info, directory)
    directory.rename(output)
    return _size_of(output)


def as_squashfs(site: Site, output: Path, scratch: Path) -> int:
    """An image that the kernel and squashfuse mount; returns its size."""
    _normalise(site.place)
    image = scratch / "image"
    options = ("-mkfs-time", "0", "-all-time", "0", "-all-root", "-no-xattrs", "-no-progress", "-quiet")
    _run(("mksquashfs", str(site.place), str(image), "-comp", "zstd", "-noappend", *options))
    return _finish(image, output)


def as_erofs(site: Site, output: Path, scratch: Path) -> int:
    """An image that the kernel mounts; returns its size."""
    _normalise(site.place)
    image = scratch / "image"
    name = str(uuid.UUID(bytes=_digest_of(site.place)[:16]))  # of the image: from its content
    wrong = None
    for compressor in _COMPRESSORS:
        image.unlink(missing_ok=True)
        command = ("mkfs.erofs", "--quiet", f"-z{compressor}", "-T0", "-U", name, "--all-root", "-x-1")
        try:
            _run((*command, str(image), str(site.place)))
            return _finish(image, output)
        except ImageError as error:
            wrong = wrong or error
    assert wrong is not None
    raise wrong


def as_layer(site: Site, output: Path, scratch: Path) -> int:
    """A layer of a container: a tar file with the directory as /opt/rocm-sdk; returns its size."""
    _normalise(site.place)
    layer = scratch / "layer.tar"
    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("opt", _LAYER_PLACE):
            archive.addfile(_entry(name, stat.S_IFDIR | 0o755, 0))
        for path in _in_order(site.place):
            facts = path.lstat()
            entry = _entry(f"{_LAYER_PLACE}/{path.relative_to(site.place)}", facts.st_mode, facts.st_size)
            if path.is_symlink():
                entry.type, entry.size, entry.linkname = tarfile.SYMTYPE, 0, os.readlink(path)
                archive.addfile(entry)
            elif path.is_dir():
                archive.addfile(entry)
            else:
                with path.open("rb") as file:
                    archive.addfile(entry, file)
    return _finish(layer, output)


FORMS: dict[str, Callable[[Site, Path, Path], int]] = {
    "site": as_directory,
    "wheels": as_wheels,
    "squashfs": as_squashfs,
    "erofs": as_erofs,
    "oci": as_layer,
}


class ImageError(PackagingError):
    """A program that writes images failed."""


# ---- wheels ----


def _write_wheel(site: Path, info: Path, directory: Path) -> None:
    base = info.name.removesuffix(".dist-info")
    with writing(directory / f"{base}-{_tag_of(info)}.whl", info.name, deflate=True) as wheel:
        for row in read_record(str(info / "RECORD")).rows:
            path = site / row.path
            if row.path != f"{info.name}/RECORD":
                wheel.add_file(row.path, path)


def _tag_of(info: Path) -> str:
    """The tag of the wheel that was installed."""
    for line in (info / "WHEEL").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "Tag":
            return value.strip()
    raise PackagingError(f"{info.name}/WHEEL: has no tag", "install the package again")


# ---- images ----


def _normalise(directory: Path) -> None:
    """Modes that depend on nothing but whether a file is a program."""
    for path in [directory, *_in_order(directory)]:
        if not path.is_symlink():
            is_open = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_open else 0o644)


def _in_order(directory: Path) -> list[Path]:
    """All that is below a directory, a directory before what is in it."""
    return sorted(directory.rglob("*"), key=lambda path: path.parts)


def _digest_of(directory: Path) -> bytes:
    found = hashlib.sha256()
    for path in _in_order(directory):
        found.update(f"{path.relative_to(directory)}\0{path.lstat().st_mode}\0".encode())
        if path.is_symlink():
            found.update(os.readlink(path).encode())
        elif path.is_file():
            found.update(sha256_of(path).digest())
    return found.digest()


def _entry(name: str, mode: int, size: int) -> tarfile.TarInfo:
    """An entry of root's, of the beginning of time."""
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(mode)
    entry.type = tarfile.DIRTYPE if stat.S_ISDIR(mode) else tarfile.REGTYPE
    entry.size = 0 if stat.S_ISDIR(mode) else size
    return entry


def _run(command: Sequence[str]) -> None:
    name = command[0]
    program = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if program is None:
        debian, fedora = _PROGRAMS[name]
        raise PackagingError(f"{name}: not found", f"install it: apt-get install {debian}, dnf install {fedora}")
    environment: Mapping[str, str] = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    done = subprocess.run([program, *command[1:]], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        told = (done.stderr or done.stdout).strip()[-1000:]
        raise ImageError(f"{name} fails: {told}", "is there room for the image?")


def _finish(image: Path, output: Path) -> int:
    image.chmod(0o644)
    move_files({image: output})
    return output.stat().st_size


def _size_of(directory: Path) -> int:
    return sum(_sizes(os.walk(directory)))


def _sizes(walk: Iterable[tuple[str, list[str], list[str]]]) -> Iterable[int]:
    for parent, _, names in walk:
        yield from (os.lstat(os.path.join(parent, name)).st_size for name in names)

"""The containers: a layer with the closure as /opt/rocm-sdk, and an image of that layer on a given one.

skopeo and umoci make an image from the files of the base, which they do not unpack: that needs no privileges. buildah
unpacks the base. Storage and temporary files are in a scratch directory.
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError

from .images import finish
from .programs import ImageError, has_program, program
from .tree import Writer, in_order, normalise, size_of

_PLACE = "opt/rocm-sdk"  # place in a container
_VARIABLE = f"ROCM_SDK_ROOT=/{_PLACE}"
_SCRATCH = "scratch"  # the base without files
_TAG = "latest"
_BEGINNING = "1970-01-01T00:00:00Z"
_HISTORY = ("--history.created", _BEGINNING, "--history.created_by", "rocm-sdk-build closure")
# A name with and without the transport; skopeo and buildah know more transports than these.
_TRANSPORT = re.compile(r"(docker|oci|oci-archive|docker-archive|docker-daemon|containers-storage|dir):[^\s\0]+")
_NAME = re.compile(r"[a-z0-9][\w.:/@-]*", re.ASCII)


def as_layer(site: Path, output: Path, scratch: Path, wait: Wait) -> int:
    """Write a tar file with the directory as /opt/rocm-sdk; return its size."""
    return finish(_write_layer(site, scratch, wait), output)


def image_writer(base: str) -> Writer:
    """Return the writer of an image on a base.

    Raise WrongUsageError for a text that does not name an image, and PackagingError without the programs that make
    images.
    """
    if base != _SCRATCH and not _TRANSPORT.fullmatch(base):
        if not _NAME.fullmatch(base) or base.endswith(":"):
            raise WrongUsageError(f"--base {base!r}: is no image", "name one: debian:12, docker://NAME, oci:DIRECTORY")
        base = f"docker://{base}"
    if has_program("skopeo") and has_program("umoci"):
        return _image_writer_with(_make_with_umoci, base)
    if has_program("buildah"):
        return _image_writer_with(_make_with_buildah, base)
    raise PackagingError(
        "--base: neither skopeo and umoci nor buildah, which make images, are on this system",
        "install them: apt-get install skopeo umoci, or dnf install buildah; without --base a layer is written",
    )


def _image_writer_with(make: Callable[[str, Path, Path, Path], None], base: str) -> Writer:
    def as_image(site: Path, output: Path, scratch: Path, wait: Wait) -> int:
        """Write a directory in the OCI image layout; return its size."""
        image = scratch / "image"
        layer = _write_layer(site, scratch, wait)
        make(base, layer, image, scratch)
        for path in image.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        image.rename(output)
        return size_of(output)

    return as_image


def _make_with_umoci(base: str, layer: Path, image: Path, scratch: Path) -> None:
    umoci = program("umoci", scratch)
    if base == _SCRATCH:
        umoci.run("init", "--layout", image)
        umoci.run("new", "--image", f"{image}:{_TAG}")
    else:
        with _taking(base):
            program("skopeo", scratch).run("copy", "--quiet", base, f"oci:{image}:{_TAG}")
    umoci.run("raw", "add-layer", "--image", f"{image}:{_TAG}", *_HISTORY, layer)
    variable = ("--config.env", _VARIABLE, "--created", _BEGINNING, "--no-history")
    umoci.run("config", "--image", f"{image}:{_TAG}", *variable)
    umoci.run("gc", "--layout", image)


def _make_with_buildah(base: str, layer: Path, image: Path, scratch: Path) -> None:
    buildah = program("buildah", scratch)
    storage = scratch / "storage"
    places = ("--root", storage / "root", "--runroot", storage / "run", "--storage-driver", "vfs")
    try:
        with _taking(base):
            container = buildah.run(*places, "from", "--quiet", base).splitlines()[-1]
        buildah.run(*places, "add", "--quiet", container, layer, "/")
        buildah.run(*places, "config", "--env", _VARIABLE, container)
        buildah.run(*places, "commit", "--quiet", "--timestamp", "0", "--rm", container, f"oci:{image}:{_TAG}")
    finally:
        if os.geteuid() != 0 and storage.is_dir():  # files of the base belong to other users of its namespace
            with suppress(ImageError):
                buildah.run("unshare", "rm", "-rf", storage)


@contextmanager
def _taking(base: str) -> Iterator[None]:
    """Yield to a block that takes the base, and give an error of the program a fix about the base.

    The words of the program name the error.
    """
    try:
        yield
    except ImageError as error:
        error.fix = f"see that {base} names an image that is there and that this user can reach"
        raise


def _write_layer(site: Path, scratch: Path, wait: Wait) -> Path:
    normalise(site)
    layer = scratch / "layer.tar"
    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in (os.path.dirname(_PLACE), _PLACE):
            archive.addfile(_entry(name, stat.S_IFDIR | 0o755, 0))
        for path in in_order(site):
            facts = path.lstat()
            entry = _entry(f"{_PLACE}/{path.relative_to(site)}", facts.st_mode, facts.st_size)
            if path.is_symlink():
                entry.type, entry.size, entry.linkname = tarfile.SYMTYPE, 0, os.readlink(path)
                archive.addfile(entry)
            elif path.is_dir():
                archive.addfile(entry)
            else:
                with path.open("rb") as file:
                    archive.addfile(entry, file)
                wait.step(path.name, entry.size)
    return layer


def _entry(name: str, mode: int, size: int) -> tarfile.TarInfo:
    """Return an entry of root's, with the date 1970-01-01."""
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(mode)
    entry.type = tarfile.DIRTYPE if stat.S_ISDIR(mode) else tarfile.REGTYPE
    entry.size = 0 if stat.S_ISDIR(mode) else size
    return entry

"""Images of file systems: squashfs and EROFS. The same directory gives the same bytes with the same programs."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

from rocm_sdk.base.moving import move_to_free_name, sync_file

from .programs import ImageError, program
from .tree import Step, digest_of, normalise, size_of

_COMPRESSORS = ("zstd", "lz4hc", "lz4")  # of EROFS, the best first; older programs have lz4 alone
_SQUASHFS = ("-mkfs-time", "0", "-all-time", "0", "-all-root", "-no-xattrs", "-no-progress", "-quiet")


def as_squashfs(site: Path, output: Path, scratch: Path, step: Step) -> int:
    """An image that the kernel and squashfuse mount; returns its size."""
    normalise(site)
    image = scratch / "image"
    reading = _reading(site, step)
    program("mksquashfs", scratch).run(site, image, "-comp", "zstd", "-noappend", *_SQUASHFS, reading=reading)
    return finish(image, output)


def as_erofs(site: Path, output: Path, scratch: Path, step: Step) -> int:
    """An image that the kernel mounts; returns its size."""
    normalise(site)
    image = scratch / "image"
    name = str(uuid.UUID(bytes=digest_of(site)[:16]))  # of the image: from its content
    maker = program("mkfs.erofs", scratch)
    reading = _reading(site, step)
    for compressor in _COMPRESSORS:
        image.unlink(missing_ok=True)
        try:
            maker.run(
                "--quiet", f"-z{compressor}", "-T0", "-U", name, "--all-root", "-x-1", image, site, reading=reading
            )
        except ImageError as error:
            if "compressor" not in error.told or compressor == _COMPRESSORS[-1]:
                raise
        else:
            break
    return finish(image, output)


def _reading(site: Path, step: Step) -> Callable[[int], None]:
    """Steps of what a program has read of the directory. It may read a file again, and reads its own libraries."""
    total, told = size_of(site), 0

    def reading(read: int) -> None:
        nonlocal told
        known = max(min(read, total), told)
        step("", known - told)
        told = known

    return reading


def finish(image: Path, output: Path) -> int:
    """Gives a complete image its name, which must be free; returns its size. FileExistsError: it is taken."""
    image.chmod(0o644)
    sync_file(str(image))
    move_to_free_name(str(image), str(output))
    return output.stat().st_size

"""The images of file systems: squashfs and EROFS.

The same directory gives the same bytes with the same programs.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from rocm_sdk.base.moves import move_to_free_name, sync_file
from rocm_sdk.terminal.progress import Wait

from .programs import ImageError, program
from .tree import digest_of, normalise

_COMPRESSORS = ("zstd", "lz4hc", "lz4")  # compressors of EROFS, the best first; older programs have lz4 alone
_SQUASHFS = ("-mkfs-time", "0", "-all-time", "0", "-all-root", "-no-xattrs", "-no-progress", "-quiet")


def as_squashfs(site: Path, output: Path, scratch: Path, wait: Wait) -> int:
    """Write an image that the kernel and squashfuse mount; return its size."""
    normalise(site)
    image = scratch / "image"
    program("mksquashfs", scratch).run(site, image, "-comp", "zstd", "-noappend", *_SQUASHFS, reading=wait.reach)
    return finish(image, output)


def as_erofs(site: Path, output: Path, scratch: Path, wait: Wait) -> int:
    """Write an image that the kernel mounts; return its size."""
    normalise(site)
    image = scratch / "image"
    name = str(uuid.UUID(bytes=digest_of(site)[:16]))  # UUID of the image, from its content
    maker = program("mkfs.erofs", scratch)
    for compressor in _COMPRESSORS:
        image.unlink(missing_ok=True)
        try:
            maker.run(
                "--quiet", f"-z{compressor}", "-T0", "-U", name, "--all-root", "-x-1", image, site, reading=wait.reach
            )
        except ImageError as error:
            if "compressor" not in error.told or compressor == _COMPRESSORS[-1]:
                raise
        else:
            break
    return finish(image, output)


def finish(image: Path, output: Path) -> int:
    """Give a complete image its name, which must be free; return its size.

    Raise FileExistsError if the name is taken.
    """
    image.chmod(0o644)
    sync_file(str(image))
    move_to_free_name(str(image), str(output))
    return output.stat().st_size

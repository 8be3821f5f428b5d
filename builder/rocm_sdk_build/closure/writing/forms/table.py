"""The forms by their names. What a form needs is looked for before the work begins."""

from __future__ import annotations

from pathlib import Path

from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.errors import WrongUsageError

from .containers import as_layer, image_writer
from .images import as_erofs, as_squashfs
from .programs import find_program
from .tree import Writer, size_of
from .wheels import as_wheels


def as_directory(site: Path, output: Path, _scratch: Path, _wait: Wait) -> int:
    """Moves the directory to its place; returns the size of its files."""
    site.rename(output)
    return size_of(output)


# Name -> what writes it, and the program of the system that it needs.
_FORMS: dict[str, tuple[Writer, str]] = {
    "site": (as_directory, ""),
    "wheels": (as_wheels, ""),
    "squashfs": (as_squashfs, "mksquashfs"),
    "erofs": (as_erofs, "mkfs.erofs"),
    "oci": (as_layer, ""),
}


def writer_of(form: str, base: str | None) -> Writer:
    """What writes a form. base: the image below that of the form oci.

    PackagingError without the programs that it needs.
    """
    if base is not None:
        if form != "oci":
            raise WrongUsageError("--base names the image below that of --form oci", "add --form oci")
        return image_writer(base)
    writer, program = _FORMS[form]
    if program:
        find_program(program)
    return writer

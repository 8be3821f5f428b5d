"""The table of the forms by their names; programs that a form needs are looked for before the work begins."""

from __future__ import annotations

from pathlib import Path

from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.errors import WrongUsageError

from .containers import as_layer, image_writer
from .images import as_erofs, as_squashfs
from .programs import find_program
from .tree import Writer, size_of
from .wheel_form import as_wheels


def as_directory(site: Path, output: Path, _scratch: Path, _wait: Wait) -> int:
    """Move the directory to its place; return the size of its files."""
    site.rename(output)
    return size_of(output)


# Name -> writer of the form, and the program of the system that it needs.
_FORMS: dict[str, tuple[Writer, str]] = {
    "site": (as_directory, ""),
    "wheels": (as_wheels, ""),
    "squashfs": (as_squashfs, "mksquashfs"),
    "erofs": (as_erofs, "mkfs.erofs"),
    "oci": (as_layer, ""),
}


def writer_of(form: str, base: str | None) -> Writer:
    """Return the writer of a form; `base` is the base image of the form oci.

    Raise WrongUsageError for a base of another form, and PackagingError without the programs that the form needs.
    """
    if base is not None:
        if form != "oci":
            raise WrongUsageError("--base names the image below the image of --form oci", "add --form oci")
        return image_writer(base)
    writer, program = _FORMS[form]
    if program:
        find_program(program)
    return writer

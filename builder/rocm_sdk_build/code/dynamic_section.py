"""The reader of a library's or program's dynamic section, for any address that a program is linked for."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk_build.base.errors import PackagingError

from .elf64 import DYNAMIC, SHT_DYNAMIC, Elf, read_elf

_NULL, _NEEDED, _RPATH, _RUNPATH = 0, 1, 15, 29


class DynamicSection(NamedTuple):
    """The entries DT_NEEDED, and DT_RUNPATH, or DT_RPATH if DT_RUNPATH is absent; "" without either."""

    needed: tuple[str, ...]
    search_path: str


def read_dynamic_section(path: Path) -> DynamicSection:
    """Return the dynamic section of a file; its fields are empty if the file has none.

    Raise PackagingError if the file is damaged.
    """
    with path.open("rb", buffering=0) as file:
        try:
            texts = list(_texts(read_elf(file.fileno(), str(path))))
        except RocmSdkError as error:
            raise PackagingError(f"{path}: {error.detail}") from error
    paths = {tag: text for tag, text in texts if tag != _NEEDED}
    return DynamicSection(
        tuple(text for tag, text in texts if tag == _NEEDED), paths.get(_RUNPATH, paths.get(_RPATH, ""))
    )


def _texts(elf: Elf) -> list[tuple[int, str]]:
    """Return the entries with texts, in their order."""
    section = next((each for each in elf.sections if each.type == SHT_DYNAMIC), None)
    if section is None or not 0 < section.link < len(elf.sections):
        return []
    strings = elf.read(elf.sections[section.link])
    data = elf.read(section)
    found = []
    for tag, value in DYNAMIC.iter_unpack(data[: len(data) // DYNAMIC.size * DYNAMIC.size]):
        if tag == _NULL:
            break
        if tag in (_NEEDED, _RPATH, _RUNPATH):
            found.append((tag, strings[value:].partition(b"\0")[0].decode("utf-8", "surrogateescape")))
    return found

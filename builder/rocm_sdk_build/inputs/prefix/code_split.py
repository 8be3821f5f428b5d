"""Libraries without GPU code, and kpack archives with the code, one for each processor."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.fit.code.candidate import may_have_code
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.dynamic_section import read_dynamic_section
from rocm_sdk_build.code.split import CodeArchives, Place, split_file
from rocm_sdk_build.inputs.catalog import Entry
from rocm_sdk_build.inputs.file_kind import Kind, look_at

from .target_code import code_of, renewed, why_not

_DIRECTORY, _GROUP = ".kpack", "libraries"
_RUNTIME, _READER = "libamdhip64.so", "librocm_kpack.so"


def reads_archives(core: Iterable[Entry]) -> bool:
    """Return whether HIP's runtime finds code in kpack archives."""
    runtimes = (entry.source for entry in core if entry.kind == "file" and f"/{_RUNTIME}" in entry.path)
    return any(name.startswith(_READER) for path in runtimes for name in read_dynamic_section(path).needed)


class SplitCode(NamedTuple):
    """Files without the code that can be taken out of them."""

    entries: tuple[Entry, ...]
    archives: dict[str, Entry]  # archive by processor
    whole: tuple[str, ...]  # libraries that keep their code, with the reason


def split_code(entries: Sequence[Entry], scratch: Path) -> SplitCode:
    """Write the libraries and archives below the new directory `scratch`; return the files.

    Raise PackagingError if an archive cannot be made.
    """
    scratch.mkdir()
    libraries = [entry for entry in entries if _is_fat(entry)]
    bundles = (bundle for entry in libraries for bundle in code_of(entry.source).bundles)
    is_compressed = any(bundle.container == "compressed bundle" for bundle in bundles)
    new: dict[Path, Path] = {}
    whole = []
    with CodeArchives(str(scratch), _GROUP, is_compressed) as archives:
        for number, entry in enumerate(libraries):
            output = scratch / str(number)
            why = why_not(entry.source, split_file, str(output), _place(entry), archives)
            if why is None:
                new[entry.source] = output
            else:
                whole.append(f"{entry.path}: {why}")
        try:
            made = archives.finish()
        except RocmSdkError as error:
            raise PackagingError(error.message, error.fix or "") from error
    found = {
        processor: Entry(f"{_DIRECTORY}/{Path(path).name}", Path(path), "file") for processor, path in made.items()
    }
    return SplitCode(renewed(entries, new), found, tuple(whole))


def _is_fat(entry: Entry) -> bool:
    """Return whether an entry is a library or program that has code."""
    path = entry.source
    return (
        entry.kind == "file"
        and may_have_code(path)
        and look_at(path).kind is not Kind.DATA
        and bool(code_of(path).bundles)
    )


def _place(entry: Entry) -> Place:
    """Return the path in the package, where a library's name is its SONAME, and the path of the archive from there."""
    path = PurePosixPath(entry.path)
    path = path.with_name(look_at(entry.source).soname or path.name)
    return Place(str(path), os.path.relpath(f"{_DIRECTORY}/{_GROUP}_@GFXARCH@.kpack", path.parent))

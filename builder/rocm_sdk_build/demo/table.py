"""The results of the demonstration on one screen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rocm_sdk.base.value_text import size_text

_COLUMNS = "{:>2}  {:<11} {:<7} {:<48} {:>9} {:>8}"
_INDENT = 24
_WIDTH = 90


def library_table(plan: Sequence[Mapping[str, Any]], loaded: Mapping[str, Any], site: Path) -> Iterator[str]:
    """Yield the lines of a table with an entry for each library that was opened.

    An entry has the method, the file, the size and the time of the library, and the files that were loaded with it.
    """
    yield _row("#", "library", "opened", "file in site-packages", "size", "ms")
    files: set[str] = set()
    for number, step in enumerate(plan, 1):
        seconds = loaded["seconds"].get(step["path"])
        yield _row(
            number,
            step["shortname"] or "",
            step["method"],
            str(Path(step["path"]).relative_to(site)),
            size_text(_size(step["path"])),
            "" if seconds is None else f"{seconds * 1e3:.2f}",
        )
        brought = [member for member in step["members"] if member != step["path"] and member not in files]
        yield from _explanation(step["why_opened"], [Path(member).name for member in brought])
        files.update(step["members"], [step["path"]])
    inside = sum(loaded["seconds"].values())
    total = f"{len(files)} files"
    yield _row("", "all", "", total, size_text(sum(map(_size, files))), f"{inside * 1e3:.2f}")
    whole = loaded["initialize_seconds"]
    yield ""
    yield "open: dlopen of the file.  anchor: dlopen of a generated object that needs this library and its"
    yield "dependencies, since the dynamic linker would not find them by itself."
    yield (
        f"import rocm_sdk: {loaded['import_seconds'] * 1e3:.2f} ms    initialize_process: {whole * 1e3:.2f} ms, "
        f"of which {(whole - inside) * 1e3:.2f} ms outside of these loads"
    )


def user_code(shortnames: Sequence[str], check_version: str) -> Iterator[str]:
    """Yield the lines of Python that load these libraries."""
    names = ", ".join(f'"{name}"' for name in shortnames)
    yield "import rocm_sdk"
    yield "rocm_sdk.initialize_process("
    yield f"    preload_shortnames=[{names}],"
    yield f'    check_version="{check_version}",'
    yield ")"


def _row(*cells: object) -> str:
    return _COLUMNS.format(*cells).rstrip()


def _explanation(why_opened: str, names: Sequence[str]) -> Iterator[str]:
    sentences = [why_opened, f"with {', '.join(names)}" if names else ""]
    indent = " " * _INDENT
    for sentence in filter(None, sentences):
        yield from textwrap.wrap(sentence, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _size(path: str) -> int:
    return Path(path).stat().st_size

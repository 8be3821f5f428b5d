"""Text files of packages."""

from __future__ import annotations

from pathlib import Path


def write_text(path: Path, text: str) -> None:
    r"""Write a text file with `\n` at the ends of its lines; make its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
